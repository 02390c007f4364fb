#include "violet/features/files/disk/root.h"

#include "violet/features/files/disk/walk.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif

namespace violet::files {
namespace {

#if defined(O_PATH)
constexpr int kLook = O_PATH | O_CLOEXEC;
#else
constexpr int kLook = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
#endif
// Should the name have become a FIFO or a terminal since it was looked at: neither waits nor takes it over.
constexpr int kRead = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::string absolute(std::string path) {
  if (path.empty() || path.front() != '/') {
    std::string here(4096, '\0');
    if (::getcwd(here.data(), here.size()) != nullptr) {
      here.resize(here.find('\0'));
      path = here + "/" + path;
    }
  }
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

#if defined(__linux__) && defined(SYS_openat2)
// A descriptor, a negative errno, or -ENOSYS where the kernel (or a filter in front of it) does not know the call.
int open_by_kernel(int root, const char* relative, int flags, bool follows_links) noexcept {
  static constinit std::atomic<bool> is_missing = false;
  if (is_missing.load(std::memory_order_relaxed)) return -ENOSYS;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (follows_links ? 0 : RESOLVE_NO_SYMLINKS);
  // EAGAIN: something was renamed meanwhile and the kernel could not be sure; the next try is.
  constexpr int kTriesMax = 32;
  int error = 0;
  for (int i = 0; i < kTriesMax; ++i) {
    const auto descriptor = static_cast<int>(::syscall(SYS_openat2, root, relative, &how, sizeof how));
    if (descriptor >= 0) return descriptor;
    error = errno;
    if (error != EAGAIN && error != EINTR) break;
  }
  if (error == EAGAIN || error == EPERM) return -ENOSYS;
  if (error == ENOSYS) is_missing.store(true, std::memory_order_relaxed);
  return -error;
}
#else
int open_by_kernel(int, const char*, int, bool) noexcept { return -ENOSYS; }
#endif

}  // namespace

Descriptor::~Descriptor() {
  if (value_ >= 0) ::close(value_);
}

Root::Root(std::string path, Symlinks symlinks, Way way)
    : path_(absolute(std::move(path))), symlinks_(symlinks), way_(way) {}

int Root::open_beneath(int root, const char* relative, int flags) const noexcept {
  if (*relative == '\0') relative = ".";
  int result = way_ == Way::Kernel ? open_by_kernel(root, relative, flags, follows_links()) : -ENOSYS;
  if (result == -ENOSYS) result = open_by_walking(root, relative, flags, follows_links());
  return result;
}

Result<Opened> Root::open(std::string_view relative) const {
  const auto failed = [](int error) { return fail(ErrorKind::System, error); };
  const Descriptor root(::open(path_.c_str(), kLook | O_DIRECTORY));
  if (!root) return failed(errno);
  const std::string name(relative);
  // Looked at first without opening: opening a device may do something.
  Descriptor seen(open_beneath(root.get(), name.c_str(), kLook));
  if (!seen) return failed(-seen.get());
  Opened opened;
  if (const int error = look(seen.get(), opened.status); error != 0) return failed(error);
  if (opened.status.kind != FileKind::Regular && opened.status.kind != FileKind::Folder) return opened;
  Descriptor read(open_beneath(root.get(), name.c_str(), kRead));
  if (!read) return failed(-read.get());
  // What counts is what was opened, not what was looked at.
  if (const int error = look(read.get(), opened.status); error != 0) return failed(error);
  if (opened.status.kind == FileKind::Regular || opened.status.kind == FileKind::Folder) {
    opened.descriptor = std::move(read);
  }
  return opened;
}

}  // namespace violet::files
