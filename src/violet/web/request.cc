#include "violet/web/request.h"

#include "violet/base/ascii.h"
#include "violet/http/target.h"

#include <cstring>

namespace violet {

std::string_view Request::param(std::string_view name) const noexcept {
  const RouteMatch& match = exchange_->match;
  for (std::size_t i = 0; i < match.names.size(); ++i) {
    if (match.names[i] == name) return match.values[i];
  }
  return {};
}

std::optional<std::string_view> Request::query(std::string_view name) const {
  std::string_view rest = raw_query();
  std::string_view key;
  std::string_view value;
  while (web::next_pair(rest, key, value)) {
    const auto decoded = http::decode(key, exchange_->arena(), true);
    if (decoded == name) return http::decode(value, exchange_->arena(), true);
  }
  return std::nullopt;
}

std::optional<std::string_view> Request::cookie(std::string_view name) const noexcept {
  for (const http::Field& field : fields()) {
    if (field.id != http::FieldId::Cookie) continue;
    std::string_view rest = field.value;
    std::string_view key;
    std::string_view value;
    while (web::next_cookie(rest, key, value)) {
      if (key == name) return value;
    }
  }
  return std::nullopt;
}

namespace web {

bool next_pair(std::string_view& rest, std::string_view& name, std::string_view& value) noexcept {
  while (!rest.empty()) {
    const void* mark = std::memchr(rest.data(), '&', rest.size());
    const std::size_t end =
        mark != nullptr ? static_cast<std::size_t>(static_cast<const char*>(mark) - rest.data()) : rest.size();
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(end < rest.size() ? end + 1 : end);
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    name = pair.substr(0, equals);
    value = equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1);
    return true;
  }
  return false;
}

bool next_cookie(std::string_view& rest, std::string_view& name, std::string_view& value) noexcept {
  while (!rest.empty()) {
    const std::size_t end = rest.find(';');
    const std::string_view pair = ascii::trim(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    name = ascii::trim(pair.substr(0, equals));
    value = ascii::trim(pair.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return true;
  }
  return false;
}

}  // namespace web
}  // namespace violet
