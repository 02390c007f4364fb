#include "violet/tls/certificate/file_watch.h"

#include <uv.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace violet::tls {
namespace {

constexpr std::uint64_t kGatherMs = 100;
constexpr std::uint64_t kSecondTryMs = 500;

// Where a file stands, and where it stands behind symbolic links.
std::set<std::string> folders_of(const std::vector<std::string>& files) {
  std::set<std::string> folders;
  for (const std::string& file : files) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(file, error);
    folders.insert(path.parent_path());
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    if (!error) folders.insert(real.parent_path());
  }
  return folders;
}

}  // namespace

struct FileWatch::Folder {
  uv_fs_event_t handle;
  FileWatch* watch;  // nullptr once it has ended
};

FileWatch::FileWatch(Loop& loop, const std::vector<std::string>& files, OnChange on_change)
    : loop_(loop), on_change_(std::move(on_change)) {
  for (const std::string& folder : folders_of(files)) watch_folder(folder);
}

FileWatch::~FileWatch() {
  for (Folder* folder : folders_) {
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
  if (on_change_(is_final) || is_final) return;
  is_second_try_ = true;
  loop_.timers().arm_after(timer_, kSecondTryMs);
}

}  // namespace violet::tls
