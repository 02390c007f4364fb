#pragma once

// Version: which bytes a file has, as far as the file system can tell: device, inode, size, and the times at which data
// and inode were changed last. Two equal versions are the same bytes, except for what settled_version() waits for.

#include <cstddef>
#include <cstdint>

namespace violet::files {

struct Version {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  // data, since 1970
  std::int64_t changed_ns = 0;   // data, name, owner or mode; programs cannot set it

  friend bool operator==(const Version&, const Version&) noexcept = default;
};

enum class FileKind : std::uint8_t { Regular, Folder, Link, Other };

struct Status {
  Version version;
  FileKind kind = FileKind::Other;

  friend bool operator==(const Status&, const Status&) noexcept = default;
};

// Both answer 0 or an errno.
int look(const char* path, bool follows_links, Status& out) noexcept;
int look(int descriptor, Status& out) noexcept;

// The version of an open file, once no later change can hide behind its times: file systems stamp by a clock that ticks
// every few milliseconds, so two changes within one tick look like one. Waits out the tick, which is needed only for
// files changed just now; therefore for worker threads.
enum class Settled : std::uint8_t {
  Yes,
  Ahead,     // its times are those of another clock, ahead of ours: changes may hide
  Changing,  // somebody writes it all the time
  Failed,    // `error` says why
};
Settled settled_version(int descriptor, Status& out, int& error) noexcept;

// The same bytes of an open file. Its name may have gone, which also counts as a change of the inode.
[[nodiscard]] constexpr bool is_same_data(const Version& a, const Version& b) noexcept {
  return a.inode == b.inode && a.device == b.device && a.size == b.size && a.modified_ns == b.modified_ns;
}

// It has only become longer, as a log does: what it was before is still there.
[[nodiscard]] constexpr bool has_grown(const Version& before, const Version& after) noexcept {
  return after.inode == before.inode && after.device == before.device && after.size > before.size;
}

// Whether a file that is made from another one was made after it. Some programs give what they make its origin's time
// and cut it to whole seconds (brotli, zstd): such a one is as new as its origin's second, unless its inode says that
// it was there before.
[[nodiscard]] constexpr bool is_made_after(const Version& made, const Version& origin) noexcept {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  if (made.modified_ns >= origin.modified_ns) return true;
  return made.modified_ns % kSecondNs == 0 && origin.modified_ns - made.modified_ns < kSecondNs &&
         made.changed_ns >= origin.modified_ns;
}

// For hash tables.
[[nodiscard]] std::size_t hash_of(const Version& version) noexcept;

}  // namespace violet::files
