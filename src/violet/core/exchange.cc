#include "violet/core/exchange.h"

#include "violet/base/ascii.h"
#include "violet/base/log.h"
#include "violet/core/limits.h"
#include "violet/core/site.h"
#include "violet/http/status.h"

#include <cstring>
#include <string>

namespace violet {
namespace {

Error limit_error(LimitId id, int status) {
  return Error(ErrorKind::TooLarge, static_cast<std::int32_t>(id), static_cast<std::uint16_t>(status));
}

// "413 Content Too Large", and for a limit its name and value, so that whoever is hit knows what to ask for.
Body plain_page(Exchange& exchange, Error why, std::string_view id) {
  std::string text = std::to_string(exchange.response().status) + " ";
  text += http::reason(exchange.response().status);
  text += '\n';
  const auto limit = static_cast<LimitId>(why.detail());
  if ((why.kind() == ErrorKind::TooLarge || why.kind() == ErrorKind::Timeout) && limit != LimitId::None) {
    text.append("limit ").append(name(limit)).append(" = ");
    text.append(std::to_string(exchange.limit_value(limit))).append("\n");
  }
  if (!exchange.refusal_detail().empty()) text.append(exchange.refusal_detail()).append("\n");
  if (!id.empty()) text.append("error id ").append(id).append("\n");
  exchange.response().fields.push(http::FieldId::ContentType, "text/plain; charset=utf-8");
  return Body(Slice::borrowed(exchange.arena().copy(text)));
}

}  // namespace

Exchange::Exchange(Site& site) noexcept
    : site_(&site),
      arena_(first_, sizeof first_),
      request_(arena_, reinterpret_cast<http::Field*>(request_fields_), kRequestFields),
      response_(arena_, reinterpret_cast<http::Field*>(response_fields_), kResponseFields) {}

Loop& Exchange::loop() noexcept { return site_->loop; }
const Limits& Exchange::limits() const noexcept { return site_->limits; }

const Connection& Exchange::connection() const noexcept {
  if (stream_ != nullptr) return stream_->connection();
  static const Connection kGone;
  return kGone;
}

void Exchange::open(Stream& stream) noexcept {
  stream_ = &stream;
  count_ = 1;
  context = nullptr;
  handler_ms_ = site_->limits.handler_ms;
  body_limit_ = site_->limits.body_bytes_max;
  response_.status = 200;
}

// Back to how open() wants it. Only what one exchange may have changed is touched.
void Exchange::reset() noexcept {
  VIOLET_ASSERT(count_ == 0 && stream_ == nullptr);
  cancel_hooks_.clear();
  if (is_task_used_) task_.reset();
  if (has_body_) {
    body_bytes_ = 0;
    body_ = {};
    body_capacity_ = 0;
    body_slice_ = {};
    pending_.clear();
    trailers_ = nullptr;
    if (BodyStage* const stage = std::exchange(stage_, nullptr); stage != nullptr) stage->dispose();
  }
  waiter_ = nullptr;
  sink_ = nullptr;
  rewind();
}

bool Exchange::reopen() noexcept {
  if (count_ != 1 || has_body_ || is_task_used_ || waiter_ != nullptr || sink_ != nullptr ||
      !cancel_hooks_.is_empty()) {
    return false;
  }
  rewind();
  open(*stream_);
  return true;
}

// What every exchange leaves behind.
void Exchange::rewind() noexcept {
  deadline_.cancel();
  request_.clear();
  body_mode_ = BodyMode::Undecided;
  has_body_ = is_answered_ = is_body_ended_ = is_body_started_ = is_pinned_ = wants_continue_ = is_task_used_ = false;
  refusal_detail_ = {};
  findings = nullptr;
  cache_tag = {};
  request_id = {};
  client_ = nullptr;
  notes_ = nullptr;
  timeout_status_ = kTimeoutStatus;
  answer_end_ms_ = 0;
  match = {};
  request_.fields.reset(reinterpret_cast<http::Field*>(request_fields_), kRequestFields);
  response_.fields.reset(reinterpret_cast<http::Field*>(response_fields_), kResponseFields);
  arena_.reset();
}

void Exchange::release() noexcept {
  VIOLET_ASSERT(count_ > 0);
  if (--count_ == 0) site_->exchanges.close(*this);
}

// --- from the wire

void Exchange::on_head(http::Head& head, bool has_body) {
  VIOLET_ASSERT(&head == &request_);
  has_body_ = has_body;
  ++site_->counters.requests;
  if (const http::Field* expect = head.fields.find(http::FieldId::Expect); expect != nullptr) [[unlikely]] {
    // RFC 9110 §10.1.1: 100-continue is the only expectation; an HTTP/1.0 client's is ignored.
    if (head.version != http::Version::Http10) {
      if (!ascii::equal_folded(expect->value, "100-continue")) {
        guard([this] { refuse(Error(ErrorKind::Unsupported, 0, 417)); });
        return;
      }
      wants_continue_ = has_body;
    }
  }
  retain();
  guard([this] { site_->service.serve(*this); });
  if (!is_answered_ && stream_ != nullptr && !is_waiting()) {
    log(LogLevel::Error, "a handler returned without an answer and without holding its exchange");
    guard([this] { refuse(Error(ErrorKind::Handler)); });
  }
  release();
}

bool Exchange::is_waiting() const noexcept {
  // Two counts are the stream's and on_head's own.
  return count_ > 2 || waiter_ != nullptr || sink_ != nullptr || task_.is_active();
}

void Exchange::on_data(Slice data) {
  if (stage_ != nullptr) [[unlikely]] {
    stage_->on_data(std::move(data));
  } else {
    take_data(std::move(data));
  }
}

void Exchange::take_data(Slice data) {
  body_bytes_ += data.size();
  if (body_mode_ == BodyMode::Discard) {
    credit(data.size());
    return;
  }
  if (body_bytes_ > body_limit_) {
    fail_body(limit_error(LimitId::body_bytes_max, 413));
    return;
  }
  switch (body_mode_) {
    case BodyMode::Undecided: pending_.append(std::move(data)); break;
    case BodyMode::Collect: {
      const std::size_t size = data.size();
      if (body_.empty()) {
        // A body in one piece stays where it was received.
        body_slice_ = std::move(data).owned();
        body_ = body_slice_.text();
      } else {
        gather(data.text());
      }
      credit(size);
      break;
    }
    case BodyMode::Sink: guard([&] { sink_->on_body_data(*this, std::move(data)); }); break;
    case BodyMode::Discard: break;
  }
}

void Exchange::on_end(const http::Fields* trailers) {
  if (stage_ != nullptr) [[unlikely]] {
    stage_->on_end(trailers);
  } else {
    take_end(trailers);
  }
}

void Exchange::take_end(const http::Fields* trailers) {
  is_body_ended_ = true;
  if (trailers != nullptr && !trailers->is_empty()) {
    auto* copy = arena_.make<http::Fields>(arena_);
    copy->push_copies(*trailers);
    trailers_ = copy;
  }
  if (waiter_ != nullptr || sink_ != nullptr) finish_body();
}

void Exchange::on_close(Error why) noexcept {
  stream_ = nullptr;
  deadline_.cancel();
  if (waiter_ != nullptr || sink_ != nullptr || is_task_used_ || !cancel_hooks_.is_empty()) [[unlikely]] {
    const Error reason = why ? why : Error(ErrorKind::Closed);
    waiter_ = nullptr;
    // Hooks before the one who reads: what it answers, on hearing of the end, nobody will get.
    while (CancelHook* hook = cancel_hooks_.pop_front()) hook->on_cancel(reason);
    if (BodySink* sink = std::exchange(sink_, nullptr); sink != nullptr) sink->on_body_error(*this, reason);
    if (task_.is_active()) task_.stop(reason);
  }
  release();
}

// --- the body

// Somebody wants the body: the client may send it (RFC 9110 §10.1.1). False when its declared length is beyond the
// limit: it is refused before it is asked for.
bool Exchange::begin_body() {
  if (is_body_started_) return true;
  is_body_started_ = true;
  if (const auto length = ascii::to_number<std::uint64_t>(request_.fields.get(http::FieldId::ContentLength));
      length && *length > body_limit_) {
    fail_body(limit_error(LimitId::body_bytes_max, 413));
    return false;
  }
  if (wants_continue_ && body_bytes_ == 0 && !is_body_ended_ && stream_ != nullptr && !is_answered_) {
    http::Head head(arena_);
    head.status = 100;
    stream_->inform(head);
  }
  return true;
}

void Exchange::collect(BodyWaiter& waiter) {
  VIOLET_ASSERT(body_mode_ == BodyMode::Undecided);
  body_mode_ = BodyMode::Collect;
  waiter_ = &waiter;
  if (!has_body_ || stream_ == nullptr) {
    finish_body();
    return;
  }
  if (!begin_body()) return;
  const std::size_t size = pending_.size();
  while (!pending_.is_empty()) {
    Slice slice = pending_.pop_front();
    if (body_.empty() && pending_.is_empty()) {
      body_slice_ = std::move(slice).owned();
      body_ = body_slice_.text();
    } else {
      gather(slice.text());
    }
  }
  credit(size);
  finish_body();
}

void Exchange::gather(std::string_view text) {
  const std::size_t size = body_.size() + text.size();
  if (size > body_capacity_) {
    const std::size_t capacity = size < 512 ? 1024 : size * 2;
    char* room = static_cast<char*>(arena_.allocate(capacity, 1));
    if (!body_.empty()) std::memcpy(room, body_.data(), body_.size());
    body_ = {room, body_.size()};
    body_capacity_ = capacity;
    body_slice_ = {};
  }
  std::memcpy(const_cast<char*>(body_.data()) + body_.size(), text.data(), text.size());
  body_ = {body_.data(), size};
}

void Exchange::read(BodySink& sink) {
  VIOLET_ASSERT(body_mode_ == BodyMode::Undecided);
  body_mode_ = BodyMode::Sink;
  sink_ = &sink;
  if (stream_ == nullptr) return;
  if (has_body_ && !begin_body()) return;
  while (!pending_.is_empty() && sink_ != nullptr) {
    Slice slice = pending_.pop_front();
    guard([&] { sink_->on_body_data(*this, std::move(slice)); });
  }
  finish_body();
}

void Exchange::discard() {
  if (body_mode_ == BodyMode::Discard) return;
  body_mode_ = BodyMode::Discard;
  waiter_ = nullptr;
  sink_ = nullptr;
  const std::size_t size = pending_.size();
  pending_.clear();
  credit(size);
}

void Exchange::credit(std::size_t n) {
  if (n == 0) return;
  if (stage_ != nullptr) [[unlikely]] {
    stage_->on_credit(n);
  } else {
    credit_wire(n);
  }
}

void Exchange::credit_wire(std::size_t n) {
  if (stream_ != nullptr) stream_->credit(n);
}

void Exchange::set_body_stage(BodyStage& stage) {
  VIOLET_ASSERT(body_mode_ == BodyMode::Undecided && stage_ == nullptr);
  stage_ = &stage;
  body_bytes_ = 0;
  Chain pending = std::move(pending_);
  const bool has_ended = std::exchange(is_body_ended_, false);
  while (!pending.is_empty()) stage.on_data(pending.pop_front());
  if (has_ended) stage.on_end(std::exchange(trailers_, nullptr));
}

// Tells whoever waits for the end, once it is there.
void Exchange::finish_body() {
  if (has_body_ && !is_body_ended_) return;
  if (BodyWaiter* waiter = std::exchange(waiter_, nullptr); waiter != nullptr) {
    retain();
    guard([&] { waiter->on_body(*this); });
    release();
  } else if (BodySink* sink = std::exchange(sink_, nullptr); sink != nullptr) {
    guard([&] { sink->on_body_end(*this); });
  }
}

void Exchange::fail_body(Error why) noexcept {
  waiter_ = nullptr;
  BodySink* sink = std::exchange(sink_, nullptr);
  discard();
  if (sink != nullptr) sink->on_body_error(*this, why);
  if (!is_answered_) guard([&] { refuse(why); });
}

// --- answering

namespace {

// False when a hook has answered by itself. Hooks are taken away meanwhile, so that the answer to one that throws or
// refuses does not pass through them again.
bool pass_hooks(Exchange& exchange, Body& body) {
  const auto hooks = std::exchange(exchange.match.reply_hooks, {});
  for (std::size_t i = hooks.size(); i-- > 0 && !exchange.is_answered();) {
    hooks[i]->on_reply(exchange, exchange.response(), body);
  }
  if (exchange.is_answered()) return false;
  exchange.match.reply_hooks = hooks;
  return true;
}

}  // namespace

bool Exchange::reply(Body&& body) {
  if (is_answered_) return false;
  deadline_.cancel();
  if (response_.status != 200 || !match.reply_hooks.empty() || has_body_ || stream_ == nullptr || answer_end_ms_ != 0) {
    return reply_with_care(body);
  }
  is_answered_ = true;
  stream_->start(response_, std::move(body));
  return true;
}

// With hooks, a status to look at, an end to the answer's time, or a request's body that nobody may want any more.
bool Exchange::reply_with_care(Body& body) {
  if (!match.reply_hooks.empty() && !pass_hooks(*this, body)) [[unlikely]]
    return false;
  if (response_.status < 200 || response_.status > 999) [[unlikely]] {
    log(LogLevel::Error, "a handler answered with a status that ends nothing: " + std::to_string(response_.status));
    return refuse(Error(ErrorKind::Handler));
  }
  is_answered_ = true;
  if (stream_ == nullptr) return true;
  if (answer_end_ms_ != 0 && body.source() != nullptr) limit_answer();
  stream_->start(response_, std::move(body));
  // A sink goes on reading while the answer is under way; nobody else wants the rest.
  if (body_mode_ != BodyMode::Sink && !is_body_ended_ && has_body_) discard();
  return true;
}

void Exchange::limit_answer() noexcept {
  const std::uint64_t now = Loop::clock_us() / 1000;
  site_->loop.timers().arm_after(deadline_, answer_end_ms_ > now ? answer_end_ms_ - now : 0);
}

bool Exchange::refuse(Error why, std::string_view detail, const http::Field& field) {
  if (is_answered_) return false;
  ++site_->counters.refused;
  if (why.kind() == ErrorKind::TooLarge) log_limit(why);
  response_.clear();
  response_.status = static_cast<std::uint16_t>(why.status() != 0 ? why.status() : 500);
  if (!field.name.empty()) response_.fields.push(field);
  refusal_detail_ = detail;
  return reply(site_->error_page != nullptr ? site_->error_page->render(*this, why, nullptr, {})
                                            : plain_page(*this, why, {}));
}

void Exchange::on_exception(const std::exception_ptr& exception) noexcept {
  ++site_->counters.handler_errors;
  // The id joins the log line and the answer without telling the client what went wrong.
  const std::uint64_t number = (static_cast<std::uint64_t>(site_->loop.wall_seconds()) << 20) ^ (connection().id << 8) ^
                               site_->counters.handler_errors;
  char id[17];
  for (int i = 0; i < 16; ++i) id[i] = "0123456789abcdef"[number >> (60 - i * 4) & 15];
  id[16] = 0;
  log(LogLevel::Error, std::string("handler failed, error id ") + id + ": " + message(exception));
  if (is_answered_) {
    // The head has left: the client must not take the answer for whole.
    abort(Error(ErrorKind::Handler));
    return;
  }
  response_.clear();
  response_.status = 500;
  refusal_detail_ = {};
  const bool has_hooks = !match.reply_hooks.empty();
  try {
    const Error why(ErrorKind::Handler);
    Body page = site_->error_page != nullptr ? site_->error_page->render(*this, why, exception, id)
                                             : plain_page(*this, why, id);
    reply(std::move(page));
  } catch (...) {
    // A hook threw: once more, without them.
    if (has_hooks && match.reply_hooks.empty()) return on_exception(std::current_exception());
    abort(Error(ErrorKind::Handler));
  }
}

// Who is refused for a limit asks where it is set; one line a second says so without filling a disk.
void Exchange::log_limit(Error why) noexcept {
  const std::int64_t now = site_->loop.wall_seconds();
  if (std::exchange(site_->limit_logged_at, now) == now) return;
  const auto limit = static_cast<LimitId>(why.detail());
  std::string text = std::to_string(why.status()) + " for " + peer().to_string();
  text.append(": ").append(request_.method_text).append(" ").append(request_.path.substr(0, 200));
  text.append(": limit ").append(name(limit)).append(" = ").append(std::to_string(limit_value(limit)));
  log(LogLevel::Info, text.append(" (App::limits(); body_bytes_max also by Route::body_max())"));
}

void Exchange::inform(const http::Head& head) {
  if (stream_ != nullptr && !is_answered_) stream_->inform(head);
}

Stream* Exchange::accept_upgrade(Receiver& receiver, Body body) {
  if (is_answered_ || stream_ == nullptr) return nullptr;
  // Hooks see the head and no body: what follows is none of HTTP's. One that answers by itself takes the upgrade back.
  Body nothing;
  if (!match.reply_hooks.empty() && !pass_hooks(*this, nothing)) [[unlikely]]
    return nullptr;
  is_answered_ = true;
  deadline_.cancel();
  Stream* stream = std::exchange(stream_, nullptr);
  stream->set_receiver(receiver);
  stream->start(response_, std::move(body));
  while (CancelHook* hook = cancel_hooks_.pop_front()) hook->on_cancel({});
  Stream& tunnel = stream->as_tunnel();
  release();  // the stream's count
  return &tunnel;
}

void Exchange::abort(Error why) {
  is_answered_ = true;
  deadline_.cancel();
  if (stream_ != nullptr) stream_->reset(why);
}

// --- waiting

Ref<Exchange> Exchange::hold() {
  pin();
  start_deadline();
  return Ref<Exchange>(this);
}

void Exchange::pin() {
  if (is_pinned_) return;
  is_pinned_ = true;
  const std::string_view raw = request_.raw;
  const std::ptrdiff_t distance = request_.pin();
  for (std::size_t i = 0; i < match.names.size(); ++i) {
    http::move_text(match.values[i], raw, distance);
  }
}

void Exchange::start_deadline() {
  if (handler_ms_ == 0 || is_answered_ || deadline_.is_armed()) return;
  site_->loop.timers().arm_after(deadline_, handler_ms_);
}

std::uint64_t Exchange::limit_value(LimitId id) const noexcept {
  if (id == LimitId::body_bytes_max) return body_limit_;
  return id == LimitId::handler_ms ? handler_ms_ : value(limits(), id);
}

void Exchange::set_handler_ms(std::uint64_t ms) noexcept {
  handler_ms_ = ms;
  if (!deadline_.is_armed()) return;
  deadline_.cancel();
  start_deadline();
}

void Exchange::on_deadline() noexcept {
  ++site_->counters.timeouts;
  const Error why(ErrorKind::Timeout, static_cast<std::int32_t>(LimitId::handler_ms), timeout_status_);
  retain();
  // The answer first: what a stopped task would say is no answer to be relied on. One that has begun cannot be taken
  // back; the client must not take it for whole.
  if (is_answered_) {
    abort(why);
  } else {
    guard([&] { refuse(why); });
  }
  if (task_.is_active()) task_.stop(why);
  release();
}

}  // namespace violet
