#pragma once

// Type: a C++ type as data. One constant table for each type says what it is made of and how its parts are reached, so
// that whatever reads, writes, checks or documents values is written once, in the compiled library, and not
// instantiated for each type of each program.
//
//   struct User { std::int64_t id; std::string name; };
//   const data::Type& type = data::kType<User>;          // data/type_of.h makes it
//   type.object->members[1].name                         // "name"
//
// Tables are constants: any thread may use them. Pointers to values are void*, of the type that the table describes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace violet::json {
struct Dynamic;
}

namespace violet::data {

struct Rule;
class Rules;
struct Type;

enum class Kind : std::uint8_t {
  Bool,
  Signed,    // of `size` bytes
  Unsigned,  // of `size` bytes
  Float,
  Double,
  String,   // std::string
  View,     // std::string_view
  Literal,  // const char*; cannot be read
  Bytes,    // base64 in texts
  Time,     // a point in time, RFC 3339
  Enum,     // by name
  Text,     // a type of the user's with a form as text
  Object,
  List,
  Map,       // texts to values
  Optional,  // a value, or null
  Variant,   // one of several
  Dynamic,   // any JSON
};

// One member of an aggregate, as its documents know it.
struct Member {
  std::string_view name;    // of the document: the C++ name, unless it was described otherwise
  std::string_view prefix;  // ",\"name\":" escaped, readable up to kPrefixRoom bytes
  const Type* type = nullptr;
  bool is_ignored = false;   // neither read nor written
  bool is_written = true;    // neither ignored nor a secret
  bool may_miss = false;     // need not come, whatever its default
  std::string_view about;    // for documentation
  std::string_view example;  // JSON, for documentation
};
inline constexpr std::size_t kPrefixRoom = 32;
inline constexpr std::size_t kMembersMax = 32;

struct ObjectType {
  const Member* members;
  std::size_t count;
  // Fills `out` with the address of each member.
  void (*locate)(void* object, void** out);
  // A bit for each member that has to come.
  std::uint32_t (*required)();
  // Shows an object as it is when nothing was read into it.
  void (*with_defaults)(void (*see)(void* to, const void* object), void* to);
  // The object's own rules; nullptr when it has none.
  void (*rules)(const void* object, Rules& rules);
  std::string_view about;
};

// Called with what a list or a map holds, in order.
class Visitor {
 public:
  virtual void on_element(const void* value) = 0;
  virtual void on_entry(std::string_view key, const void* value) = 0;

 protected:
  ~Visitor() = default;
};

struct ListType {
  struct Row {
    const void* first;
    std::size_t count;
  };
  constexpr explicit ListType(const Type* of) noexcept : element(of) {}
  const Type* element;
  std::size_t stride = 0;       // of elements that lie in a row; 0: they do not
  std::size_t fixed_count = 0;  // of std::array
  Row (*row)(const void* list) = nullptr;
  void (*each)(const void* list, Visitor& visitor) = nullptr;  // where they do not lie in a row
  // A new element behind the `at` there are. nullptr: this list cannot be read.
  void* (*append)(void* list, std::size_t at) = nullptr;
  void (*append_bool)(void* list, bool value) = nullptr;  // instead, for std::vector<bool>
  void (*clear)(void* list) = nullptr;
};

struct MapType {
  const Type* value;
  bool keeps_view = false;  // the key has to live as long as the map
  // The place for the value of `key`. nullptr: it cannot be a key. `is_new` false: there was one already.
  void* (*insert)(void* map, std::string_view key, bool& is_new);
  void (*each)(const void* map, Visitor& visitor);
  void (*clear)(void* map);
};

struct OptionalType {
  const Type* inner;
  const void* (*get)(const void* optional);  // nullptr: none
  void* (*emplace)(void* optional);
  void (*reset)(void* optional);
};

struct VariantType {
  struct Alternative {
    std::string_view name;  // the tag's value
    const Type* type;
    void* (*emplace)(void* variant);
  };
  std::string_view tag;  // "": the JSON type tells which one it is
  const Alternative* alternatives;
  std::size_t count;
  std::size_t (*index)(const void* variant);
  const void* (*get)(const void* variant);
};

struct EnumType {
  struct Enumerator {
    std::string_view name;
    std::int64_t value;
  };
  const Enumerator* enumerators;
  std::size_t count;
};

struct BytesType {
  std::string_view (*get)(const void* bytes);
  // `decoded` lives as long as the document.
  void (*assign)(void* bytes, std::string_view decoded);
};

struct TimeType {
  std::int64_t ticks_per_second;  // 0: a tick is longer than a second
  std::int64_t seconds_per_tick;
  bool is_date;  // whole days: "2024-02-29"
};

struct TextType {
  std::string_view format;  // of JSON Schema: "ipv4"; may be ""
  bool (*read)(std::string_view text, void* out);
  // At most `room` bytes; returns how many.
  std::size_t (*write)(const void* value, char* out, std::size_t room);
};
inline constexpr std::size_t kTextRoom = 128;

struct Type {
  constexpr explicit Type(Kind of) noexcept : kind(of), nothing(nullptr) {}

  Kind kind;
  std::uint8_t size = 0;   // of numbers, enums and ticks
  bool is_signed = false;  // of enums
  bool is_secret = false;  // read, and never written
  std::uint8_t rule_count = 0;
  union {
    const void* nothing;
    const ObjectType* object;
    const ListType* list;
    const MapType* map;
    const OptionalType* optional;
    const VariantType* variant;
    const EnumType* enumeration;
    const BytesType* bytes;
    const TimeType* time;
    const TextType* text;
    const json::Dynamic* dynamic;
  };
  const Rule* rules = nullptr;
  std::string_view name;  // "User"
};

// A value of 1, 2, 4 or 8 bytes.
template <class T>
[[nodiscard]] T load(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
[[nodiscard]] inline std::int64_t load_signed(const void* from, std::uint8_t size) noexcept {
  if (size == 4) return load<std::int32_t>(from);
  if (size == 8) return load<std::int64_t>(from);
  return size == 2 ? load<std::int16_t>(from) : load<std::int8_t>(from);
}
[[nodiscard]] inline std::uint64_t load_unsigned(const void* from, std::uint8_t size) noexcept {
  if (size == 4) return load<std::uint32_t>(from);
  if (size == 8) return load<std::uint64_t>(from);
  return size == 2 ? load<std::uint16_t>(from) : load<std::uint8_t>(from);
}
void store_whole(std::uint64_t value, std::uint8_t size, void* out) noexcept;
[[nodiscard]] inline std::int64_t load_whole(const Type& type, const void* from) noexcept {
  return type.is_signed ? load_signed(from, type.size) : static_cast<std::int64_t>(load_unsigned(from, type.size));
}

// Empty text, list, map, optional, bytes or a time at zero: what a default looks like that nobody has chosen.
[[nodiscard]] bool is_blank(const Type& type, const void* value);
// A bit for each member that has to come: `scalars`, those declared without a value, and those of class type whose
// default is blank or breaks its own rules; without those that are described as optional or ignored.
[[nodiscard]] std::uint32_t required_members(const ObjectType& type, void* defaults, std::uint32_t scalars);

// "a whole number from 0 to 255": what a value of that type has to be.
[[nodiscard]] std::string_view kind_name(const Type& type) noexcept;

}  // namespace violet::data
