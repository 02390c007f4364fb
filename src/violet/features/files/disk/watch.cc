#include "violet/features/files/disk/watch.h"

#include "violet/base/log.h"
#include "violet/event/signal.h"

#if defined(__linux__)
#include <algorithm>
#include <cerrno>
#include <climits>
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
  if (way_.empty() && !watch_way()) return false;
  bool is_watched = add_folder(root_);
  for (std::size_t slash = relative.find('/'); slash != std::string_view::npos && is_watched;
       slash = relative.find('/', slash + 1)) {
    is_watched = add_folder(root_ + "/" + std::string(relative.substr(0, slash)));
  }
  // What a link leads to lies elsewhere, so the file itself is watched.
  if (is_watched && follows_links_ && !relative.empty()) add_folder(root_ + "/" + std::string(relative));
  return is_watched;
}

// Follows the root's path name by name, as the kernel does. Each name is watched before it is asked where it leads, so
// that no change in between is missed.
bool Watch::watch_way() {
  constexpr int kLinksMax = 40;  // as the kernel has it
  std::string at;
  std::string rest = root_;
  bool is_last_watched = false;
  for (int link_count = 0; !rest.empty();) {
    const std::size_t slash = rest.find('/');
    const std::string name = rest.substr(0, slash);
    rest.erase(0, slash == std::string::npos ? slash : slash + 1);
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      at.erase(at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    is_last_watched = watch_name(at, name);
    char target[PATH_MAX];
    const std::size_t folder_bytes = at.size();
    at.append("/").append(name);
    const ssize_t size = ::readlink(at.c_str(), target, sizeof target);
    if (size <= 0) continue;
    at.resize(folder_bytes);
    if (!is_last_watched || ++link_count > kLinksMax) return false;
    if (target[0] == '/') at.clear();
    rest.insert(0, "/").insert(0, target, static_cast<std::size_t>(size));
  }
  return is_last_watched;
}

bool Watch::watch_name(const std::string& folder, const std::string& name) {
  const int watch = ::inotify_add_watch(events_, folder.empty() ? "/" : folder.c_str(), kNames | IN_MASK_ADD);
  if (watch >= 0) way_[watch].push_back(name);
  return watch >= 0;
}

bool Watch::add_folder(const std::string& path) {
  if (watched_.contains(path)) return true;
  const int watch = ::inotify_add_watch(events_, path.c_str(), kAll | IN_MASK_ADD);
  if (watch < 0) return errno == ENOENT || errno == ENOTDIR;  // its folder is watched, and tells when it comes
  watched_.emplace(path, watch);
  inside_.insert(watch);
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

bool Watch::is_on_way(int watch, std::string_view name) const noexcept {
  const auto found = way_.find(watch);
  return found != way_.end() && std::ranges::find(found->second, name) != found->second.end();
}

void Watch::read_events() noexcept {
  alignas(inotify_event) char buffer[16 * 1024];
  const ssize_t size = ::read(events_, buffer, sizeof buffer);
  if (size <= 0) return;
  bool is_upheaval = false;
  bool is_change = false;
  // Whoever sets a watch holds the lock until it is noted, so none of its events is taken for another's.
  std::unique_lock lock(mutex_);
  for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
    inotify_event event;
    std::memcpy(&event, buffer + at, sizeof event);
    const char* const name_bytes = buffer + at + sizeof event;
    // The name is filled up with zeros.
    const std::string_view name(name_bytes, ::strnlen(name_bytes, event.len));
    at += sizeof event + event.len;
    if ((event.mask & IN_IGNORED) != 0) continue;
    const bool is_below = inside_.contains(event.wd) || (event.mask & IN_Q_OVERFLOW) != 0;
    const bool moves_way = (event.mask & kNames) != 0 && is_on_way(event.wd, name);
    if (!is_below && !moves_way && way_.contains(event.wd)) continue;
    is_change = true;
    const bool moves_folder = (event.mask & IN_ISDIR) != 0 && (event.mask & kNames) != 0;
    if (moves_folder || moves_way || (event.mask & (kSelf | IN_Q_OVERFLOW)) != 0 ||
        (follows_links_ && (event.mask & kNames) != 0)) {
      is_upheaval = true;
    }
  }
  lock.unlock();
  if (is_upheaval) start_over();
  if (is_change) changes_.fetch_add(1, std::memory_order_release);
}

// The watches may stand on folders that are elsewhere now. Whoever has counted before this is over begins anew, so a
// watch that is set meanwhile and goes with the others is missed by nobody.
void Watch::start_over() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, watch] : watched_) ::inotify_rm_watch(events_, watch);
  watched_.clear();
  inside_.clear();
  for (const auto& [watch, names] : way_) ::inotify_rm_watch(events_, watch);
  way_.clear();
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
