#pragma once

// JsonText: JSON written member by member, the commas set by themselves.
//
//   JsonText out;
//   out.open('{').key("openapi").text("3.1.1").key("tags").open('[').close(']').close('}');

#include "violet/json/writer.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace violet::openapi {

class JsonText {
 public:
  // '{' or '['.
  JsonText& open(char bracket) {
    separate();
    writer_.raw({&bracket, 1});
    needs_comma_ = false;
    return *this;
  }
  JsonText& close(char bracket) {
    writer_.raw({&bracket, 1});
    needs_comma_ = true;
    return *this;
  }
  JsonText& key(std::string_view name) {
    separate();
    json().text(name).raw(":");
    needs_comma_ = false;
    return *this;
  }
  JsonText& text(std::string_view value) {
    separate();
    json().text(value);
    return *this;
  }
  JsonText& boolean(bool value) { return raw(value ? "true" : "false"); }
  JsonText& number(std::int64_t value) {
    separate();
    writer_.number(value);
    return *this;
  }
  JsonText& real(double value) {
    separate();
    writer_.number(value);
    return *this;
  }
  JsonText& value(const data::Type& type, const void* of) {
    separate();
    writer_.write(type, of);
    return *this;
  }
  // JSON that is known to be good.
  JsonText& raw(std::string_view json) {
    separate();
    writer_.raw(json);
    return *this;
  }
  // "key":"text", unless the text is empty.
  JsonText& note(std::string_view name, std::string_view value) {
    if (!value.empty()) key(name).text(value);
    return *this;
  }
  // {"$ref":"…"}
  JsonText& reference(std::string_view to) { return open('{').key("$ref").text(to).close('}'); }

  [[nodiscard]] std::string take() && { return std::move(writer_).text(); }

 private:
  // The writer, whose text() StringWriter hides.
  json::Writer& json() noexcept { return writer_; }
  void separate() {
    if (needs_comma_) writer_.raw(",");
    needs_comma_ = true;
  }

  json::StringWriter writer_;
  bool needs_comma_ = false;
};

}  // namespace violet::openapi
