#pragma once

// Note: what a struct alone cannot say about one of its members.
//
//   struct Account {
//     std::int64_t id;
//     std::string display_name;
//     std::string cache;
//
//     static constexpr violet::Note describe[] = {
//         {.member = "display_name", .name = "displayName", .about = "Shown to others"},
//         {.member = "cache", .ignored = true},
//     };
//   };
//
// For a struct that is not yours: `template <> inline constexpr auto violet::kDescribe<Account> = std::array{…};`.
// A member that does not exist is an error of the compiler.

#include <string_view>

namespace violet {

struct Note {
  std::string_view member;        // its C++ name
  std::string_view name = {};     // its name in documents
  bool ignored = false;           // neither read nor written; it keeps its default
  bool optional = false;          // need not come; it then keeps its default
  std::string_view about = {};    // one sentence for the documentation
  std::string_view example = {};  // JSON for the documentation
};

struct NoNotes {};
template <class T>
inline constexpr NoNotes kDescribe{};

// What an enumerator is called in documents, where it is not its C++ name: specialise it with an array of these.
template <class E>
struct EnumName {
  E value;
  std::string_view name;
};
template <class E>
inline constexpr NoNotes kEnumNames{};
// Enumerators are looked for from kEnumMin to kEnumMax.
template <class E>
inline constexpr int kEnumMin = 0;
template <class E>
inline constexpr int kEnumMax = 63;

// The member that says which alternative of a std::variant an object is.
template <class V>
inline constexpr std::string_view kVariantTag = "type";
// Its value for one alternative; by default the name of the type.
template <class T>
inline constexpr std::string_view kVariantName = {};

}  // namespace violet
