#pragma once

// EventStream: server-sent events (HTML, "Server-sent events"), pushed by a coroutine as long as the client listens.
//
//   app.get("/ticks", [](EventStream out) -> Task<> {
//     for (int i = 0; co_await out.send({.data = std::to_string(i), .id = std::to_string(i)}); ++i) co_await
//     sleep_ms(1000);
//   });
//
// The answer begins with the first event, or with open(); a handler that ends before answers 204, which tells a browser
// not to come back. send() waits while more than limits.flush_bytes_max bytes are unread. A comment goes out when
// nothing else has for limits.event_heartbeat_ms, so that proxies keep the connection and a client that vanished is
// noticed. When the client leaves, whatever the handler awaits fails. There is no time limit for such a handler.

#include "violet/data/type_of.h"
#include "violet/event/task.h"
#include "violet/web/input/extract.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace violet {

struct Event {
  std::string_view data = {};                  // any text; each of its lines becomes a data line
  std::string_view name = {};                  // "": a message
  std::string_view id = {};                    // comes back as last_event_id() when the browser reconnects
  std::optional<std::uint32_t> retry_ms = {};  // how long the browser waits before it does
};

class EventStream {
 public:
  class Source;
  // Gives true when the event is on its way; false when the client has left, or when name or id have a line break or
  // NUL in them (which is logged: nothing of it is sent).
  class [[nodiscard("co_await it")]] Send : public Waiter {
   public:
    Send(Source* source, bool is_good) noexcept : source_(source), is_good_(is_good) {}
    ~Send() override;
    bool await_ready() const noexcept;
    bool await_suspend(std::coroutine_handle<> handle) noexcept;
    bool await_resume() const noexcept;

   private:
    friend class Source;
    void on_stop(Error why) noexcept override;
    Source* source_;
    bool is_good_;
  };

  explicit EventStream(Exchange& exchange);
  EventStream(EventStream&& other) noexcept : source_(std::exchange(other.source_, nullptr)) {}
  EventStream& operator=(EventStream&&) = delete;
  ~EventStream();

  // The head goes out before there is an event.
  void open();
  Send send(const Event& event);
  Send send(std::string_view data) { return send(Event{.data = data}); }
  // `value` as JSON.
  template <data::Known T>
  Send send_json(const T& value, std::string_view name = {}, std::string_view id = {}) {
    return send_json(data::kType<T>, &value, name, id);
  }
  // Where the browser wants to go on; "" when it has just come.
  [[nodiscard]] std::string_view last_event_id() const noexcept;

 private:
  Send send_json(const data::Type& type, const void* value, std::string_view name, std::string_view id);
  Source* source_;
};

template <>
struct Extract<EventStream> : Extractor {
  static constexpr web::Input input{.kind = web::Input::Kind::Events};
  static constexpr bool needs_task = true;
  static EventStream from(Fetch& fetch) { return EventStream(fetch.exchange()); }
};

}  // namespace violet
