#include "violet/web/content/event_stream.h"

#include "violet/base/log.h"
#include "violet/core/limits.h"
#include "violet/core/site.h"
#include "violet/json/writer.h"

#include <string>

namespace violet {

// Between the handler and the wire: what is to be sent and who waits for room. In the exchange's arena; it lives until
// both have let go of it.
class EventStream::Source final : public violet::Source {
 public:
  explicit Source(Exchange& exchange) noexcept : exchange_(&exchange) {}

  Pull pull(Chain& out, std::size_t max) override {
    if (!pending_.empty()) {
      const std::size_t size = std::min(max, pending_.size());
      if (size == pending_.size()) {
        out.append(Slice::of(std::exchange(pending_, {})));
      } else {
        out.append(Slice::of(pending_.substr(0, size)));
        pending_.erase(0, size);
      }
      if (sender_ != nullptr) exchange_->loop().defer(has_room_);
    }
    if (!pending_.empty()) return Pull::More;
    return is_handler_gone_ ? Pull::End : Pull::Wait;
  }
  void attach(Stream* stream) noexcept override { stream_ = stream; }
  // The wire is done with it.
  void dispose() noexcept override {
    stream_ = nullptr;
    is_wire_gone_ = true;
    heartbeat_.cancel();
    if (sender_ != nullptr) exchange_->loop().defer(has_room_);
    end_if_alone();
  }

  void open() {
    if (is_open_) return;
    is_open_ = true;
    if (!exchange_->is_open() || exchange_->is_answered()) {
      is_wire_gone_ = true;
      return;
    }
    http::Fields& fields = exchange_->response().fields;
    fields.push(http::FieldId::ContentType, "text/event-stream");
    if (!fields.has(http::FieldId::CacheControl)) fields.push(http::FieldId::CacheControl, "no-store");
    exchange_->disable_deadline();
    exchange_->reply(Body(SourcePtr(this)));
    arm();
  }
  void write(std::string_view text) {
    open();
    if (is_wire_gone_) return;
    pending_ += text;
    arm();
    wake();
  }
  void leave() noexcept {
    is_handler_gone_ = true;
    heartbeat_.cancel();
    if (!is_open_) is_wire_gone_ = true;
    if (!is_wire_gone_) wake();
    end_if_alone();
  }

  [[nodiscard]] bool has_room() const noexcept {
    return is_wire_gone_ || pending_.size() <= exchange_->limits().flush_bytes_max;
  }
  [[nodiscard]] bool is_listening() const noexcept { return !is_wire_gone_ && exchange_->is_open(); }
  [[nodiscard]] Exchange& exchange() noexcept { return *exchange_; }

 private:
  friend class Send;

  void arm() noexcept {
    if (const std::uint64_t ms = exchange_->limits().event_heartbeat_ms; ms > 0) {
      exchange_->loop().timers().arm_after(heartbeat_, ms);
    }
  }
  void on_heartbeat() noexcept {
    if (pending_.empty()) pending_ = ":\n\n";
    arm();
    wake();
  }
  // The wire may do anything when it is woken, so not from inside the coroutine.
  void wake() noexcept { exchange_->loop().defer(has_more_); }
  void wake_stream() noexcept {
    if (stream_ != nullptr) stream_->wake();
  }
  void resume_sender() noexcept {
    if (sender_ != nullptr && has_room()) std::exchange(sender_, nullptr)->resume();
  }
  void end_if_alone() noexcept {
    if (!is_handler_gone_ || !is_wire_gone_) return;
    const Ref<Exchange> exchange = std::move(exchange_);
    this->~Source();
  }

  Ref<Exchange> exchange_;
  Stream* stream_ = nullptr;
  Send* sender_ = nullptr;
  std::string pending_;
  bool is_open_ = false;
  bool is_handler_gone_ = false;
  bool is_wire_gone_ = false;
  TimerTo<&Source::on_heartbeat> heartbeat_{*this};
  DeferredTo<&Source::wake_stream> has_more_{*this};
  DeferredTo<&Source::resume_sender> has_room_{*this};
};

namespace {

bool is_one_line(std::string_view text) noexcept {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

// Every line of the data gets its own field, however its lines are ended: otherwise data could begin fields and events.
void append_data(std::string& out, std::string_view data) {
  for (;;) {
    const std::size_t end = data.find_first_of("\r\n");
    out.append("data: ").append(data.substr(0, end)).append("\n");
    if (end == std::string_view::npos) return;
    const bool is_pair = data[end] == '\r' && end + 1 < data.size() && data[end + 1] == '\n';
    data.remove_prefix(end + (is_pair ? 2 : 1));
  }
}

std::string to_text(const Event& event) {
  std::string text;
  if (!event.name.empty()) text.append("event: ").append(event.name).append("\n");
  if (!event.id.empty()) text.append("id: ").append(event.id).append("\n");
  if (event.retry_ms) text.append("retry: ").append(std::to_string(*event.retry_ms)).append("\n");
  append_data(text, event.data);
  return text += '\n';
}

}  // namespace

EventStream::EventStream(Exchange& exchange) : source_(exchange.arena().make<Source>(exchange)) {}
EventStream::~EventStream() {
  if (source_ != nullptr) source_->leave();
}

void EventStream::open() { source_->open(); }

EventStream::Send EventStream::send(const Event& event) {
  const bool is_good = is_one_line(event.name) && is_one_line(event.id);
  if (is_good) {
    source_->write(to_text(event));
  } else {
    log(LogLevel::Error, "an event is not sent: its name or id has a line break or NUL in it");
  }
  return Send(source_, is_good);
}

EventStream::Send EventStream::send_json(const data::Type& type, const void* value, std::string_view name,
                                         std::string_view id) {
  json::StringWriter writer;
  writer.write(type, value);
  const std::string text = std::move(writer).text();
  return send(Event{.data = text, .name = name, .id = id});
}

std::string_view EventStream::last_event_id() const noexcept {
  return source_->exchange().request().fields.get("Last-Event-ID");
}

EventStream::Send::~Send() {
  if (source_->sender_ == this) source_->sender_ = nullptr;
}
bool EventStream::Send::await_ready() const noexcept { return source_->has_room(); }
bool EventStream::Send::await_suspend(std::coroutine_handle<> handle) noexcept {
  if (!suspend(handle)) return false;
  source_->sender_ = this;
  return true;
}
bool EventStream::Send::await_resume() const noexcept { return !error() && is_good_ && source_->is_listening(); }
void EventStream::Send::on_stop(Error why) noexcept {
  source_->sender_ = nullptr;
  resume_with(why);
}

}  // namespace violet
