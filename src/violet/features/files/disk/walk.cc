#include "violet/features/files/disk/walk.h"

#include "violet/features/files/disk/root.h"

#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace violet::files {
namespace {

#if defined(O_PATH)
constexpr int kLook = O_PATH | O_NOFOLLOW | O_CLOEXEC;
#else
constexpr int kLook = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
#endif
constexpr int kLinksMax = 40;  // as the kernel has it

// A walk keeps every folder from the root down open, so that ".." in a link goes back to where it came from and not to
// where the tree may have been moved meanwhile.
class Walk {
 public:
  Walk(int root, const char* relative, int flags, bool follows_links)
      : root_(root), rest_(relative), flags_(flags), follows_links_(follows_links) {}

  int run() {
    for (;;) {
      const std::string segment = next();
      if (segment.empty()) return open_last(".", flags_);
      const int result = segment == ".." ? leave() : enter(segment);
      if (result != kGoOn) return result;
    }
  }

 private:
  static constexpr int kGoOn = 0;  // no result: descriptors are positive here, 0 belongs to the process

  std::string next() {
    for (;;) {
      const std::size_t slash = rest_.find('/');
      std::string segment = rest_.substr(0, slash);
      rest_.erase(0, slash == std::string::npos ? slash : slash + 1);
      if (segment == "." || (segment.empty() && !rest_.empty())) continue;
      return segment;
    }
  }
  [[nodiscard]] int top() const { return folders_.empty() ? root_ : folders_.back().get(); }
  [[nodiscard]] bool is_last() const { return rest_.find_first_not_of('/') == std::string::npos; }

  int leave() {
    if (folders_.empty()) return -EXDEV;
    folders_.pop_back();
    return kGoOn;
  }
  int enter(const std::string& segment) {
    Descriptor found(::openat(top(), segment.c_str(), kLook));
    if (!found) return -errno;
    Status status;
    if (const int error = look(found.get(), status); error != 0) return -error;
    if (status.kind == FileKind::Link) return follow(found.get(), segment);
    if (is_last()) return open_last(segment.c_str(), flags_);
    if (status.kind != FileKind::Folder) return -ENOTDIR;
    folders_.push_back(std::move(found));
    return kGoOn;
  }
  int open_last(const char* segment, int flags) const {
    const int descriptor = ::openat(top(), segment, flags | O_NOFOLLOW | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
  }
  int follow(int link, const std::string& segment) {
    if (!follows_links_ || ++link_count_ > kLinksMax) return -ELOOP;
    char target[PATH_MAX];
#if defined(O_PATH)
    const ssize_t size = ::readlinkat(link, "", target, sizeof target);
    static_cast<void>(segment);
#else
    static_cast<void>(link);
    const ssize_t size = ::readlinkat(top(), segment.c_str(), target, sizeof target);
#endif
    if (size < 0) return -errno;
    if (size == 0 || target[0] == '/') return -EXDEV;
    rest_ = std::string(target, static_cast<std::size_t>(size)) + "/" + rest_;
    return rest_.size() > PATH_MAX ? -ENAMETOOLONG : kGoOn;
  }

  int root_;
  std::string rest_;
  int flags_;
  bool follows_links_;
  int link_count_ = 0;
  std::vector<Descriptor> folders_;
};

}  // namespace

int open_by_walking(int root, const char* relative, int flags, bool follows_links) {
  return Walk(root, relative, flags, follows_links).run();
}

}  // namespace violet::files
