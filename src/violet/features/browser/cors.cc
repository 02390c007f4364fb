#include "violet/features/browser/cors.h"

#include "violet/base/ascii.h"
#include "violet/http/target.h"

#include <algorithm>

namespace violet {
namespace {

using http::FieldId;

constexpr std::string_view kAllowPrivateNetwork = "Access-Control-Allow-Private-Network";
constexpr std::string_view kRequestPrivateNetwork = "Access-Control-Request-Private-Network";

bool has_star(const std::vector<std::string>& list) noexcept { return std::ranges::find(list, "*") != list.end(); }

std::string join(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& member : list) text += (text.empty() ? "" : ", ") + member;
  return text;
}

void add_vary(http::Fields& fields, std::string_view name) {
  if (fields.has_member(FieldId::Vary, "*") || fields.has_member(FieldId::Vary, name)) return;
  fields.push(FieldId::Vary, name);
}

// scheme "://" host [":" port], as browsers write it, a host that may begin with "*.".
bool is_origin_pattern(std::string_view text) noexcept {
  if (text == "*" || text == "null") return true;
  const std::size_t at = text.find("://");
  if (at == 0 || at == std::string_view::npos || !ascii::is_token(text.substr(0, at))) return false;
  std::string_view host = text.substr(at + 3);
  if (host.starts_with("*.")) host.remove_prefix(2);
  return http::is_authority(host, false) && host.find('*') == std::string_view::npos &&
         std::ranges::none_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

// "https://*.a.example" has "https://b.a.example" and "https://c.b.a.example", and nothing whose host only looks like
// it.
bool matches(std::string_view pattern, std::string_view origin) noexcept {
  const std::size_t star = pattern.find("://*.");
  if (star == std::string_view::npos) return pattern == origin;
  const std::string_view scheme = pattern.substr(0, star + 3);
  const std::string_view end = pattern.substr(star + 4);
  if (origin.size() <= scheme.size() + end.size() || !origin.starts_with(scheme) || !origin.ends_with(end))
    return false;
  const std::string_view label = origin.substr(scheme.size(), origin.size() - scheme.size() - end.size());
  if (label.starts_with('.') || label.ends_with('.') || label.find("..") != std::string_view::npos) return false;
  return std::ranges::all_of(label, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

}  // namespace

struct Cors::Policy {
  CorsOptions options;
  bool is_for_all = false;  // every origin gets the same answer
  bool any_method = false;
  bool any_header = false;
  std::string methods;
  std::string headers;
  std::string exposed;
  std::string max_age;

  bool has(std::string_view origin) {
    const auto is_it = [&](const std::string& pattern) { return matches(pattern, origin); };
    if (is_for_all || std::ranges::any_of(options.origins, is_it)) return true;
    return options.allows && options.allows(origin);
  }
  // Methods are compared as they are (Fetch, CORS-preflight fetch); those that need no preflight always go.
  [[nodiscard]] bool has_method(std::string_view method) const noexcept {
    if (any_method) return ascii::is_token(method);  // it is sent back
    return method == "GET" || method == "HEAD" || method == "POST" ||
           std::ranges::find(options.methods, method) != options.methods.end();
  }
  // The first one of the list that may not be sent; "" when all may.
  [[nodiscard]] std::string_view find_wrong_header(std::string_view list) const noexcept;

  void allow_origin(http::Fields& fields, std::string_view origin) const {
    fields.push(FieldId::AccessControlAllowOrigin, is_for_all ? "*" : origin);
    if (options.credentials) fields.push(FieldId::AccessControlAllowCredentials, "true");
  }
  Verdict answer_preflight(Exchange& exchange, std::string_view origin);
  void refuse(Exchange& exchange, std::string_view what, std::string_view value) const {
    const std::string detail = "CORS: " + std::string(what) + " is not allowed: " + std::string(value);
    exchange.refuse(Error(ErrorKind::Invalid, 0, 403), exchange.arena().copy(detail));
  }
};

std::string_view Cors::Policy::find_wrong_header(std::string_view list) const noexcept {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = ascii::trim(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (name.empty()) continue;
    const auto is_name = [&](const std::string& allowed) { return ascii::equal_folded(allowed, name); };
    if (any_header ? !ascii::is_token(name) : std::ranges::none_of(options.headers, is_name)) return name;
  }
  return {};
}

Verdict Cors::Policy::answer_preflight(Exchange& exchange, std::string_view origin) {
  const http::Fields& asked = exchange.request().fields;
  const std::string_view method = asked.get(FieldId::AccessControlRequestMethod);
  const std::string_view list = asked.get(FieldId::AccessControlRequestHeaders);
  const std::string_view wrong_header = find_wrong_header(list);
  http::Fields& fields = exchange.response().fields;
  if (!has(origin)) {
    refuse(exchange, "the origin", origin);
  } else if (!has_method(method)) {
    refuse(exchange, "the method", method);
  } else if (!wrong_header.empty()) {
    refuse(exchange, "the field", wrong_header);
  } else {
    exchange.response().status = 204;
    allow_origin(fields, origin);
    fields.push(FieldId::AccessControlAllowMethods, any_method ? method : std::string_view(methods));
    // An answer for everything is as long as the question: "*" would not hold with credentials.
    if (const std::string_view allowed = any_header ? list : std::string_view(headers); !allowed.empty()) {
      fields.push(FieldId::AccessControlAllowHeaders, allowed);
    }
    if (!max_age.empty()) fields.push(FieldId::AccessControlMaxAge, max_age);
    if (options.private_network && asked.get(kRequestPrivateNetwork) == "true") {
      fields.push({.name = kAllowPrivateNetwork, .value = "true"});
    }
    exchange.reply();
  }
  return Verdict::Answered;
}

Cors::Cors(CorsOptions options) : policy_(std::make_shared<Policy>()) {
  Policy& policy = *policy_;
  policy.is_for_all = has_star(options.origins);
  policy.any_method = has_star(options.methods);
  policy.any_header = has_star(options.headers);
  policy.methods = join(options.methods);
  policy.headers = join(options.headers);
  policy.exposed = join(options.exposed);
  if (options.max_age_s) policy.max_age = std::to_string(*options.max_age_s);
  policy.options = std::move(options);
}

void Cors::bind(web::Binding& binding) const {
  const CorsOptions& options = policy_->options;
  for (const std::string& origin : options.origins) {
    if (is_origin_pattern(origin)) continue;
    binding.fail(
        "cors: \"" + origin +
        "\" is no origin: \"https://a.example:8443\", \"https://*.a.example\", in small letters, with no path");
  }
  for (const auto* list : {&options.methods, &options.headers, &options.exposed}) {
    for (const std::string& name : *list) {
      if (!ascii::is_token(name)) binding.fail("cors: \"" + name + "\" is no method or field name");
    }
  }
  if (options.origins.empty() && !options.allows) binding.fail("cors: no origin is given");
  // A browser takes "*" for a name then (Fetch, CORS check), and a server that echoed every origin would hand the
  // user's own data to any page.
  if (options.credentials && policy_->is_for_all) binding.fail("cors: credentials need origins by name, not \"*\"");
  if (options.credentials && has_star(options.exposed)) {
    binding.fail("cors: credentials need exposed fields by name, not \"*\"");
  }
}

Verdict Cors::on_request(Exchange& exchange) const {
  const http::Head& head = exchange.request();
  if (head.method != http::Method::Options) return Verdict::Continue;
  const std::string_view origin = head.fields.get(FieldId::Origin);
  if (origin.empty() || !head.fields.has(FieldId::AccessControlRequestMethod)) return Verdict::Continue;
  return policy_->answer_preflight(exchange, origin);
}

void Cors::on_reply(Exchange& exchange, http::Head& head, Body&) const {
  Policy& policy = *policy_;
  const http::Fields& asked = exchange.request().fields;
  const std::string_view origin = asked.get(FieldId::Origin);
  const bool is_preflight =
      exchange.request().method == http::Method::Options && asked.has(FieldId::AccessControlRequestMethod);
  if (!policy.is_for_all) add_vary(head.fields, "Origin");
  if (is_preflight) {
    add_vary(head.fields, http::name(FieldId::AccessControlRequestMethod));
    add_vary(head.fields, http::name(FieldId::AccessControlRequestHeaders));
    return;
  }
  if (origin.empty() || head.fields.has(FieldId::AccessControlAllowOrigin) || !policy.has(origin)) return;
  policy.allow_origin(head.fields, origin);
  if (!policy.exposed.empty()) head.fields.push(FieldId::AccessControlExposeHeaders, policy.exposed);
}

}  // namespace violet
