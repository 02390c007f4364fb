#include "violet/web/upload/disk_file.h"

#include "violet/base/ascii.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

namespace violet::web {
namespace {

constexpr int kMode = 0600;

Error last_error() noexcept { return disk_error(errno); }

std::string path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

// linkat() finds an unnamed file only through there.
bool has_proc() noexcept {
  static const bool has = ::access("/proc/self/fd", X_OK) == 0;
  return has;
}

}  // namespace

Error disk_error(int code) noexcept {
  const bool is_full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return Error(ErrorKind::System, code, is_full ? 507 : 0);
}

Result<std::string> random_name() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) return fail(last_error());
  std::string name;
  for (const unsigned char byte : bytes) {
    name += "0123456789abcdef"[byte >> 4];
    name += "0123456789abcdef"[byte & 15];
  }
  return name;
}

bool is_ending(std::string_view ending) noexcept {
  if (ending.empty()) return true;
  if (ending.size() < 2 || ending.size() > 16 || ending.front() != '.') return false;
  for (const char c : ending.substr(1)) {
    const bool is_letter = ascii::lower(c) >= 'a' && ascii::lower(c) <= 'z';
    if (!is_letter && !ascii::is(c, ascii::kDigit)) return false;
  }
  return true;
}

Result<std::shared_ptr<DiskFile>> DiskFile::create(const std::string& folder, DiskNaming naming) {
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return fail(last_error());
  auto file = std::make_shared<DiskFile>(folder, directory);
  if (naming == DiskNaming::Unnamed && has_proc() && file->open_unnamed()) return file;
  VIOLET_TRY_VOID(file->open_named());
  return file;
}

Result<void> DiskFile::open_unnamed() noexcept {
  descriptor_ = ::openat(directory_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kMode);
  if (descriptor_ < 0) return fail(last_error());
  return {};
}

Result<void> DiskFile::open_named() {
  VIOLET_TRY(const std::string name, random_name());
  std::string hidden = "." + name + ".part";
  descriptor_ = ::openat(directory_, hidden.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, kMode);
  if (descriptor_ < 0) return fail(last_error());
  temporary_name_ = std::move(hidden);
  return {};
}

DiskFile::~DiskFile() {
  if (!temporary_name_.empty()) ::unlinkat(directory_, temporary_name_.c_str(), 0);
  if (descriptor_ >= 0) ::close(descriptor_);
  ::close(directory_);
}

Result<void> DiskFile::write(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(last_error());
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::string> DiskFile::link(std::string_view ending) {
  if (is_linked_) return fail(ErrorKind::Conflict);
  if (!is_ending(ending)) return fail(ErrorKind::Invalid);
  VIOLET_TRY(std::string name, random_name());
  name.append(ending);
  if (::fsync(descriptor_) != 0) return fail(last_error());
  // Neither replaces what is there.
  const int linked = temporary_name_.empty()
                         ? ::linkat(AT_FDCWD, path_of(descriptor_).c_str(), directory_, name.c_str(), AT_SYMLINK_FOLLOW)
                         : ::linkat(directory_, temporary_name_.c_str(), directory_, name.c_str(), 0);
  if (linked != 0) return fail(last_error());
  is_linked_ = true;
  if (::fsync(directory_) != 0) return fail(last_error());
  return folder_ + (folder_.ends_with('/') ? "" : "/") + name;
}

}  // namespace violet::web
