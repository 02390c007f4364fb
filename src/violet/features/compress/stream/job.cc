#include "violet/features/compress/stream/job.h"

#include "violet/features/compress/stream/source.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace violet::encoding {

EncodeJob::EncodeJob(EncodedSource& source, Loop& loop, std::unique_ptr<Encoder> with, const Chain& piece, Flush flush)
    : encoder(std::move(with)), source_(&source), origin_(loop.ref()), size_(piece.size()), flush_(flush) {
  if (const Slice& front = *piece.begin(); front.is_file()) {
    descriptor_ = ::fcntl(front.descriptor(), F_DUPFD_CLOEXEC, 0);
    offset_ = front.offset();
  } else {
    in_ = piece.to_string();
  }
}

EncodeJob::~EncodeJob() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void EncodeJob::run() noexcept {
  if (in_.empty() && size_ > 0 && !read()) {
    has_failed = true;
    return;
  }
  constexpr std::size_t kRoom = 64 * 1024;
  std::string_view in = in_;
  std::size_t used = 0;
  for (Step step; !step.is_done;) {
    if (out.size() - used < kRoom / 2) out.resize(used + kRoom);
    step = encoder->step(in, flush_, out.data() + used, out.size() - used);
    in.remove_prefix(step.read_bytes);
    used += step.written_bytes;
    if (step.has_failed) {
      has_failed = true;
      return;
    }
  }
  out.resize(used);
}

// False when the file has no such range any more.
bool EncodeJob::read() noexcept {
  in_.resize(size_);
  for (std::size_t got = 0; got < size_;) {
    const ssize_t n = ::pread(descriptor_, in_.data() + got, size_ - got, static_cast<off_t>(offset_ + got));
    if (n > 0) {
      got += static_cast<std::size_t>(n);
    } else if (n == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

void EncodeJob::finish(bool has_run) noexcept {
  if (!has_run) has_failed = true;
  LoopRef origin = std::move(origin_);
  // Where the loop is gone, so is everybody who would want it.
  origin.post([job = std::unique_ptr<EncodeJob>(this)]() mutable { arrive(std::move(job)); });
}

void EncodeJob::arrive(std::unique_ptr<EncodeJob> job) noexcept {
  EncodedSource* const source = job->source_;
  if (source != nullptr) source->on_job(std::move(job));
}

}  // namespace violet::encoding
