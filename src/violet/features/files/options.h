#pragma once

// FileOptions: what can be said about a folder that is served. Every default is the careful choice.

#include "violet/http/value/coding.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace violet {

// What happens to names that begin with a dot (".git", ".env"), anywhere in a path.
enum class Dotfiles : std::uint8_t {
  Hide,    // 404, as if they were not there; not listed
  Refuse,  // 403
  Show,
};

enum class Symlinks : std::uint8_t {
  None,    // 404
  Inside,  // followed as long as they stay below the root; those that lead out, and absolute ones, are 404
};

// How a file in memory is compared with the disk before it is sent.
enum class Revalidate : std::uint8_t {
  OnLoop,    // one statx for each request: right for local disks
  OnWorker,  // the same on a worker thread: for disks that may be slow to answer (networks, FUSE)
  ByEvents,  // nothing for a request; the kernel tells of changes (inotify), within milliseconds
  Never,     // never: until Files::clear()
};

struct FileOptions {
  // For paths that match `pattern`: "*.css", "assets/*", "a?.txt". A pattern with a '/' is compared with the whole path
  // below the root, another one with the file's name; '*' stands for any characters, '?' for one. The first one counts.
  struct Rule {
    std::string pattern;
    std::string value;
  };

  std::vector<std::string> index = {"index.html"};  // what a folder is answered with, in this order
  bool listing = false;                             // a page of its names where a folder has no index
  std::string spa = {};        // "index.html": the answer to navigation of a browser to a path that does not exist
  std::string not_found = {};  // "404.html": the page of a 404
  Dotfiles dotfiles = Dotfiles::Hide;
  Symlinks symlinks = Symlinks::None;

  std::vector<Rule> media_types = {};    // {"*.foo", "text/plain"}: before the built-in table
  std::vector<Rule> cache_control = {};  // {"*.html", "no-cache"}
  // "public, max-age=31536000, immutable" for names with a hash in them ("app.3f9a1c07.js"), before cache_control.
  bool immutable_hashed = false;
  std::vector<std::string> download = {};  // patterns of what is to be saved and not shown (Content-Disposition)

  // Files beside a file that hold it compressed (app.js.br): which, and which goes first where a client likes several
  // as much. One that is older than its file is not sent.
  std::vector<http::Coding> twins = {http::Coding::Zstd, http::Coding::Brotli, http::Coding::Gzip};

  Revalidate revalidate = Revalidate::OnLoop;
  std::uint64_t cache_bytes = 64 << 20;       // of files in memory, for all loops together
  std::size_t cache_files = 4096;             // how many, for all loops together
  std::uint64_t cached_file_bytes = 1 << 20;  // a larger one is sent from its descriptor
  std::size_t paths = 8192;                   // remembered by each loop, those that do not exist included
  std::size_t open_files = 64;                // kept open by each loop
  // Large files on plain connections go out by the kernel, without a copy. What the client has not got yet is then
  // still part of the file: should somebody write into it (instead of renaming a new one to its name), it may show.
  // Without, everything is read and checked before it goes.
  bool sendfile = true;
  unsigned threads = 4;  // that read what is not in memory
};

}  // namespace violet
