#pragma once

// FileWatch: says when files may have changed: written, replaced by a rename, or reached through a symbolic link that
// was, the file's own or one of a folder on the way. It watches folders, so that a file may be away for a moment.
// Events that come close together count as one.
//
// Files that belong together change one after the other. So the callback is asked whether all is well, and if not, once
// more a little later, which is the final try until something changes again.
//
// On the loop's thread. Destroying it ends the watch; do it before the loop is destroyed.

#include "violet/base/function.h"
#include "violet/event/loop.h"

#include <string>
#include <vector>

namespace violet::tls {

class FileWatch {
 public:
  // True: all is well. `is_final`: it will not be asked again.
  using OnChange = Function<bool(bool is_final)>;

  FileWatch(Loop& loop, const std::vector<std::string>& files, OnChange on_change);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;
  ~FileWatch();

  // Folders that the system refuses to watch.
  [[nodiscard]] const std::vector<std::string>& unwatched() const noexcept { return unwatched_; }

 private:
  struct Folder;
  void watch_folders();
  void forget_folders() noexcept;
  void watch_folder(const std::string& path);
  void on_event() noexcept;
  void on_timer() noexcept;

  Loop& loop_;
  std::vector<std::string> files_;
  OnChange on_change_;
  std::vector<Folder*> folders_;  // each dies in its close callback
  std::vector<std::string> unwatched_;
  bool is_second_try_ = false;
  TimerTo<&FileWatch::on_timer> timer_{*this};
};

}  // namespace violet::tls
