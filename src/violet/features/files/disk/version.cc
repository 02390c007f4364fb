#include "violet/features/files/disk/version.h"

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/sysmacros.h>
#endif

namespace violet::files {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

FileKind kind_of(unsigned mode) noexcept {
  if (S_ISREG(mode)) return FileKind::Regular;
  if (S_ISDIR(mode)) return FileKind::Folder;
  return S_ISLNK(mode) ? FileKind::Link : FileKind::Other;
}

#if defined(__linux__)
int look_at(int descriptor, const char* path, int flags, Status& out) noexcept {
  struct statx seen;
  if (::statx(descriptor, path, flags, STATX_TYPE | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_CTIME, &seen) != 0) {
    return errno;
  }
  out.kind = kind_of(seen.stx_mode);
  out.version = {.device = std::uint64_t{seen.stx_dev_major} << 32 | seen.stx_dev_minor,
                 .inode = seen.stx_ino,
                 .size = seen.stx_size,
                 .modified_ns = seen.stx_mtime.tv_sec * kSecondNs + seen.stx_mtime.tv_nsec,
                 .changed_ns = seen.stx_ctime.tv_sec * kSecondNs + seen.stx_ctime.tv_nsec};
  return 0;
}
// What the kernel stamps files with.
constexpr clockid_t kStampClock = CLOCK_REALTIME_COARSE;
constexpr std::int64_t kStampTickNs = 0;
#else
int note(const struct stat& seen, Status& out) noexcept {
  out.kind = kind_of(seen.st_mode);
  out.version = {.device = static_cast<std::uint64_t>(seen.st_dev),
                 .inode = static_cast<std::uint64_t>(seen.st_ino),
                 .size = static_cast<std::uint64_t>(seen.st_size),
                 .modified_ns = seen.st_mtim.tv_sec * kSecondNs + seen.st_mtim.tv_nsec,
                 .changed_ns = seen.st_ctim.tv_sec * kSecondNs + seen.st_ctim.tv_nsec};
  return 0;
}
constexpr clockid_t kStampClock = CLOCK_REALTIME;
constexpr std::int64_t kStampTickNs = 20'000'000;
#endif

std::int64_t stamp_now() noexcept {
  timespec now{};
  ::clock_gettime(kStampClock, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec - kStampTickNs;
}

}  // namespace

#if defined(__linux__)
int look(const char* path, bool follows_links, Status& out) noexcept {
  return look_at(AT_FDCWD, path, follows_links ? 0 : AT_SYMLINK_NOFOLLOW, out);
}
int look(int descriptor, Status& out) noexcept { return look_at(descriptor, "", AT_EMPTY_PATH, out); }
#else
int look(const char* path, bool follows_links, Status& out) noexcept {
  struct stat seen;
  if ((follows_links ? ::stat(path, &seen) : ::lstat(path, &seen)) != 0) return errno;
  return note(seen, out);
}
int look(int descriptor, Status& out) noexcept {
  struct stat seen;
  if (::fstat(descriptor, &seen) != 0) return errno;
  return note(seen, out);
}
#endif

Settled settled_version(int descriptor, Status& out, int& error) noexcept {
  // A tick is 10 ms at most; what takes many of them is another clock, or another writer.
  constexpr int kLooksMax = 40;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 1'000'000};
  Version first;
  for (int i = 0; i < kLooksMax; ++i) {
    // Read before the file is looked at: a change after this moment is stamped with it or later.
    const std::int64_t now = stamp_now();
    error = look(descriptor, out);
    if (error != 0) return Settled::Failed;
    if (out.version.changed_ns < now) return Settled::Yes;
    if (i == 0) first = out.version;
    ::nanosleep(&kPause, nullptr);
  }
  return out.version == first ? Settled::Ahead : Settled::Changing;
}

std::size_t hash_of(const Version& version) noexcept {
  std::uint64_t hash = version.inode * 0x9e3779b97f4a7c15u ^ version.device;
  hash = (hash ^ static_cast<std::uint64_t>(version.changed_ns) ^ version.size << 40) * 0xd6e8feb86659fd93u;
  return static_cast<std::size_t>(hash ^ hash >> 32);
}

}  // namespace violet::files
