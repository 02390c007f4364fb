#pragma once

// Call: one request and its answer on a client, whatever wire it goes on: the mirror of Exchange.
//
// Owned by whoever makes it, who hears everything through a CallOwner and lets it live until on_call_closed(). One
// thread, the loop's. It holds what has to live as long as the exchange of messages does: the head of the request, the
// head of the answer, an arena for both, and the time that all of it may take.
//
//   Call call(loop, owner);
//   call.set_request("GET", "/users/7", "example.com");
//   call.request().fields.add("Accept", "application/json");
//   call.start(*stream, Body());          // a stream of any client session, opened with this call as its receiver
//
//           start()                  on_head (final)              both directions ended, failed, or time is over
//   (new) ----------> asked --------------------> answered --------------------------> closed: on_call_closed()

#include "violet/core/stream.h"
#include "violet/event/loop.h"
#include "violet/event/timer.h"
#include "violet/http/head.h"
#include "violet/memory/arena.h"

#include <cstdint>
#include <string_view>

namespace violet {

class Call;

// Told what a call brings, in this order.
class CallOwner {
 public:
  // A 1xx head; its texts live until the call returns.
  virtual void on_informational(Call& call, const http::Head& head) {
    static_cast<void>(call);
    static_cast<void>(head);
  }
  // call.response() is there, and stays valid.
  virtual void on_response(Call& call, bool has_body) = 0;
  // Every slice is owed call.credit(size).
  virtual void on_response_data(Call& call, Slice data) = 0;
  // `trailers` is nullptr when there were none and lives until the call returns.
  virtual void on_response_end(Call& call, const http::Fields* trailers) = 0;
  // Exactly once and always last: ErrorKind::None when both directions ended well. The call may be destroyed here.
  virtual void on_call_closed(Call& call, Error why) noexcept = 0;

 protected:
  ~CallOwner() = default;
};

class Call final : public Receiver {
 public:
  Call(Loop& loop, CallOwner& owner) noexcept : loop_(loop), owner_(owner) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { VIOLET_ASSERT(stream_ == nullptr); }

  // What start() will send: version aside, everything that Head holds of a request.
  [[nodiscard]] http::Head& request() noexcept { return request_; }
  // Sets method, target, what it splits into, scheme and authority; the texts are copied. Invalid: a target that is
  // none.
  Result<void> set_request(std::string_view method, std::string_view target, std::string_view authority,
                           std::string_view scheme = "http");
  // Sends request() and `body`. REQUIRES: `stream` was opened for this call, and is the first.
  void start(Stream& stream, Body&& body);
  // The whole call, from start() to its end, may take so long; Timeout closes it. 0: no end. REQUIRES: before start().
  void set_timeout_ms(std::uint64_t ms) noexcept { timeout_ms_ = ms; }

  // status 0 until on_response().
  [[nodiscard]] const http::Head& response() const noexcept { return response_; }
  // Gives back what was used of the answer; reading goes on.
  void credit(std::size_t n);
  // Ends it at once; on_call_closed() follows later in the turn.
  void cancel(Error why = Error(ErrorKind::Cancelled));
  [[nodiscard]] bool is_open() const noexcept { return stream_ != nullptr; }

  [[nodiscard]] Arena& arena() noexcept { return arena_; }
  [[nodiscard]] Loop& loop() noexcept { return loop_; }

  // --- from the wire
  void on_head(http::Head& head, bool has_body) override;
  void on_data(Slice data) override;
  void on_end(const http::Fields* trailers) override;
  void on_close(Error why) noexcept override;

 private:
  static constexpr std::size_t kArenaBytes = 2048;
  void keep_response(const http::Head& head);
  void on_time_over() noexcept;

  Loop& loop_;
  CallOwner& owner_;
  Stream* stream_ = nullptr;
  std::uint64_t timeout_ms_ = 0;
  Error why_;  // of our own ending it
  TimerTo<&Call::on_time_over> timer_{*this};
  alignas(16) std::byte room_[kArenaBytes];
  Arena arena_{room_, sizeof room_};
  http::Head request_{arena_};
  http::Head response_{arena_};
};

}  // namespace violet
