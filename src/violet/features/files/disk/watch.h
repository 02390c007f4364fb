#pragma once

// Watch: hears from the kernel when something below a root changes, or on the way to it, so that nothing has to be
// asked for each request. One thread of its own reads the events; it does nothing but count, so that a busy loop never
// delays the news.
//
//   changes    counts events: what is remembered has to be looked at again, once
//   upheavals  counts those that move folders: watches are set anew, so what is remembered has to be loaded again
//
// Where there are no events (another system, no watches left, a file system that reports none) is_on() or add() says
// so.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace violet::files {

class Watch {
 public:
  // `follows_links`: a new name may be a link to a folder.
  Watch(const std::string& root, bool follows_links);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  [[nodiscard]] bool is_on() const noexcept { return events_ >= 0; }

  struct Count {
    std::uint64_t changes = 0;
    std::uint64_t upheavals = 0;

    friend bool operator==(const Count&, const Count&) noexcept = default;
  };
  // Any thread. To be read before what is then looked at.
  [[nodiscard]] Count count() const noexcept {
    return {changes_.load(std::memory_order_acquire), upheavals_.load(std::memory_order_acquire)};
  }
  // Any thread: from now on it is told what changes in all folders on the way from the root to `relative`, and where
  // names and links lead on the way to the root, as far as the folders that they stand in may be read: a link in one
  // that may not, and the answer is false. False: nobody is told of everything.
  bool add(std::string_view relative);

 private:
  bool watch_way();
  bool watch_name(const std::string& folder, const std::string& name);
  bool add_folder(const std::string& path);
  void run() noexcept;
  void read_events() noexcept;
  [[nodiscard]] bool is_on_way(int watch, std::string_view name) const noexcept;
  void start_over() noexcept;

  const std::string root_;
  const bool follows_links_;
  int events_ = -1;
  int stop_ = -1;
  std::atomic<std::uint64_t> changes_ = 0;
  std::atomic<std::uint64_t> upheavals_ = 0;
  std::mutex mutex_;
  std::unordered_map<std::string, int> watched_;  // folders by path
  std::unordered_set<int> inside_;                // the same by watch
  // What leads to the root, links included: watches on folders, and the names in them that matter.
  std::unordered_map<int, std::vector<std::string>> way_;
  std::thread thread_;
};

}  // namespace violet::files
