#include "violet/core/call/call.h"

#include "violet/base/ascii.h"
#include "violet/http/target.h"

namespace violet {

Result<void> Call::set_request(std::string_view method, std::string_view target, std::string_view authority,
                               std::string_view scheme) {
  request_.method_text = arena_.copy(method);
  request_.method = http::find_method(method);
  request_.target = arena_.copy(target);
  request_.scheme = arena_.copy(scheme);
  if (!ascii::all_are(target, ascii::kTarget) || !http::split_target(request_)) return fail(ErrorKind::Invalid);
  request_.authority = arena_.copy(authority);
  return {};
}

void Call::start(Stream& stream, Body&& body) {
  VIOLET_ASSERT(stream_ == nullptr && !why_);
  stream_ = &stream;
  if (timeout_ms_ != 0) loop_.timers().arm_after(timer_, timeout_ms_);
  stream.start(request_, std::move(body));
}

void Call::credit(std::size_t n) {
  if (stream_ != nullptr) stream_->credit(n);
}

void Call::cancel(Error why) {
  if (stream_ == nullptr || why_) return;
  why_ = why;
  stream_->reset(why);
}

void Call::on_time_over() noexcept { cancel(Error(ErrorKind::Timeout)); }

// The wire's head lives no longer than this event; ours lives as long as the call.
void Call::keep_response(const http::Head& head) {
  response_.version = head.version;
  response_.status = head.status;
  for (http::Field field : head.fields) {
    field.name = arena_.copy(field.name);
    field.value = arena_.copy(field.value);
    response_.fields.push(field);
  }
}

void Call::on_head(http::Head& head, bool has_body) {
  if (why_) return;
  if (head.status < 200 && head.status != 101) {
    owner_.on_informational(*this, head);
    return;
  }
  keep_response(head);
  owner_.on_response(*this, has_body);
}

void Call::on_data(Slice data) {
  if (!why_) owner_.on_response_data(*this, std::move(data));
}

void Call::on_end(const http::Fields* trailers) {
  if (!why_) owner_.on_response_end(*this, trailers);
}

void Call::on_close(Error why) noexcept {
  timer_.cancel();
  stream_ = nullptr;
  owner_.on_call_closed(*this, why_ ? why_ : why);
}

}  // namespace violet
