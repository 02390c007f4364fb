#pragma once

// Rule: one condition on a value, as data, so that the same rule is checked, explained in an answer and documented in a
// schema. data/rule/checked.h has the types that carry rules; Rules is what a struct's own rules() is given.

#include "violet/data/literal.h"
#include "violet/data/rule/pattern.h"
#include "violet/data/type.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace violet::data {

struct Rule {
  enum class Kind : std::uint8_t {
    Length,     // characters of a text, items of a list or map: min to max
    Range,      // whole numbers: min to max
    RealRange,  // numbers: real_min to real_max
    Pattern,    // a text in which `text` is found
    Email,
    Url,     // http or https
    Uuid,    // RFC 9562, with hyphens
    Unique,  // no two items are equal
    Custom,  // `text` says what the value has to be
  };
  Kind kind;
  std::int64_t min = 0;
  std::int64_t max = 0;
  double real_min = 0;
  double real_max = 0;
  std::string_view text = {};
  const Pattern& (*pattern)() = nullptr;
  bool (*holds)(const void* value) = nullptr;  // Unique, Custom

  static constexpr std::int64_t kNoMax = INT64_MAX;
};

[[nodiscard]] bool holds(const Rule& rule, const Type& type, const void* value);
// "has to have 1 to 80 characters"
[[nodiscard]] std::string describe(const Rule& rule, const Type& type);

template <Literal text>
const Pattern& pattern_of() {
  static const Pattern pattern(text.text());
  return pattern;
}

// What is wrong with the tables themselves: a pattern that is none, a type that cannot be read where `is_read`. One
// sentence each goes to `report`; asked when listening starts.
void find_defects(const Type& type, bool is_read, void (*report)(void* to, std::string_view sentence), void* to);

// What an object's own rules() says:
//
//   struct Booking {
//     Date from; Date until; int guests;
//     void rules(violet::Rules& rules) const {
//       rules.of(guests).range(1, 12);
//       rules.check(from < until, "until", "has to be after from");
//     }
//   };
class Rules {
 public:
  // One rule of one member; each call checks it.
  class Of {
   public:
    Of& length(std::size_t min, std::size_t max) {
      return add(
          {.kind = Rule::Kind::Length, .min = static_cast<std::int64_t>(min), .max = static_cast<std::int64_t>(max)});
    }
    Of& range(std::int64_t min, std::int64_t max) { return add({.kind = Rule::Kind::Range, .min = min, .max = max}); }
    Of& not_empty() { return add({.kind = Rule::Kind::Length, .min = 1, .max = Rule::kNoMax}); }
    Of& email() { return add({.kind = Rule::Kind::Email}); }
    Of& url() { return add({.kind = Rule::Kind::Url}); }
    Of& uuid() { return add({.kind = Rule::Kind::Uuid}); }
    template <Literal text>
    Of& pattern() {
      return add({.kind = Rule::Kind::Pattern, .text = text.text(), .pattern = &pattern_of<text>});
    }

   private:
    friend class Rules;
    Of(Rules& rules, const void* member) noexcept : rules_(rules), member_(member) {}
    Of& add(const Rule& rule);
    Rules& rules_;
    const void* member_;
  };

  // `member` is one of the object's own.
  template <class M>
  [[nodiscard]] Of of(const M& member) noexcept {
    return Of(*this, &member);
  }
  // A condition on several members, told of as one about `member`; "" for the object as a whole.
  void check(bool holds, std::string_view member, std::string_view what) {
    if (!holds) report_(to_, member, what);
  }

  using Report = void (*)(void* to, std::string_view member, std::string_view what);
  Rules(const ObjectType& type, const void* object, Report report, void* to) noexcept
      : type_(type), object_(object), report_(report), to_(to) {}

 private:
  const ObjectType& type_;
  const void* object_;
  Report report_;
  void* to_;
};

// Used by rules and by those who show values.
[[nodiscard]] std::size_t count_of(const Type& type, const void* list_or_map);
[[nodiscard]] std::string_view text_of(const Type& type, const void* text) noexcept;

}  // namespace violet::data

namespace violet {
using data::Rules;
}  // namespace violet
