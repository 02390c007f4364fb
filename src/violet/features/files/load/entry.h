#pragma once

// Entry: what one loop remembers about one path: the file with its variants, or that there is none. Made by a worker
// (load.h), then owned by one loop's Front and used by it alone.

#include "violet/base/list.h"
#include "violet/features/files/cache/content.h"
#include "violet/features/files/disk/version.h"
#include "violet/features/files/disk/watch.h"
#include "violet/http/fields.h"
#include "violet/http/value/coding.h"
#include "violet/memory/ref.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace violet::files {

// One form of a file: as it is, or a twin that holds it compressed.
struct Variant {
  http::Coding coding = http::Coding::Identity;
  std::string path;  // absolute, for looking at
  Version version;
  std::string etag;                  // with quotes
  std::int64_t modified_s = 0;       // what it says of its last change; never later than it was loaded
  std::string last_modified;         // the same as a date
  Ref<http::PreparedFields> fields;  // of a 200
  // One of two has the bytes.
  Ref<Content> content;
  Ref<Holding> holding;  // the loop's own hold on `content`
  Ref<FileBuffer> file;

  [[nodiscard]] std::uint64_t size() const noexcept { return version.size; }
};

struct Entry final : Counted<Entry>, ListNode<Entry> {
  enum class Kind : std::uint8_t {
    File,
    Missing,    // 404
    Forbidden,  // 403: it is there and may not be read
    Redirect,   // a folder that was named without its slash
    Listing,    // a folder's page
    Busy,       // 503: it is being written all the time
    Failed,     // 500: the disk does not answer
  };

  Kind kind = Kind::Missing;
  std::string key;  // the path as it was asked for

  // What the answer rests on: when this looks the same again, the entry is still true.
  std::string check_path;
  bool check_follows = false;  // what a link there leads to
  int check_error = 0;         // errno of looking there
  Status check;

  bool is_kept = true;      // false: good for one answer only
  bool is_watched = false;  // events tell of changes
  Watch::Count events;      // as they were before it was loaded, or last found true
  std::uint64_t generation = 0;
  std::int64_t used_s = 0;          // when it was sent last
  std::int64_t twins_looked_s = 0;  // when somebody looked for new twins last

  std::vector<Variant> variants;  // of a file; the first one is the file itself
  std::string media_type;
  std::string cache_control;
  std::string disposition;
  bool varies = false;  // there are twins: who asks otherwise gets another answer
  std::string page;     // of a Listing

  [[nodiscard]] bool has_open_file() const noexcept {
    for (const Variant& variant : variants) {
      if (variant.file) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_evicted() const noexcept {
    for (const Variant& variant : variants) {
      if (variant.content && variant.content->is_evicted()) return true;
    }
    return false;
  }
};

}  // namespace violet::files
