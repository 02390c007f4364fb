#pragma once

// Writer: values as JSON (RFC 8259), in one pass, straight into the memory that is sent or kept; no tree and no text in
// between. What a value is made of it learns from its table (data/type.h), so one compiled writer serves all types;
// what is written for each request has a writer of its own (json/typed.h).
//
//   json::StringWriter writer;
//   writer.write(user);
//   std::move(writer).text()              // {"id":7,"name":"ada"}
//
// Texts that are not UTF-8 come out as UTF-8, with U+FFFD for what is ill-formed. Enumerators without a name are
// written as numbers, times beyond the year 9999 as null. Secrets and ignored members are left out.

#include "violet/data/type.h"
#include "violet/data/type_of.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace violet::json {

// What becomes of NaN and the infinities, which JSON does not have.
enum class NonFinite : std::uint8_t { Null, Text, Fail };

class Writer {
 public:
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Writer& non_finite(NonFinite policy) noexcept {
    non_finite_ = policy;
    return *this;
  }

  template <data::Known T>
  Writer& write(const T& value) {
    return write(data::kType<T>, &value);
  }
  Writer& write(const data::Type& type, const void* value) {
    at_ = put(type, value, at_);
    return *this;
  }
  // As it is: punctuation, or JSON that is known to be good.
  Writer& raw(std::string_view json) {
    at_ = put_raw(json, at_);
    return *this;
  }
  // In quotes, escaped.
  Writer& text(std::string_view text) {
    at_ = put_text(text, at_);
    return *this;
  }
  Writer& number(double value) {
    at_ = put_real(value, at_);
    return *this;
  }
  Writer& number(std::int64_t value);
  Writer& number(std::uint64_t value);

  // Something could not be written: a number that is none, by NonFinite::Fail, or nesting beyond kDepthMax.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

  // A structure that holds itself would never end.
  static constexpr int kDepthMax = 512;

 protected:
  Writer() noexcept = default;
  ~Writer() = default;

  // Everything before `at` is written. Returns where to go on, with `end` and at least kRoom bytes to it.
  virtual char* make_room(char* at, char*& end) = 0;
  void begin(char* at, char* end) noexcept {
    at_ = at;
    end_ = end;
  }
  [[nodiscard]] char* at() const noexcept { return at_; }

  static constexpr std::size_t kRoom = 256;
  static constexpr std::size_t kValueRoom = 192;

 private:
  friend class Typed;
  class Elements;

  // Room for `size` <= kRoom bytes.
  char* room(char* at, std::size_t size) {
    return static_cast<std::size_t>(end_ - at) >= size ? at : make_room(at, end_);
  }
  // The usual kinds, inline. REQUIRES: kValueRoom bytes.
  char* put_usual(const data::Type& type, const void* value, char* at);
  char* put(const data::Type& type, const void* value, char* at);
  char* fail_too_deep(char* at);
  char* put_map(const data::MapType& type, const void* map, char* at);
  char* put_form(const data::TextType& type, const void* value, char* at);
  char* put_object(const data::ObjectType& type, const void* object, char* at, std::string_view tag = {},
                   std::string_view tag_value = {});
  char* put_list(const data::ListType& type, const void* list, char* at);
  char* put_variant(const data::VariantType& type, const void* variant, char* at);
  char* put_enum(const data::Type& type, const void* value, char* at);
  char* put_time(const data::Type& type, const void* value, char* at);
  char* put_bytes(std::string_view bytes, char* at);
  char* put_text(std::string_view text, char* at);
  char* put_short_text(const char* from, std::size_t size, char* at);
  char* put_text_with_care(std::string_view text, char* at);
  char* put_raw(std::string_view json, char* at);
  char* put_real(double value, char* at);
  char* put_float(float value, char* at);
  char* put_non_finite(double value, char* at);
  // REQUIRES of these: kScalarRoom bytes.
  static char* put_null(char* at) noexcept;
  static char* put_bool(bool value, char* at) noexcept;
  static char* put_signed(std::int64_t value, char* at) noexcept;
  static char* put_unsigned(std::uint64_t value, char* at) noexcept;
  static constexpr std::size_t kScalarRoom = 24;
  static constexpr std::size_t kRest = 96;  // that put_text() leaves

  char* at_ = nullptr;
  char* end_ = nullptr;
  int depth_ = 0;
  NonFinite non_finite_ = NonFinite::Null;
  bool has_failed_ = false;
};

class StringWriter final : public Writer {
 public:
  StringWriter() { start(); }
  // The writer is done with then.
  [[nodiscard]] std::string text() &&;

 private:
  char* make_room(char* at, char*& end) override;
  void start();
  std::string text_;
};

// JSON of one value. Empty when it cannot be written; see Writer::has_failed().
template <data::Known T>
[[nodiscard]] std::string to_string(const T& value) {
  StringWriter writer;
  writer.write(value);
  return writer.has_failed() ? std::string() : std::move(writer).text();
}

// A type whose values are any JSON, such as nlohmann::json.
struct Dynamic {
  // `json` is one well-formed value, without white space around it.
  bool (*read)(std::string_view json, void* out);
  void (*write)(const void* value, Writer& writer);
};

}  // namespace violet::json
