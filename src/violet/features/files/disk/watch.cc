#include "violet/features/files/disk/watch.h"

#include "violet/base/log.h"
#include "violet/event/signal.h"

#if defined(__linux__)
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>
#endif

namespace violet::files {

#if defined(__linux__)
namespace {

constexpr std::uint32_t kNames = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
constexpr std::uint32_t kSelf = IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kAll = kNames | kSelf | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB;

}  // namespace

Watch::Watch(const std::string& root, bool follows_links) : root_(root), follows_links_(follows_links) {
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  events_ = stop_ < 0 ? -1 : ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (events_ < 0) {
    log(LogLevel::Warn, "files below " + root + " cannot be watched: " + std::strerror(errno));
    return;
  }
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

Watch::~Watch() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    static_cast<void>(::write(stop_, &one, sizeof one));
    thread_.join();
  }
  if (events_ >= 0) ::close(events_);
  if (stop_ >= 0) ::close(stop_);
}

bool Watch::add(std::string_view relative) {
  if (!is_on()) return false;
  const std::lock_guard lock(mutex_);
  if (parent_ < 0) {
    const std::size_t slash = root_.rfind('/');
    parent_ = ::inotify_add_watch(events_, slash == 0 ? "/" : root_.substr(0, slash).c_str(), kNames);
    if (parent_ < 0) return false;
  }
  bool is_watched = add_folder(root_);
  for (std::size_t slash = relative.find('/'); slash != std::string_view::npos && is_watched;
       slash = relative.find('/', slash + 1)) {
    is_watched = add_folder(root_ + "/" + std::string(relative.substr(0, slash)));
  }
  // What a link leads to lies elsewhere, so the file itself is watched.
  if (is_watched && follows_links_ && !relative.empty()) add_folder(root_ + "/" + std::string(relative));
  return is_watched;
}

bool Watch::add_folder(const std::string& path) {
  if (watched_.contains(path)) return true;
  const int watch = ::inotify_add_watch(events_, path.c_str(), kAll);
  if (watch < 0) return errno == ENOENT || errno == ENOTDIR;  // its folder is watched, and tells when it comes
  watched_.emplace(path, watch);
  return true;
}

void Watch::run() noexcept {
  pollfd waited[] = {{.fd = events_, .events = POLLIN, .revents = 0}, {.fd = stop_, .events = POLLIN, .revents = 0}};
  for (;;) {
    if (::poll(waited, 2, -1) < 0 && errno != EINTR) return;
    if (waited[1].revents != 0) return;
    if (waited[0].revents != 0) read_events();
  }
}

int Watch::parent_watch() noexcept {
  const std::lock_guard lock(mutex_);
  return parent_;
}

void Watch::read_events() noexcept {
  alignas(inotify_event) char buffer[16 * 1024];
  const ssize_t size = ::read(events_, buffer, sizeof buffer);
  if (size <= 0) return;
  // After the read: whoever sets the watch holds the lock until it is noted, so none of its events is taken for
  // another's.
  const int parent = parent_watch();
  bool is_upheaval = false;
  bool is_change = false;
  const std::string_view root_name = std::string_view(root_).substr(root_.rfind('/') + 1);
  for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
    inotify_event event;
    std::memcpy(&event, buffer + at, sizeof event);
    const std::string_view name = event.len > 0 ? buffer + at + sizeof event : "";
    at += sizeof event + event.len;
    if ((event.mask & IN_IGNORED) != 0) continue;
    if (event.wd == parent && (event.mask & kNames) != 0 && name != root_name) continue;
    is_change = true;
    const bool moves_folder = (event.mask & IN_ISDIR) != 0 && (event.mask & kNames) != 0;
    if (moves_folder || event.wd == parent || (event.mask & (kSelf | IN_Q_OVERFLOW)) != 0 ||
        (follows_links_ && (event.mask & kNames) != 0)) {
      is_upheaval = true;
    }
  }
  if (is_upheaval) start_over();
  if (is_change) changes_.fetch_add(1, std::memory_order_release);
}

// The watches may stand on folders that are elsewhere now. Whoever has counted before this is over begins anew, so a
// watch that is set meanwhile and goes with the others is missed by nobody.
void Watch::start_over() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, watch] : watched_) ::inotify_rm_watch(events_, watch);
  watched_.clear();
  if (parent_ >= 0) ::inotify_rm_watch(events_, parent_);
  parent_ = -1;
  upheavals_.fetch_add(1, std::memory_order_release);
}
#else
Watch::Watch(const std::string& root, bool follows_links) : root_(root), follows_links_(follows_links) {
  log(LogLevel::Warn, "files below " + root + " cannot be watched on this system");
}
Watch::~Watch() = default;
bool Watch::add(std::string_view) { return false; }
#endif

}  // namespace violet::files
