#include "violet/features/log/sink.h"

#include "violet/base/log.h"
#include "violet/event/signal.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace violet::access {
namespace {

// Lines are gathered for so long before they are written.
constexpr std::chrono::milliseconds kGather(50);
// A reader who takes nothing for so long loses lines.
constexpr int kStallMs = 200;
constexpr std::size_t kBatchBytes = 64 * 1024;
// What a pipe takes without blocking once poll() says that it has room (pipe(7)).
constexpr std::size_t kPipeBytes = 4096;

bool is_regular(int file) noexcept {
  struct stat what{};
  return ::fstat(file, &what) == 0 && S_ISREG(what.st_mode);
}

}  // namespace

Sink::~Sink() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  if (!options_.path.empty() && file_ > STDERR_FILENO) ::close(file_);
}

std::shared_ptr<Ring> Sink::add_ring(std::size_t bytes) {
  auto ring = std::make_shared<Ring>(bytes);
  const std::lock_guard lock(mutex_);
  rings_.push_back(ring);
  if (thread_.joinable()) return ring;
  try {
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    log(LogLevel::Error, std::string("the access log gets no thread and stays empty: ") + error.what());
  }
  return ring;
}

std::uint64_t Sink::dropped_count() const noexcept {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = dropped_before_ + unwritten_.load(std::memory_order_relaxed);
  for (const auto& ring : rings_) count += ring->dropped_count();
  return count;
}

void Sink::wake(bool is_urgent) noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_called_.store(true, std::memory_order_relaxed);
    if (is_urgent) is_urgent_.store(true, std::memory_order_relaxed);
  }
  wake_.notify_one();
}

void Sink::run() noexcept {
  open_file();
  batch_.reserve(kBatchBytes);
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return is_ending_ || is_called_.load(std::memory_order_relaxed); });
    // Whoever appends from here on calls again. What was appended meanwhile by one who still saw the call is found
    // below: that was long ago when the gathering ends. Only a round that found nothing lets the thread sleep.
    do {
      is_called_.store(false, std::memory_order_relaxed);
      wake_.wait_for(lock, kGather, [this] { return is_ending_ || is_urgent_.load(std::memory_order_relaxed); });
      is_urgent_.store(false, std::memory_order_relaxed);
    } while (drain(lock) && !is_ending_);
    if (is_ending_) {
      drain(lock);
      return;
    }
  }
}

bool Sink::drain(std::unique_lock<std::mutex>& lock) {
  batch_.clear();
  std::uint64_t dropped = 0;
  std::erase_if(rings_, [&](const std::shared_ptr<Ring>& ring) {
    const bool is_closed = ring->is_closed();
    ring->take(batch_);
    if (is_closed) dropped_before_ += ring->dropped_count();
    dropped += is_closed ? 0 : ring->dropped_count();
    return is_closed;
  });
  dropped += dropped_before_;
  lock.unlock();
  if (dropped != dropped_told_) tell_drops(dropped);
  if (!batch_.empty()) write(batch_);
  lock.lock();
  return !batch_.empty();
}

void Sink::tell_drops(std::uint64_t dropped) {
  const std::string count = std::to_string(dropped - dropped_told_);
  dropped_told_ = dropped;
  batch_ += options_.format == LogFormat::Json ? "{\"dropped\":" + count + "}\n"
                                               : "# " + count + " lines dropped: limit access_log_bytes_max\n";
}

void Sink::write(std::string_view lines) noexcept {
  if (options_.write) {
    options_.write(lines);
    return;
  }
  follow_file();
  while (!lines.empty()) {
    if (write_piece(lines)) continue;
    unwritten_.fetch_add(static_cast<std::uint64_t>(std::ranges::count(lines, '\n')), std::memory_order_relaxed);
    return;
  }
}

bool Sink::write_piece(std::string_view& lines) noexcept {
  std::size_t size = lines.size();
  if (!is_regular(file_)) {
    pollfd room{.fd = file_, .events = POLLOUT, .revents = 0};
    if (::poll(&room, 1, kStallMs) <= 0) return false;
    size = std::min(size, kPipeBytes);
  }
  const ssize_t written = ::write(file_, lines.data(), size);
  if (written < 0) return errno == EINTR;
  lines.remove_prefix(static_cast<std::size_t>(written));
  return true;
}

void Sink::open_file() noexcept {
  if (options_.write || options_.path.empty()) {
    file_ = STDOUT_FILENO;
  } else if (options_.path == "stderr") {
    file_ = STDERR_FILENO;
  } else {
    file_ = ::open(options_.path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640);
    if (file_ < 0 && !has_complained_)
      log(LogLevel::Error, "access log " + options_.path + ": " + std::strerror(errno));
    has_complained_ = file_ < 0;
  }
}

// Whoever rotates logs moves the file away; the next lines go into a new one.
void Sink::follow_file() noexcept {
  if (file_ == STDOUT_FILENO || file_ == STDERR_FILENO) return;
  struct stat named{};
  struct stat opened{};
  if (file_ >= 0 && ::stat(options_.path.c_str(), &named) == 0 && ::fstat(file_, &opened) == 0 &&
      named.st_ino == opened.st_ino && named.st_dev == opened.st_dev) {
    return;
  }
  if (file_ >= 0) ::close(file_);
  open_file();
}

}  // namespace violet::access
