#pragma once

// Root: a folder below which files are opened, and nothing else. A path that leads out, by dot segments or symbolic
// links, opens nothing, whatever happens to the tree at the same time: the kernel resolves beneath (openat2), or, where
// it cannot, each segment is opened by itself without following links. What is checked afterwards is the descriptor.
//
// The root's own path is resolved anew for each opening, links included, so that it may be exchanged as a whole
// ("current" pointing to the newest release). Any thread.

#include "violet/base/error.h"
#include "violet/features/files/disk/version.h"
#include "violet/features/files/options.h"

#include <string>
#include <string_view>
#include <utility>

namespace violet::files {

class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int value) noexcept : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor();

  [[nodiscard]] int get() const noexcept { return value_; }
  [[nodiscard]] explicit operator bool() const noexcept { return value_ >= 0; }
  [[nodiscard]] int detach() noexcept { return std::exchange(value_, -1); }

 private:
  int value_ = -1;
};

struct Opened {
  Descriptor descriptor;  // readable for a regular file or a folder; nothing for what is neither
  Status status;
};

class Root {
 public:
  // How paths are resolved; Walk is for tests, and for kernels without the other.
  enum class Way : std::uint8_t { Kernel, Walk };

  Root(std::string path, Symlinks symlinks, Way way = Way::Kernel);

  // Where it is, absolute, without a slash at its end.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool follows_links() const noexcept { return symlinks_ == Symlinks::Inside; }

  // `relative`: segments with '/' between them, no slash at its ends; "" is the root itself. Never waits for anything
  // but the disk: FIFOs, devices and sockets are not opened, only named. The error's detail is the errno; EXDEV and
  // ELOOP for what leads out.
  [[nodiscard]] Result<Opened> open(std::string_view relative) const;

 private:
  [[nodiscard]] int open_beneath(int root, const char* relative, int flags) const noexcept;

  std::string path_;
  Symlinks symlinks_;
  Way way_;
};

}  // namespace violet::files
