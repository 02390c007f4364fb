#include "violet/features/files/serve/source.h"

#include "violet/core/limits.h"
#include "violet/features/files/serve/front.h"

#include <algorithm>
#include <cerrno>
#include <sys/uio.h>
#include <unistd.h>

namespace violet::files {
namespace {

constexpr std::uint64_t kRangeBytes = 1 << 20;  // that the kernel is given at once
constexpr std::uint64_t kTailBytes = 4096;  // that are held back until the file has been looked at for the last time

// Bytes read, 0 at the end of the file, or a negative errno; -EAGAIN when it would have to wait for the disk.
ssize_t read_cached(int descriptor, char* to, std::size_t size, std::uint64_t first) noexcept {
#if defined(RWF_NOWAIT)
  const iovec piece{to, size};
  const ssize_t n = ::preadv2(descriptor, &piece, 1, static_cast<off_t>(first), RWF_NOWAIT);
  if (n >= 0) return n;
  return errno == EOPNOTSUPP || errno == ENOSYS || errno == EINTR ? -EAGAIN : -errno;
#else
  static_cast<void>(descriptor);
  static_cast<void>(to);
  static_cast<void>(size);
  static_cast<void>(first);
  return -EAGAIN;
#endif
}

ssize_t read_waiting(int descriptor, char* to, std::size_t size, std::uint64_t first) noexcept {
  for (;;) {
    const ssize_t n = ::pread(descriptor, to, size, static_cast<off_t>(first));
    if (n >= 0) return n;
    if (errno != EINTR) return -errno;
  }
}

Slice slice_of(HeapBuffer* buffer, std::size_t size) {
  Slice slice(*buffer, buffer->data(), size);
  buffer->release();
  return slice;
}

}  // namespace

// Reads one piece on a worker.
class FileSource::PieceJob final : public ReadJob {
 public:
  PieceJob(FileSource& source, Mount& mount, std::uint64_t first, std::size_t size)
      : ReadJob(source.anchor_, mount), source_(&source), file_(source.file_), first_(first), size_(size) {}
  void forget() noexcept { source_ = nullptr; }

 private:
  void read() override {
    HeapBuffer* buffer = HeapBuffer::make(size_);
    n_ = read_waiting(file_->descriptor(), buffer->data(), size_, first_);
    piece_ = slice_of(buffer, static_cast<std::size_t>(std::max<ssize_t>(n_, 0)));
  }
  void deliver(Front&, bool has_read) override {
    if (source_ == nullptr) return;
    source_->job_ = nullptr;
    source_->has_failed_ = !has_read || n_ <= 0;
    source_->piece_ = std::move(piece_);
    if (source_->stream_ != nullptr) source_->stream_->wake();
  }

  FileSource* source_;
  Ref<FileBuffer> file_;
  std::uint64_t first_;
  std::size_t size_;
  ssize_t n_ = 0;
  Slice piece_;
};

FileSource::FileSource(Front& front, Exchange& exchange, const Variant& variant, Parts parts)
    : anchor_(front.anchor()),
      file_(variant.file),
      version_(variant.version),
      parts_(std::move(parts)),
      room_max_(static_cast<std::size_t>(exchange.limits().flush_bytes_max)),
      is_sent_by_kernel_(front.mount().options.sendfile && exchange.connection().version <= http::Version::Http11 &&
                         !exchange.connection().is_secure) {}

FileSource::~FileSource() {
  if (job_ != nullptr) job_->forget();
}

bool FileSource::is_unchanged() const noexcept {
  Status now;
  return look(file_->descriptor(), now) == 0 &&
         (is_same_data(now.version, version_) || has_grown(version_, now.version));
}

Pull FileSource::pull(Chain& out, std::size_t max) {
  while (at_ < parts_.size()) {
    Part& part = parts_[at_];
    if (!part.text.empty()) {
      out.append(Slice::of(std::move(part.text)));
      ++at_;
      continue;
    }
    if (out.size() >= max) return Pull::More;
    return is_sent_by_kernel_ ? pull_range(part, out, max) : pull_piece(part, out, max);
  }
  return Pull::End;
}

void FileSource::advance(Part& part, std::uint64_t size) noexcept {
  part.first += size;
  part.size -= size;
  if (part.size == 0) ++at_;
}

// The kernel reads a range when it sends it, so what it has not sent yet may still change. Therefore the end is read
// here, when everything before it has left, and goes only if the file is still the same.
Pull FileSource::pull_range(Part& part, Chain& out, std::size_t max) {
  if (!is_unchanged()) return Pull::Failed;
  if (part.size > kTailBytes) {
    const std::uint64_t size = std::min(part.size - kTailBytes, kRangeBytes);
    out.append(Slice::file(*file_, part.first, static_cast<std::size_t>(size)));
    advance(part, size);
    return Pull::More;
  }
  if (max < room_max_ || !out.is_empty()) return Pull::More;
  return pull_piece(part, out, max);
}

Pull FileSource::pull_piece(Part& part, Chain& out, std::size_t max) {
  if (has_failed_) return Pull::Failed;
  if (job_ != nullptr) return Pull::Wait;
  if (piece_.is_empty()) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(part.size, std::max<std::size_t>(max, 1)));
    HeapBuffer* buffer = HeapBuffer::make(size);
    const ssize_t n = read_cached(file_->descriptor(), buffer->data(), size, part.first);
    piece_ = slice_of(buffer, static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n == -EAGAIN) {
      Front* front = anchor_->front();
      if (front == nullptr) return Pull::Failed;
      auto job = std::make_unique<PieceJob>(*this, front->mount(), part.first, size);
      job_ = job.get();
      front->gate().submit(std::move(job));
      return Pull::Wait;
    }
    if (n <= 0) return Pull::Failed;
  }
  // Looked at after it was read.
  if (!is_unchanged()) return Pull::Failed;
  const std::size_t size = piece_.size();
  out.append(std::exchange(piece_, Slice()));
  advance(part, size);
  return at_ < parts_.size() ? Pull::More : Pull::End;
}

}  // namespace violet::files
