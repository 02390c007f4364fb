#pragma once

// Reader: one reading of one text; the inside of json/reader.h. It reads values of any type by their tables;
// TypedReader (typed.h) reads what it knows, and leaves the rest to it. What most values need stands in reader.cc and
// plain.cc, the rest in reader_more.cc. Every function takes the place where its value begins and returns the place
// behind it, nullptr where the text is no JSON.

#include "violet/data/findings.h"
#include "violet/data/type.h"
#include "violet/json/cursor.h"
#include "violet/json/read/options.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

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

class Reader;
// Reads a value of the type that it was made for.
using Get = const char* (*)(Reader& reader, void* out, const char* at, const Place& place);

class Reader {
 public:
  Reader(std::string_view text, const ReadOptions& options, data::Findings& findings) noexcept
      : options_(options),
        findings_(findings),
        cursor_(text, std::min(options.depth_max, ReadOptions::kDepthCeiling)) {}

  template <class Read>
  bool document(std::string_view text, Read read) {
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
    at = read(*this, at, root);
    if (at == nullptr) return false;
    at = cursor_.skip_space(at);
    if (at != cursor_.end()) cursor_.fail(at, "nothing may follow the value");
    return cursor_.what().empty() && !has_findings_;
  }
  [[nodiscard]] const Cursor& cursor() const noexcept { return cursor_; }

  const char* any(const Type& type, void* out, const char* at, const Place& place);
  const char* any(const data::Member& member, void* out, const char* at, const Place& object);

  // --- for TypedReader

  // A comma, a name, the colon and the first bytes of a value. With so much text left nobody has to look for the end in
  // between.
  static constexpr std::size_t kPrefixMax = 64;
  static constexpr std::size_t kValueRoom = 24;
  static constexpr std::size_t kRoom = kPrefixMax + 1 + kValueRoom;
  // The last place with kRoom bytes of text; nullptr when `at` is behind it already.
  [[nodiscard]] const char* last_with_room(const char* at) const noexcept {
    return cursor_.end() - at >= static_cast<std::ptrdiff_t>(kRoom) ? cursor_.end() - kRoom : nullptr;
  }
  [[nodiscard]] char peek(const char* at) const noexcept { return cursor_.peek(at); }
  [[nodiscard]] const char* skip_space(const char* at) const noexcept;

  // Values as they mostly are. nullptr where it takes any() to read them, or to say what is wrong; nothing is stored
  // then. REQUIRES: kValueRoom bytes of text.
  struct Whole {
    const char* end;
    std::uint64_t value;  // in two's complement
  };
  static Whole plain_whole(const char* at, bool is_signed) noexcept;
  static const char* plain(const char* at, bool& out) noexcept;
  const char* plain(const char* at, std::string& out) const;
  const char* plain(const char* at, std::string_view& out) const noexcept;

  // False: it is too deep.
  bool begin_object(const char* at, bool& had_findings) noexcept {
    had_findings = std::exchange(has_findings_, false);
    return cursor_.enter(at);
  }
  // Behind a member or the brace that begins the object: where `prefix` stands there with white space in it, the place
  // behind it; else nullptr.
  const char* behind_prefix(const char* at, std::string_view prefix, bool is_first) const noexcept;
  // The members from there on, in any order. Returns the brace at the end.
  const char* rest_of_object(const Type& type, void* out, const char* at, const Place& place, std::uint32_t& seen);
  // REQUIRES: the brace at `at`. `missing` has a bit for each member that should have come.
  const char* end_object(const Type& type, void* out, const char* at, const Place& place, std::uint32_t missing,
                         bool had_findings) {
    cursor_.leave();
    if (missing != 0) [[unlikely]]
      report_missing(type, place, missing);
    // Rules across members mean nothing while one of them is wrong.
    if (type.object->rules != nullptr && !has_findings_) check_object(type, out, place);
    has_findings_ |= had_findings;
    return at + 1;
  }

  // REQUIRES: a bracket at `at`. Returns the first element, or the bracket at the end.
  const char* begin_list(const char* at, bool& is_closed) noexcept {
    if (!cursor_.enter(at)) return nullptr;
    at = cursor_.skip_space(at + 1);
    is_closed = cursor_.peek(at) == ']';
    return at;
  }
  const char* behind_element(const char* at, bool& is_closed) noexcept { return behind_one(at, ']', is_closed); }
  const char* end_list(const char* at) noexcept {
    cursor_.leave();
    return at + 1;
  }
  // For how many elements there should be room, where `count` of them took the text from `first` to `at`.
  [[nodiscard]] std::size_t room_for(std::size_t element_bytes, std::size_t count, const char* first,
                                     const char* at) const noexcept;

 private:
  // Any value; the usual kinds are inlined into what holds them.
  const char* value(const Type& type, void* out, const char* at, const Place& place);
  // From the name at `at` on. Returns the brace at the end.
  const char* members(const Type& type, void* out, const char* at, const Place& place, std::uint32_t& seen,
                      std::size_t index, std::string_view tag);
  // Behind a member or an element: to the next one, or to what ends them all.
  const char* behind_one(const char* at, char close, bool& is_closed) noexcept;
  void report_missing(const Type& type, const Place& place, std::uint32_t missing);
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
