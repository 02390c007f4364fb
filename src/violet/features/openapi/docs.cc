#include "violet/features/openapi/docs.h"

#include "violet/features/openapi/assets.h"
#include "violet/features/openapi/write/document.h"
#include "violet/http/value/condition.h"
#include "violet/web/page/html.h"

#include <charconv>
#include <cstdint>

namespace violet {
namespace {

std::string_view type_of(std::string_view name) noexcept {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/javascript; charset=utf-8";
}

std::string etag_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char digits[16];
  const char* end = std::to_chars(digits, digits + sizeof digits, hash, 16).ptr;
  return '"' + std::string(digits, static_cast<std::size_t>(end - digits)) + '"';
}

std::string html_of(std::string_view text) {
  std::string out;
  web::append_html(out, text);
  return out;
}

std::string replace_all(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// "https://api.example.org" of "https://api.example.org/v1", "" of a path.
std::string_view origin_of(std::string_view url) noexcept {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  return url.substr(0, url.find('/', scheme + 3));
}

bool is_plain(std::string_view origin) noexcept {
  return origin.find_first_of(" ;,'\"\r\n{") == std::string_view::npos;
}

}  // namespace

// One page from memory.
class Docs::PageHandler final : public web::Handler {
 public:
  PageHandler(const Page& page, const std::string& policy) noexcept : page_(page), policy_(policy) {}
  void bind(web::Binding&) override {}
  void run(Exchange& exchange) override {
    http::Head& head = exchange.response();
    head.fields.push(http::FieldId::ETag, page_.etag);
    head.fields.push(http::FieldId::CacheControl, "no-cache");
    head.fields.push(http::FieldId::ContentSecurityPolicy, policy_);
    head.fields.push(http::FieldId::XContentTypeOptions, "nosniff");
    const http::Head& request = exchange.request();
    const http::Validators current{.etag = page_.etag, .last_modified = {}};
    if (http::evaluate(request.fields, request.method, current, 0) == http::Condition::NotModified) {
      head.status = 304;
      exchange.reply();
      return;
    }
    head.fields.push(http::FieldId::ContentType, page_.type);
    // The page lives as long as the routes do.
    exchange.reply(Slice::literal(page_.text));
  }

 private:
  const Page& page_;
  const std::string& policy_;
};

// "/docs/" is where people end who type it; the page's own links begin at "/docs". Relative, as they are.
class Docs::SlashHandler final : public web::Handler {
 public:
  explicit SlashHandler(std::string to) : to_(std::move(to)) {}
  void bind(web::Binding&) override {}
  void run(Exchange& exchange) override {
    exchange.response().status = 308;
    exchange.response().fields.push(http::FieldId::Location, to_);
    exchange.reply();
  }

 private:
  std::string to_;
};

Docs::Docs(Routes& routes, std::string_view prefix, DocsOptions options, const web::Where& where)
    : options_(std::move(options)), policy_(policy()) {
  std::string base(prefix);
  if (base.ends_with('/')) base.pop_back();
  document_.type = "application/json";
  add(routes, base + "/openapi.json", document_, where);
  if (options_.has_viewer) add_viewer(routes, base, where);
}

void Docs::add(Routes& routes, const std::string& path, Page& page, const web::Where& where) {
  routes.handle(http::Method::Get, path, new PageHandler(page, policy_), where).hidden();
}

void Docs::add_viewer(Routes& routes, const std::string& prefix, const web::Where& where) {
  // Relative, so that the page also works behind a proxy that puts something before its path.
  const std::string folder = prefix.substr(prefix.rfind('/') + 1);
  if (!folder.empty()) {
    routes.handle(http::Method::Get, prefix + "/", new SlashHandler("../" + folder), where).hidden();
  }
  for (const openapi::Asset& asset : openapi::assets()) {
    Page& page = pages_.emplace_back();
    page.type = type_of(asset.name);
    const bool is_index = asset.name == "index.html";
    std::string text(asset.text);
    if (is_index) {
      text = replace_all(std::move(text), "{{base}}", folder.empty() ? "" : html_of(folder) + "/");
      text = replace_all(std::move(text), "{{title}}", html_of(options_.title));
    }
    fill(page, std::move(text));
    add(routes, is_index ? (prefix.empty() ? "/" : prefix) : prefix + "/" + std::string(asset.name), page, where);
  }
}

void Docs::fill(Page& page, std::string text) {
  page.text = std::move(text);
  page.etag = etag_of(page.text);
}

std::string Docs::policy() const {
  // Requests go to where the page comes from, and to the servers that the document names.
  std::string text =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'";
  for (const auto& server : options_.servers) {
    const std::string_view origin = origin_of(server.url);
    if (!origin.empty() && is_plain(origin)) text.append(" ").append(origin);
  }
  return text + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

std::vector<std::string> Docs::build(std::span<const web::RouteInfo> routes) {
  std::vector<std::string> errors;
  fill(document_, openapi::write_document(routes, options_, errors));
  return errors;
}

}  // namespace violet
