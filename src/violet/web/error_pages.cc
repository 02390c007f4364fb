#include "violet/web/error_pages.h"

#include "violet/base/log.h"
#include "violet/core/limits.h"
#include "violet/http/status.h"
#include "violet/web/content/problem.h"
#include "violet/web/output/respond.h"
#include "violet/web/page/dev_page.h"

namespace violet {
namespace {

LimitId limit_of(Error error) noexcept {
  const bool has_limit = error.kind() == ErrorKind::TooLarge || error.kind() == ErrorKind::Timeout;
  return has_limit ? static_cast<LimitId>(error.detail()) : LimitId::None;
}

std::string_view hint_for(LimitId limit) noexcept {
  switch (limit) {
    case LimitId::None: return {};
    case LimitId::body_bytes_max: return "raised by body_max() of the route, or app.limits()";
    case LimitId::handler_ms: return "raised by handler_ms() of the route, or app.limits()";
    default: return "raised by app.limits()";
  }
}

}  // namespace

std::string_view ErrorInfo::reason() const noexcept { return http::reason(status_); }
std::string_view ErrorInfo::limit() const noexcept { return name(limit_of(error_)); }
std::uint64_t ErrorInfo::limit_value() const noexcept { return request_.exchange().limit_value(limit_of(error_)); }

std::string ErrorInfo::to_string() const {
  std::string text = std::to_string(status_) + " ";
  text.append(reason()).append("\n");
  if (!detail_.empty()) text.append(detail_).append("\n");
  if (!limit().empty()) {
    text.append("limit ").append(limit()).append(" = ").append(std::to_string(limit_value())).append("\n");
  }
  if (!hint_.empty()) text.append(hint_).append("\n");
  if (!id_.empty()) text.append("error id ").append(id_).append("\n");
  if (!exception_.empty()) text.append(exception_).append("\n");
  return text;
}

ErrorPages::ErrorPages() = default;
ErrorPages::~ErrorPages() = default;

void ErrorPages::set_routes(std::vector<web::RouteInfo> routes) { routes_ = std::move(routes); }

Body ErrorPages::render(Exchange& exchange, Error why, const std::exception_ptr& exception, std::string_view id) {
  ErrorInfo info(exchange);
  info.status_ = exchange.response().status;
  info.error_ = why;
  info.detail_ = exchange.refusal_detail();
  info.id_ = id;
  if (is_dev_) {
    info.exception_ = message(exception);
    info.hint_ = hint_for(limit_of(why));
  }
  Body body;
  if (hook_ && run_hook(exchange, info, body)) return body;
  if (is_dev_ && web::wants_html(exchange)) return web::dev_page(exchange, info, exception, routes_);
  if (exchange.findings != nullptr || web::speaks_json(exchange)) return web::problem_body(exchange, info);
  web::set_content_type(exchange, web::kPlainText);
  return Slice::borrowed(exchange.arena().copy(info.to_string()));
}

// False when the hook did not give something that can be sent.
bool ErrorPages::run_hook(Exchange& exchange, const ErrorInfo& info, Body& out) noexcept {
  try {
    Reply reply = hook_(info);
    if (reply.defect().empty()) {
      if (!reply.has_status()) reply.status(static_cast<Status>(info.status()));
      out = reply.write(exchange);
      // The reply ends here, and what the body borrowed from it.
      out.chain().make_owned();
      return true;
    }
    log(LogLevel::Error, "the error page cannot be sent: field " + reply.defect());
  } catch (const std::exception& e) {
    log(LogLevel::Error, std::string("the hook for error pages failed: ") + e.what());
  } catch (...) {
    log(LogLevel::Error, "the hook for error pages failed");
  }
  return false;
}

}  // namespace violet
