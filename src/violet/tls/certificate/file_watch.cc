#include "violet/tls/certificate/file_watch.h"

#include <uv.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

namespace violet::tls {
namespace {

constexpr std::uint64_t kGatherMs = 100;
constexpr std::uint64_t kSecondTryMs = 500;

constexpr int kLinksMax = 40;  // as the kernel follows (path_resolution(7))

// The folder that a file stands in, and those of the symbolic links on the way to it.
void add_folders_of(const std::filesystem::path& file, std::set<std::string>& folders) {
  std::error_code error;
  std::filesystem::path at = "/";
  std::filesystem::path rest = std::filesystem::absolute(file, error).relative_path();
  for (int links = 0; !rest.empty() && links <= kLinksMax;) {
    const std::filesystem::path name = *rest.begin();
    std::filesystem::path behind;
    for (auto part = std::next(rest.begin()); part != rest.end(); ++part) behind /= *part;
    if (name == "..") {
      at = at.parent_path();
      rest = behind;
      continue;
    }
    const std::filesystem::path next = at / name;
    const auto kind = std::filesystem::symlink_status(next, error).type();
    if (behind.empty() || kind == std::filesystem::file_type::symlink) folders.insert(at);
    if (kind == std::filesystem::file_type::symlink) {
      ++links;
      const std::filesystem::path target = std::filesystem::read_symlink(next, error);
      if (target.is_absolute()) at = "/";
      rest = target.relative_path() / behind;
    } else if (kind == std::filesystem::file_type::not_found) {
      folders.insert(at);
      return;
    } else {
      at = next;
      rest = behind;
    }
  }
}

}  // namespace

struct FileWatch::Folder {
  uv_fs_event_t handle;
  FileWatch* watch;  // nullptr once it has ended
};

FileWatch::FileWatch(Loop& loop, const std::vector<std::string>& files, OnChange on_change)
    : loop_(loop), files_(files), on_change_(std::move(on_change)) {
  watch_folders();
}

FileWatch::~FileWatch() { forget_folders(); }

// What is on the way to the files now.
void FileWatch::watch_folders() {
  forget_folders();
  std::set<std::string> folders;
  for (const std::string& file : files_) add_folders_of(file, folders);
  for (const std::string& folder : folders) watch_folder(folder);
}

void FileWatch::forget_folders() noexcept {
  unwatched_.clear();
  for (Folder* folder : std::exchange(folders_, {})) {
    folder->watch = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(&folder->handle),
             [](uv_handle_t* handle) { delete static_cast<Folder*>(handle->data); });
  }
}

void FileWatch::watch_folder(const std::string& path) {
  auto* folder = new Folder{{}, this};
  VIOLET_CHECK(uv_fs_event_init(loop_.uv(), &folder->handle) == 0);
  folder->handle.data = folder;
  uv_unref(reinterpret_cast<uv_handle_t*>(&folder->handle));
  folders_.push_back(folder);
  const auto on_event = [](uv_fs_event_t* handle, const char*, int, int) {
    if (FileWatch* watch = static_cast<Folder*>(handle->data)->watch) watch->on_event();
  };
  if (uv_fs_event_start(&folder->handle, on_event, path.c_str(), 0) != 0) unwatched_.push_back(path);
}

void FileWatch::on_event() noexcept {
  is_second_try_ = false;
  if (!timer_.is_armed() || timer_.due_ms() > loop_.now_ms() + kGatherMs) loop_.timers().arm_after(timer_, kGatherMs);
}

void FileWatch::on_timer() noexcept {
  const bool is_final = std::exchange(is_second_try_, false);
  watch_folders();  // before the files are read, so that what changes meanwhile is heard
  if (on_change_(is_final) || is_final) return;
  is_second_try_ = true;
  loop_.timers().arm_after(timer_, kSecondTryMs);
}

}  // namespace violet::tls
