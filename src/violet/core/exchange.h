#pragma once

// Exchange: one request and its answer on a server, whatever wire it came on.
//
// The wire's stream and everybody who will answer later each hold a count; when the stream dies first, a later answer
// falls into nothing. Exchanges are pooled by their Site and reused with everything inside: two heads, the first 4 KiB
// of the arena, the handler's task. One thread, the loop's.
//
//           on_head                 reply(), refuse()            stream finished or failed
//   (new) ----------> unanswered -----------------------> answered ----------------------> closed: on_close()
//                          |                                                                    ^
//                          +--------------------- client gone, reset, limit --------------------+
//
// Texts of the request are views into the block it was received in and are valid while serve() runs; pin() moves them
// into the arena, which hold() and tasks do by themselves.

#include "violet/base/list.h"
#include "violet/core/stream.h"
#include "violet/event/loop.h"
#include "violet/event/task.h"
#include "violet/event/timer.h"
#include "violet/http/head.h"
#include "violet/memory/arena.h"
#include "violet/memory/ref.h"

#include <cstdint>
#include <exception>
#include <span>
#include <string_view>

namespace violet {

namespace data {
class Findings;
}

class Exchange;
enum class LimitId : std::int32_t;
struct Limits;
struct Site;

// Told when the whole body has arrived; see Exchange::collect().
class BodyWaiter {
 public:
  virtual void on_body(Exchange& exchange) = 0;

 protected:
  ~BodyWaiter() = default;
};

// Gets the body as it arrives; see Exchange::read(). Every slice is owed exchange.credit(size).
class BodySink {
 public:
  virtual void on_body_data(Exchange& exchange, Slice data) = 0;
  virtual void on_body_end(Exchange& exchange) = 0;
  // The body will not be completed: the client left, broke its framing or passed a limit.
  virtual void on_body_error(Exchange& exchange, Error why) noexcept = 0;

 protected:
  ~BodySink() = default;
};

// Stands between the wire and whoever reads the body, and makes other bytes of it; see Exchange::set_body_stage().
// Lives in the exchange's arena.
class BodyStage {
 public:
  // From the wire. Every slice is owed exchange.credit_wire(size); what is made of them goes to exchange.take_data()
  // and take_end(), or to fail_body().
  virtual void on_data(Slice data) = 0;
  virtual void on_end(const http::Fields* trailers) = 0;
  // n bytes given to take_data() have been used. Gives nothing from inside this call.
  virtual void on_credit(std::size_t n) = 0;
  // The exchange ends.
  virtual void dispose() noexcept = 0;

 protected:
  ~BodyStage() = default;
};

// Called once when the exchange ends before its answer was complete, or after it; unlink it to be left alone. `why` is
// empty when the stream was handed on to another receiver (accept_upgrade()).
class CancelHook : public ListNode<CancelHook> {
 public:
  virtual void on_cancel(Error why) noexcept = 0;

 protected:
  ~CancelHook() = default;
};

// Sees each answer before it leaves and may change head and body (compression, security fields).
class ReplyHook {
 public:
  virtual void on_reply(Exchange& exchange, http::Head& head, Body& body) = 0;

 protected:
  ~ReplyHook() = default;
};

// What the router found: the pattern, and the decoded value of each {name} in order.
struct RouteMatch {
  std::string_view pattern;
  std::span<const std::string_view> names;
  std::string_view* values = nullptr;
  std::span<ReplyHook* const> reply_hooks;  // run last to first
};

// Whom a request comes from, where that is not its connection's peer: the client behind a proxy.
struct Client {
  Address address;
  bool is_secure = false;  // it came to the proxy over TLS
};

class Exchange final : public Receiver {
 public:
  // --- what came
  [[nodiscard]] http::Head& request() noexcept { return request_; }
  [[nodiscard]] const http::Head& request() const noexcept { return request_; }
  [[nodiscard]] const Connection& connection() const noexcept;
  // Who has sent the request, and whether safely: the connection's peer, unless a proxy that is trusted has said who.
  [[nodiscard]] const Address& peer() const noexcept {
    return client_ != nullptr ? client_->address : connection().peer;
  }
  [[nodiscard]] bool is_secure() const noexcept {
    return client_ != nullptr ? client_->is_secure : connection().is_secure;
  }
  void set_client(const Client& client) { client_ = arena_.make<Client>(client); }
  [[nodiscard]] bool has_body() const noexcept { return has_body_; }
  // Trailer fields of the request, nullptr until the body has ended or when there were none. Never merged into the head
  // (RFC 9110 §6.5.1).
  [[nodiscard]] const http::Fields* request_trailers() const noexcept { return trailers_; }

  // --- answering
  // The head that reply() will send; status 200 and no fields at first.
  [[nodiscard]] http::Head& response() noexcept { return response_; }
  // Sends response() and `body`. Only the first answer counts; false when there was one already.
  bool reply(Body&& body);
  bool reply() { return reply(Body()); }
  // Answers with an error page: status from `why`, body from the site's ErrorPage. Fields set so far are dropped, but
  // `field` is sent where it has a name (Allow, Retry-After). `detail` tells the client more; both live until the call
  // returns.
  bool refuse(Error why, std::string_view detail = {}, const http::Field& field = {});
  // What refuse() was given, for the ErrorPage.
  [[nodiscard]] std::string_view refusal_detail() const noexcept { return refusal_detail_; }
  // Sends a 1xx head, for example 103 Early Hints.
  void inform(const http::Head& head);
  // Answers 101 (h1) or 200 (extended CONNECT, CONNECT) with response()'s fields and hands the stream to `receiver`,
  // which gets the bytes that follow. `body` sends. Returns the stream; nullptr when the client is gone.
  Stream* accept_upgrade(Receiver& receiver, Body body);
  // Ends it at once without an answer, or in the middle of one.
  void abort(Error why);
  [[nodiscard]] bool is_answered() const noexcept { return is_answered_; }
  // False once the client is gone.
  [[nodiscard]] bool is_open() const noexcept { return stream_ != nullptr; }

  // --- the request's body: one of three, nothing is read before one is chosen
  // Gathers it, at most body_limit() bytes (else 413), then calls waiter.on_body(), perhaps at once.
  void collect(BodyWaiter& waiter);
  // After on_body: all of it, in one piece, valid until the exchange ends.
  [[nodiscard]] std::string_view body() const noexcept { return body_; }
  // Hands it over piece by piece.
  void read(BodySink& sink);
  // Reads it away. An answer given before the body has ended does the same.
  void discard();
  // The body broke its framing or a limit: whoever waits for it hears why, and so does the client if no answer has
  // left.
  void fail_body(Error why) noexcept;
  // Gives back what a sink has used; reading goes on.
  void credit(std::size_t n);
  // For middleware that decodes: from now on the body goes through `stage`, what has come of it already as well.
  // REQUIRES: nobody has asked for the body, and there is no stage yet.
  void set_body_stage(BodyStage& stage);
  void take_data(Slice data);
  void take_end(const http::Fields* trailers);
  void credit_wire(std::size_t n);
  // Counts what readers get: the bytes that a stage has made.
  [[nodiscard]] std::uint64_t body_limit() const noexcept { return body_limit_; }
  void set_body_limit(std::uint64_t bytes) noexcept { body_limit_ = bytes; }

  // --- waiting
  // Keeps the exchange for an answer that comes later, and starts the handler's time.
  [[nodiscard]] Ref<Exchange> hold();
  // Moves the request's texts into the arena, so that they stay valid for the exchange's life.
  void pin();
  // The task that handles this exchange. It is stopped when the client leaves or the handler's time is over.
  [[nodiscard]] TaskRoot& task() noexcept {
    is_task_used_ = true;
    return task_;
  }
  // Starts the handler's time (limits.handler_ms); an answer ends it. For whoever waits without hold().
  void start_deadline();
  // This exchange's own time instead of limits.handler_ms; 0 for none.
  void set_handler_ms(std::uint64_t ms) noexcept;
  // No end to the handler's time: for streams.
  void disable_deadline() noexcept { set_handler_ms(0); }
  // The status that tells that the handler's time is over; 503 unless set.
  void set_timeout_status(std::uint16_t status) noexcept { timeout_status_ = status; }
  // The time from now on after which an answer that a source gives is cut off where it is; 0 for none.
  void set_answer_ms(std::uint64_t ms) noexcept { answer_end_ms_ = ms == 0 ? 0 : Loop::clock_us() / 1000 + ms; }
  void add_cancel_hook(CancelHook& hook) noexcept { cancel_hooks_.push_back(hook); }
  // Runs `work`, turning what it throws into a 500. For callbacks that answer later.
  template <class Work>
  void guard(Work&& work) noexcept {
    try {
      work();
    } catch (...) {
      on_exception(std::current_exception());
    }
  }
  void on_exception(const std::exception_ptr& exception) noexcept;

  // --- where it lives
  [[nodiscard]] Arena& arena() noexcept { return arena_; }
  [[nodiscard]] Site& site() noexcept { return *site_; }
  [[nodiscard]] Loop& loop() noexcept;
  [[nodiscard]] const Limits& limits() const noexcept;
  // A limit as it is for this exchange: the route may have set its own.
  [[nodiscard]] std::uint64_t limit_value(LimitId id) const noexcept;
  RouteMatch match;
  // The values that a refusal is about, in the arena; for the ErrorPage.
  const data::Findings* findings = nullptr;
  // Names the bytes of the answer, for what is made from them and may be kept (their encoded form): two answers to one
  // target with one tag have the same bytes. Lives as long as the exchange; "": nothing may be kept.
  std::string_view cache_tag;
  // What the request is called in logs, "" where it has no name. Lives as long as the exchange.
  std::string_view request_id;
  // What middleware keeps for this one request: at most one T, in the arena, not destroyed. nullptr: there is none.
  template <class T>
  [[nodiscard]] T* note() const noexcept {
    for (const Note* note = notes_; note != nullptr; note = note->next) {
      if (note->key == &kNoteKey<T>) return static_cast<T*>(note->object);
    }
    return nullptr;
  }
  // REQUIRES: note<T>() is nullptr.
  template <class T, class... Args>
  T& add_note(Args&&... args) {
    T* object = arena_.make<T>(std::forward<Args>(args)...);
    notes_ = ::new (arena_.allocate(sizeof(Note), alignof(Note))) Note{notes_, &kNoteKey<T>, object};
    return *object;
  }
  // A place for the one who serves: the router leaves the endpoint here while the body is collected.
  void* context = nullptr;

  void retain() noexcept { ++count_; }
  void release() noexcept;

  // --- from the wire
  // Instead of on_close({}): ends a well-ended exchange and makes it new for the same stream, where nothing but the
  // wire holds it and there was no body, task or hook. False: nothing was done.
  [[nodiscard]] bool reopen() noexcept;
  void on_head(http::Head& head, bool has_body) override;
  void on_data(Slice data) override;
  void on_end(const http::Fields* trailers) override;
  void on_close(Error why) noexcept override;

 private:
  friend struct Site;
  friend class ExchangePool;
  enum class BodyMode : std::uint8_t { Undecided, Collect, Sink, Discard };
  struct Note {
    Note* next;
    const void* key;
    void* object;
  };
  template <class T>
  static inline constexpr char kNoteKey = 0;

  explicit Exchange(Site& site) noexcept;
  ~Exchange() = default;
  void open(Stream& stream) noexcept;
  void reset() noexcept;
  void rewind() noexcept;
  void log_limit(Error why) noexcept;
  bool reply_with_care(Body& body);
  void limit_answer() noexcept;

  bool begin_body();
  void gather(std::string_view text);
  void finish_body();
  [[nodiscard]] bool is_waiting() const noexcept;
  void on_deadline() noexcept;

  static constexpr std::size_t kArenaBytes = 4096;
  static constexpr std::uint16_t kRequestFields = 24;
  static constexpr std::uint16_t kResponseFields = 8;
  static constexpr std::uint16_t kTimeoutStatus = 503;

  Site* site_;
  Stream* stream_ = nullptr;
  std::uint32_t count_ = 0;
  BodyMode body_mode_ = BodyMode::Undecided;
  bool has_body_ = false;
  bool is_answered_ = false;
  bool is_body_ended_ = false;
  bool is_body_started_ = false;  // somebody asked for it: 100 Continue has gone out where it was expected
  bool is_pinned_ = false;
  bool wants_continue_ = false;
  bool is_task_used_ = false;
  std::uint16_t timeout_status_ = kTimeoutStatus;

  std::uint64_t handler_ms_ = 0;
  std::uint64_t answer_end_ms_ = 0;  // on Loop::clock_us()'s scale, 0 for none
  std::uint64_t body_limit_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::string_view refusal_detail_;
  std::string_view body_;
  std::size_t body_capacity_ = 0;  // room behind body_ when it lies in the arena
  Slice body_slice_;               // keeps a body that came in one piece
  Chain pending_;                  // what came before anybody asked
  const http::Fields* trailers_ = nullptr;
  BodyWaiter* waiter_ = nullptr;
  BodySink* sink_ = nullptr;
  BodyStage* stage_ = nullptr;
  List<CancelHook, CancelHook> cancel_hooks_;
  const Client* client_ = nullptr;
  Note* notes_ = nullptr;

  Arena arena_;
  http::Head request_;
  http::Head response_;
  TaskRoot task_{&arena_};
  TimerTo<&Exchange::on_deadline> deadline_{*this};

  alignas(http::Field) std::byte request_fields_[kRequestFields * sizeof(http::Field)];
  alignas(http::Field) std::byte response_fields_[kResponseFields * sizeof(http::Field)];
  alignas(16) std::byte first_[kArenaBytes];
};

}  // namespace violet
