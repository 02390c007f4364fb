#pragma once

// Files: a folder of the disk, served below a path.
//
//   app.files("/static", "public");
//   app.files("/", "site", {.listing = true, .not_found = "404.html"});
//   Files& assets = app.files("/assets", "dist", {.immutable_hashed = true});
//   assets.prewarm("");                                // reads all of it before the first request
//
// GET and HEAD, conditions, ranges, files that lie there compressed already, a cache in memory that follows the disk.
// One implementation for every wire; see docs/guide/files.md. Nothing outside of the folder is ever sent.

#include "violet/features/files/options.h"
#include "violet/web/router.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace violet {

namespace files {
class Mount;
}  // namespace files

class Files {
 public:
  explicit Files(std::shared_ptr<files::Mount> mount) noexcept;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files();

  // Reads what is there into memory, as far as the budget allows: a file, or a folder with everything below it; "" is
  // all. Blocks; any thread. Returns how many files it has read. What is no file is passed over.
  std::size_t prewarm(std::string_view path);
  // Forgets everything: the next request for each path asks the disk. Any thread.
  void clear();

  struct Stats {
    std::uint64_t cached_bytes = 0;  // in the cache, with what stands around them
    std::size_t cached_files = 0;
    std::uint64_t resident_bytes = 0;  // the same and what is still being sent
    std::uint64_t evicted = 0;
    std::uint64_t loads = 0;    // paths resolved by worker threads
    std::uint64_t reads = 0;    // files read into memory
    std::uint64_t reading = 0;  // by worker threads at this moment
    std::uint64_t refused = 0;  // requests that got a 503 because file_waits_max others waited
  };
  [[nodiscard]] Stats stats() const;

 private:
  std::shared_ptr<files::Mount> mount_;
};

// Serves `folder` below `prefix` ("/static", or "/" for everything). A relative folder is relative to where the program
// was started. The result lives as long as the routes do.
std::unique_ptr<Files> serve_files(Routes& routes, std::string_view prefix, std::string folder,
                                   FileOptions options = {}, web::Where where = web::Where::current());

}  // namespace violet
