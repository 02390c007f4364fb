#include "violet/web/content/json.h"

#include "violet/base/ascii.h"
#include "violet/base/log.h"
#include "violet/core/limits.h"
#include "violet/core/site.h"
#include "violet/data/rule/rule.h"
#include "violet/json/block_writer.h"
#include "violet/web/output/json_stream.h"

#include <algorithm>

namespace violet::web {

bool is_json_type(std::string_view content_type) noexcept {
  const std::size_t semicolon = content_type.find(';');
  const std::string_view type = ascii::trim(content_type.substr(0, semicolon));
  if (ascii::equal_folded(type, kJsonType)) return true;
  constexpr std::string_view kSuffix = "+json";  // RFC 6839 §3.1
  return type.size() > kSuffix.size() && ascii::equal_folded(type.substr(type.size() - kSuffix.size()), kSuffix);
}

void bind_json(Binding& binding, const data::Type& type) {
  data::find_defects(
      type, true,
      [](void* to, std::string_view sentence) {
        static_cast<Binding*>(to)->fail("the handler's Json<>: " + std::string(sentence));
      },
      &binding);
}

void admit_json(Fetch& fetch) {
  if (is_json_type(fetch.exchange().request().fields.get(http::FieldId::ContentType))) return;
  fetch.refuse(Error(ErrorKind::Unsupported, 0, 415), "the body has to be application/json");
}

bool fetch_json(Fetch& fetch, json::detail::Get get, void* out, const json::ReadOptions& options) {
  Exchange& exchange = fetch.exchange();
  json::ReadOptions bounded = options;
  bounded.depth_max =
      static_cast<std::uint16_t>(std::min<std::uint64_t>(options.depth_max, exchange.limits().json_depth_max));
  json::SyntaxError syntax;
  if (json::read(exchange.body(), get, out, bounded, fetch.findings(), syntax)) return true;
  if (syntax.what.empty()) return false;
  const std::string where = "line " + std::to_string(syntax.line) + ", column " + std::to_string(syntax.column) + ": ";
  const auto limit = static_cast<std::int32_t>(LimitId::json_depth_max);
  fetch.refuse(syntax.is_too_deep ? Error(ErrorKind::TooLarge, limit, 400) : Error(ErrorKind::Invalid),
               where + std::string(syntax.what));
  return false;
}

Body json_body(Exchange& exchange, json::Put put, const void* value) {
  set_content_type(exchange, kJsonType);
  json::BlockWriter writer(exchange.site().blocks);
  put(writer, value);
  if (writer.has_failed()) [[unlikely]] {
    log(LogLevel::Error, "a result cannot be written as JSON: it is nested too deep");
    exchange.response().status = 500;
    return Slice::literal(R"({"status":500})");
  }
  return writer.take();
}

Slice json_piece(std::string_view before, const data::Type& type, const void* value, std::string_view behind) {
  json::StringWriter writer;
  writer.raw(before).write(type, value).raw(behind);
  if (writer.has_failed()) [[unlikely]] {
    log(LogLevel::Error, "a value of a stream cannot be written as JSON: it is nested too deep");
    return Slice::of(std::string(before).append("null").append(behind));
  }
  return Slice::of(std::move(writer).text());
}

}  // namespace violet::web
