#include "violet/web/page/dev_page.h"

#include "violet/base/ascii.h"
#include "violet/base/error.h"
#include "violet/data/findings.h"
#include "violet/web/endpoint.h"
#include "violet/web/error_pages.h"
#include "violet/web/output/respond.h"
#include "violet/web/page/html.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <typeinfo>
#include <vector>

namespace violet::web {
namespace {

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark;--line:#8884;--bad:#b3261e;--soft:#6d3bd218;--accent:#6d3bd2}"
    "@media(prefers-color-scheme:dark){:root{--bad:#ff8f87;--accent:#b794ff}}"
    "body{margin:0 auto;max-width:62rem;padding:2rem 1.25rem 4rem;font:1rem/1.5 system-ui,sans-serif}"
    "h1{margin:0;font-size:1.7rem}h2{margin:2rem 0 .5rem;font-size:1rem}p{margin:.4rem 0}"
    ".thrown{padding:.8rem 1rem;border-left:4px solid "
    "var(--bad);background:var(--soft);font-family:ui-monospace,monospace;"
    "white-space:pre-wrap;overflow-wrap:anywhere}.type,.quiet{opacity:.7}.bad{color:var(--bad)}"
    "table{border-collapse:collapse;width:100%}th,td{padding:.25rem .75rem .25rem 0;border-top:1px solid var(--line);"
    "text-align:left;vertical-align:top;overflow-wrap:anywhere}th{font-weight:600;width:11rem}"
    "pre{margin:.5rem 0;padding:.6rem 0;border:1px solid var(--line);border-radius:8px;overflow:auto;line-height:1.45}"
    "pre span{display:block;padding:0 1rem}pre .here{background:var(--soft);box-shadow:inset 3px 0 var(--accent)}";

constexpr unsigned kLinesAround = 5;
constexpr int kCausesMax = 16;
constexpr int kLevelsMax = 4;

class Html {
 public:
  Html& raw(std::string_view markup) {
    text_ += markup;
    return *this;
  }
  Html& text(std::string_view text) {
    append_html(text_, text);
    return *this;
  }
  Html& row(std::string_view name, std::string_view value) {
    return raw("<tr><th scope=row>").text(name).raw("<td>").text(value);
  }
  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string type_name(const std::type_info* type) {
  if (type == nullptr) return "something";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                    &std::free);
  std::string text = status == 0 ? name.get() : type->name();
  // What std::throw_with_nested makes of a type.
  constexpr std::string_view kNested = "std::_Nested_exception<";
  return text.starts_with(kNested) ? text.substr(kNested.size(), text.size() - kNested.size() - 1) : text;
}

std::exception_ptr cause_of(const std::exception& exception) {
  const auto* const nested = dynamic_cast<const std::nested_exception*>(&exception);
  return nested != nullptr ? nested->nested_ptr() : nullptr;
}

// What was thrown, and what it was thrown for (std::throw_with_nested).
void write_thrown(Html& html, std::exception_ptr exception) {
  for (int i = 0; exception != nullptr && i < kCausesMax; ++i) {
    html.raw(i == 0 ? "<h2>Thrown</h2>" : "<p class=quiet>because of</p>").raw("<p class=thrown><span class=type>");
    std::exception_ptr cause;
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& thrown) {
      html.text(type_name(&typeid(thrown))).raw("</span>\n").text(thrown.what());
      cause = cause_of(thrown);
    } catch (...) {
      html.text(type_name(abi::__cxa_current_exception_type())).raw("</span>");
    }
    html.raw("</p>");
    exception = cause;
  }
}

void write_findings(Html& html, std::span<const data::Finding> findings) {
  if (findings.empty()) return;
  html.raw("<h2>Wrong in the request</h2><table>");
  for (const data::Finding& finding : findings) {
    html.row(std::string(data::name(finding.part)) + " " + std::string(finding.where), finding.what);
  }
  html.raw("</table>");
}

// A source as the compiler was told of it: from here, or from a folder that the program was built in.
std::ifstream open_source(const char* name) {
  std::ifstream file(name);
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (int level = 0; !file && level < kLevelsMax && folder.has_relative_path(); ++level) {
    file.open(folder / name);
    folder = folder.parent_path();
  }
  return file;
}

// The lines around one, where its file is there.
void write_lines(Html& html, const std::source_location& where) {
  std::ifstream file = open_source(where.file_name());
  if (!file) return;
  html.raw("<pre><code>");
  std::string line;
  for (unsigned number = 1; number <= where.line() + kLinesAround && std::getline(file, line); ++number) {
    if (number + kLinesAround < where.line()) continue;
    html.raw(number == where.line() ? "<span class=here>" : "<span>").text(std::to_string(number) + "  " + line);
    html.raw("</span>");
  }
  html.raw("</code></pre>");
}

// The one that was taken; nullptr: none was.
const RouteInfo* find_route(const Exchange& exchange, std::span<const RouteInfo> routes) {
  const http::Method asked = exchange.request().method;
  const auto find = [&](auto&& fits) {
    const auto at = std::find_if(routes.begin(), routes.end(), [&](const RouteInfo& route) {
      return route.pattern == exchange.match.pattern && fits(route);
    });
    return at != routes.end() ? &*at : nullptr;
  };
  const RouteInfo* route = find([&](const RouteInfo& one) { return !one.is_any && one.method == asked; });
  if (route == nullptr && asked == http::Method::Head) {
    route = find([](const RouteInfo& one) { return !one.is_any && one.method == http::Method::Get; });
  }
  return route != nullptr ? route : find([](const RouteInfo& one) { return one.is_any; });
}

void write_route(Html& html, const RouteInfo& route) {
  html.raw("<h2>Route</h2><table>");
  html.row(route.is_any ? "any method" : http::name(route.method), route.pattern);
  html.row("source", to_string(route.where));
  for (const RouteInfo::Hook& hook : route.hooks) {
    html.row("middleware", std::string(hook.name) + (hook.name.empty() ? "" : ", ") + to_string(hook.where));
  }
  html.raw("</table>");
  write_lines(html, route.where);
}

bool is_secret(std::string_view name) noexcept {
  constexpr std::string_view kSecret[] = {"Authorization", "Proxy-Authorization", "Cookie", "X-API-Key"};
  return std::any_of(std::begin(kSecret), std::end(kSecret),
                     [&](std::string_view one) { return ascii::equal_folded(one, name); });
}

void write_request(Html& html, const Request& request) {
  html.raw("<h2>Request</h2><table>");
  std::string target(request.path());
  if (!request.raw_query().empty()) target.append("?").append(request.raw_query());
  html.row(request.method_text(), target);
  html.row("version", http::name(request.version())).row("from", request.peer().to_string());
  for (const http::Field& field : request.fields()) {
    html.row(field.name, is_secret(field.name) ? "… (not shown)" : field.value);
  }
  html.raw("</table>");
}

void write_summary(Html& html, const Exchange& exchange, const ErrorInfo& error) {
  const std::string title = std::to_string(error.status()) + " " + std::string(error.reason());
  html.raw("<!doctype html><html lang=en><meta charset=utf-8>");
  html.raw("<meta name=viewport content=\"width=device-width, initial-scale=1\"><title>").text(title);
  html.raw("</title><style>").raw(kStyle).raw("</style><h1 class=bad>").text(title).raw("</h1>");
  if (!error.detail().empty()) html.raw("<p>").text(error.detail()).raw("</p>");
  html.raw("<table>");
  if (!error.limit().empty()) html.row(error.limit(), std::to_string(error.limit_value()));
  if (!error.hint().empty()) html.row("hint", error.hint());
  if (!error.id().empty()) html.row("error id", error.id());
  if (!exchange.request_id.empty()) html.row("request id", exchange.request_id);
  const std::string_view trace = exchange.request().fields.get("traceparent");
  if (!trace.empty()) html.row("trace", trace);
  html.raw("</table>");
}

}  // namespace

bool wants_html(const Exchange& exchange) noexcept {
  for (const http::Field& field : exchange.request().fields) {
    if (field.id == http::FieldId::Accept && field.value.find("text/html") != std::string_view::npos) return true;
  }
  return false;
}

Body dev_page(Exchange& exchange, const ErrorInfo& error, const std::exception_ptr& exception,
              std::span<const RouteInfo> routes) {
  Html html;
  write_summary(html, exchange, error);
  write_thrown(html, exception);
  write_findings(html, error.findings());
  if (const RouteInfo* route = find_route(exchange, routes); route != nullptr) write_route(html, *route);
  write_request(html, error.request());
  html.raw("<p class=quiet>Only in development: app.dev(true), or VIOLET_ENV=dev.</p></html>\n");
  set_content_type(exchange, "text/html; charset=utf-8");
  return Slice::of(std::move(html).take());
}

}  // namespace violet::web
