#pragma once

// DiskFile: the file behind a SavedFile, as the worker threads see it. Where the file system can (O_TMPFILE), it has no
// name before link(), so that not even a crash leaves it behind; elsewhere it has a hidden random one, which the
// destructor takes away. For any thread, one at a time.

#include "violet/base/error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace violet::web {

enum class DiskNaming : std::uint8_t { Unnamed, Named };

class DiskFile {
 public:
  // Unnamed where that can be had.
  static Result<std::shared_ptr<DiskFile>> create(const std::string& folder, DiskNaming naming = DiskNaming::Unnamed);

  DiskFile(std::string folder, int directory) noexcept : folder_(std::move(folder)), directory_(directory) {}
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;
  ~DiskFile();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  Result<void> write(std::string_view bytes) noexcept;
  // Syncs file and folder; returns the path. Conflict: it has been called before.
  Result<std::string> link(std::string_view ending);

 private:
  Result<void> open_unnamed() noexcept;
  Result<void> open_named();

  std::string folder_;
  int directory_;
  int descriptor_ = -1;
  std::string temporary_name_;  // "": it has none
  bool is_linked_ = false;
};

// errno as an Error: 507 where the disk, a quota or the process's limit has no room.
[[nodiscard]] Error disk_error(int code) noexcept;
// 32 hexadecimal digits from the system's generator.
[[nodiscard]] Result<std::string> random_name();
// ".png": letters and digits behind a dot, at most 16 in all; or nothing.
[[nodiscard]] bool is_ending(std::string_view ending) noexcept;

}  // namespace violet::web
