#pragma once

// Reader: one reading of one text; the inside of json/reader.h. What most values need stands in reader.cc, the rest in
// reader_more.cc. Every function takes the place where its value begins and returns the place behind it, nullptr where
// the text is no JSON.

#include "violet/json/cursor.h"
#include "violet/json/reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace violet::json::detail {

using data::Kind;
using data::Type;

// Where a value stands: the chain of names and indices that leads to it. Only looked at when something is wrong.
struct Place {
  const Place* outer = nullptr;
  std::string_view name;
  std::size_t index = 0;
  bool is_index = false;
};

inline bool is_digit(char c) noexcept { return static_cast<unsigned>(c - '0') <= 9; }

class Reader {
 public:
  Reader(std::string_view text, const ReadOptions& options, data::Findings& findings) noexcept
      : options_(options),
        findings_(findings),
        cursor_(text, std::min(options.depth_max, ReadOptions::kDepthCeiling)) {}

  bool document(std::string_view text, const Type& type, void* out) {
    const Place root;
    const char* at = text.data();
    if (text.starts_with("\xef\xbb\xbf")) {
      cursor_.fail(at, "a byte order mark may not stand before JSON");
      return false;
    }
    at = cursor_.skip_space(at);
    if (at == cursor_.end()) {
      cursor_.fail(at, "there is nothing to read");
      return false;
    }
    at = value(type, out, at, root);
    if (at == nullptr) return false;
    at = cursor_.skip_space(at);
    if (at != cursor_.end()) cursor_.fail(at, "nothing may follow the value");
    return cursor_.what().empty() && !has_findings_;
  }
  [[nodiscard]] const Cursor& cursor() const noexcept { return cursor_; }

 private:
  // Any value; the usual kinds are inlined into what holds them.
  const char* value(const Type& type, void* out, const char* at, const Place& place);
  const char* any(const Type& type, void* out, const char* at, const Place& place);
  const char* unusual(const Type& type, void* out, const char* at, const Place& place);
  const char* whole(const Type& type, void* out, const char* at, const Place& place);
  const char* whole_with_care(const Type& type, void* out, const char* at, const Place& place);
  const char* real(const Type& type, void* out, const char* at, const Place& place);
  const char* boolean(const Type& type, void* out, const char* at, const Place& place);
  const char* text(const Type& type, void* out, const char* at, const Place& place);
  bool store_text(const Type& type, void* out, std::string_view text);
  bool store_bytes(const Type& type, void* out, std::string_view text);
  const char* object(const Type& type, void* out, const char* at, const Place& place, std::string_view tag);
  const char* key(const data::ObjectType& type, const char* at, std::size_t& index, std::string_view& name);
  const char* surplus(const data::ObjectType& type, void* const* members, std::size_t index, const char* at,
                      const Place& place, std::string_view tag);
  const char* list(const Type& type, void* out, const char* at, const Place& place);
  const char* map(const Type& type, void* out, const char* at, const Place& place);
  const char* variant(const Type& type, void* out, const char* at, const Place& place);
  const char* tagged(const Type& type, void* out, const char* at, const Place& place);
  const char* find_tag(std::string_view tag, const char* at, std::string_view& found);

  // The value at `at` is not what it has to be: says so and skips it.
  const char* refuse(const Type& type, const char* at, const Place& place);
  void report(const Place& place, std::string_view what);
  void check_rules(const Type& type, const void* value, const Place& place);
  void check_object(const Type& type, const void* object, const Place& place);

  const ReadOptions& options_;
  data::Findings& findings_;
  Cursor cursor_;
  bool has_findings_ = false;
};

}  // namespace violet::json::detail
