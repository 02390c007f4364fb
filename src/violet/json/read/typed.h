#pragma once

// TypedReader: the reading of one type, made by the compiler. It knows what the tables say (data/type.h): which member
// comes next, where it stands and what it is. Members in the order of the struct, whole numbers, texts without escapes
// and lists are read here; whatever else stands in the text is left to Reader, at the same place, so that what is
// unusual or wrong has one reading.
//
// What does the work is compiled once, in the library; here is only what leads from one value to the next.

#include "violet/data/type_of.h"
#include "violet/json/read/reading.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace violet::json::detail {

class TypedReader {
 public:
  template <class T>
  static const char* get(Reader& reader, void* out, const char* at, const Place& place) {
    return value(reader, *static_cast<T*>(out), at, place);
  }

 private:
  template <class T>
  static constexpr bool kIsWhole = std::is_integral_v<T> && sizeof(T) >= 4;
  // Values that plain() reads.
  template <class T>
  static constexpr bool kIsPlain =
      kIsWhole<T> || std::is_same_v<T, bool> || std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>;
  template <class T>
  static consteval bool is_object() {
    if constexpr (data::Structure<T>) {
      return data::kType<T>.kind == Kind::Object;
    } else {
      return false;
    }
  }
  template <class T>
  static constexpr bool kIsObject = is_object<T>();
  // A list that grows in a row, such as std::vector.
  template <class T>
  static consteval bool is_row() {
    if constexpr (data::ListLike<T> && requires(T& list, std::size_t count) {
                    { list.emplace_back() } -> std::same_as<typename T::value_type&>;
                    list.reserve(count);
                    { list.capacity() } -> std::same_as<std::size_t>;
                    list.data();
                  }) {
      return data::kType<T>.kind == Kind::List && data::kType<T>.rule_count == 0;
    } else {
      return false;
    }
  }
  template <class T>
  static constexpr bool kIsRow = is_row<T>();

  // Any value. Returns what Reader's functions return.
  template <class T>
  static const char* value(Reader& reader, T& out, const char* at, const Place& place) {
    if constexpr (!data::Known<T>) {
      return nullptr;  // its table says that it has no form
    } else if constexpr (kIsObject<T>) {
      return object(reader, out, at, place);
    } else if constexpr (kIsRow<T>) {
      return row(reader, out, at, place);
    } else {
      return reader.any(data::kType<T>, &out, at, place);
    }
  }

  // A number or a text as they mostly are; nullptr where it takes Reader to read it, or to say what is wrong with it.
  // REQUIRES: kValueRoom bytes of text.
  template <class T>
  static const char* plain(Reader& reader, T& out, const char* at) {
    if constexpr (kIsWhole<T>) {
      const Reader::Whole whole = Reader::plain_whole(at, std::is_signed_v<T>);
      if (whole.end != nullptr) [[likely]]
        out = static_cast<T>(whole.value);
      return whole.end;
    } else {
      return reader.plain(at, out);
    }
  }

  // --- objects

  template <class T>
  static const char* object(Reader& reader, T& out, const char* at, const Place& place) {
    const char* const last = reader.last_with_room(at);
    if (at > last || *at != '{') [[unlikely]]
      return reader.any(data::kType<T>, &out, at, place);
    bool had_findings = false;
    if (!reader.begin_object(at, had_findings)) [[unlikely]]
      return nullptr;
    std::uint32_t seen = 0;
    reflect::visit(out, [&]<class... M>(M&... member) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        static_cast<void>((read_member<T, I>(reader, member, place, at, seen, last) && ...));
      }(std::index_sequence_for<M...>{});
    });
    if (at == nullptr) [[unlikely]]
      return nullptr;
    std::uint32_t all = seen;
    if (reader.peek(at) != '}') [[unlikely]] {
      at = reader.rest_of_object(data::kType<T>, &out, at, place, all);
      if (at == nullptr) return nullptr;
    }
    return reader.end_object(data::kType<T>, &out, at, place, data::TypeOf<T>::required() & ~all, had_findings);
  }

  // Reads the member if it is the one that comes next; then `at` is behind its value. False where Reader goes on.
  // REQUIRES: at `at` the brace that begins the object, as long as none was `seen`; what follows a value from then on.
  template <class T, std::size_t I, class M>
  [[gnu::always_inline]] static bool read_member(Reader& reader, M& member, const Place& place, const char*& at,
                                                 std::uint32_t& seen, const char* last) {
    constexpr const data::Member& kMember = data::TypeOf<T>::members[I];
    constexpr std::string_view kPrefix = kMember.prefix;  // ,"name":
    if constexpr (kMember.is_ignored || kPrefix.size() > Reader::kPrefixMax) {
      return true;
    } else {
      if (at > last) [[unlikely]]
        return false;
      const char* next = at + kPrefix.size();
      constexpr char kLead = I == 0 ? '{' : ',';
      if (*at != kLead || std::memcmp(at + 1, kPrefix.data() + 1, kPrefix.size() - 1) != 0) [[unlikely]] {
        // Another member or the end; unless this is the first one that came, or there is white space.
        if (at[1] > ' ' && *at > ' ' && (I == 0 || seen != 0)) return true;
        next = reader.behind_prefix(at, kPrefix, seen == 0);
        if (next == nullptr) return true;
      }
      bool has_room = true;
      if (*next <= ' ') [[unlikely]] {
        next = reader.skip_space(next);
        has_room = next <= last;
      }
      seen |= std::uint32_t{1} << I;
      if constexpr (kIsPlain<M>) {
        const char* const behind = has_room ? plain(reader, member, next) : nullptr;
        at = behind != nullptr ? behind : reader.any(kMember, &member, next, place);
      } else {
        const Place inner{.outer = &place, .name = kMember.name};
        at = value(reader, member, next, inner);
      }
      return at != nullptr;
    }
  }

  // --- lists

  template <class L>
  static const char* row(Reader& reader, L& out, const char* at, const Place& place) {
    using Element = typename L::value_type;
    const char* const last = reader.last_with_room(at);
    if (at > last || *at != '[') [[unlikely]]
      return reader.any(data::kType<L>, &out, at, place);
    const char* const first = at;
    out.clear();
    bool is_closed = false;
    at = reader.begin_list(at, is_closed);
    Place inner{.outer = &place, .name = {}, .is_index = true};
    while (at != nullptr && !is_closed) {
      if (out.size() == out.capacity()) {
        out.reserve(reader.room_for(sizeof(Element), out.size(), first, at));
      }
      at = element(reader, out.emplace_back(), at, inner, last);
      ++inner.index;
      if (at != nullptr && at <= last && *at == ',' && at[1] > ' ') [[likely]] {
        ++at;
      } else if (at != nullptr) {
        at = reader.behind_element(at, is_closed);
      }
    }
    return at != nullptr ? reader.end_list(at) : nullptr;
  }
  template <class E>
  static const char* element(Reader& reader, E& out, const char* at, const Place& place, const char* last) {
    if constexpr (kIsPlain<E>) {
      const char* const behind = at <= last ? plain(reader, out, at) : nullptr;
      if (behind != nullptr) [[likely]]
        return behind;
    }
    return value(reader, out, at, place);
  }
};

}  // namespace violet::json::detail
