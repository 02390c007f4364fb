#pragma once

// h1::Stream: one request and its answer on an HTTP/1.1 connection. A session's streams stand in one queue, in the
// order of their requests; only the first one's answer goes to the wire, later ones wait with what they have.
//
//   Receiving --(body ended: Session::end_body)--> Received
//   Waiting --(start)--> Answering --(last byte queued: Session::pump)--> Answered
//
// A stream that is Received and Answered is retired: on_close(None), back to the pool.

#include "violet/base/list.h"
#include "violet/core/exchange.h"
#include "violet/core/stream.h"
#include "violet/h1/guard.h"
#include "violet/h1/parser.h"
#include "violet/h1/writer.h"

namespace violet::h1 {

class Session;
struct Shared;
class Tunnel;

class Stream final : public violet::Stream, public ListNode<Stream> {
 public:
  explicit Stream(Session& session) noexcept : session_(&session) {}

  void inform(const http::Head& head) override;
  void start(const http::Head& head, Body&& body) override;
  void wake() override;
  void credit(std::size_t n) override;
  void reset(Error why) override;
  void set_receiver(Receiver& receiver) override;
  violet::Stream& as_tunnel() override;
  [[nodiscard]] const Connection& connection() const noexcept override;
  [[nodiscard]] Address local_address() const noexcept override;

 private:
  friend class Session;
  friend struct Shared;
  [[nodiscard]] bool is_done() const noexcept { return is_received_ && is_answered_; }

  // Back to a new stream of `session`. REQUIRES: is_reusable(), and the exchange was reopened.
  void reuse(Session& session) noexcept {
    session_ = &session;
    framing_ = {};
    is_plain_ = is_head_request_ = is_http10_ = is_connect_ = expects_continue_ = is_received_ = is_started_ =
        is_answered_ = is_answered_plainly_ = false;
  }
  // Has left nothing behind but a few flags.
  [[nodiscard]] bool is_reusable() const noexcept { return is_answered_plainly_ && !framing_.has_body(); }

  Session* session_;
  Receiver* receiver_ = nullptr;
  Exchange* exchange_ = nullptr;  // the receiver, until another replaces it
  Framing framing_;
  ChunkBudget chunk_budget_;
  AnswerFraming answer_;
  bool is_plain_ = false;  // HTTP/1.1, kept alive, no HEAD, no CONNECT, no upgrade: nothing special to answer
  bool is_head_request_ = false;
  bool is_http10_ = false;
  bool is_connect_ = false;
  bool expects_continue_ = false;  // and nothing of the body has come yet
  bool is_received_ = false;
  bool is_started_ = false;
  bool is_answered_ = false;
  bool is_answered_plainly_ = false;  // by Session::answer_plain()
  bool is_source_waiting_ = false;
  bool is_raw_ = false;                // after 101, or 2xx to CONNECT: bytes without framing
  Error reset_why_;                    // set: to be reset when its turn comes
  std::uint32_t owed_bytes_ = 0;       // handed up and not credited yet
  std::uint64_t source_left_ = 0;      // bytes the source still owes a Content-Length
  std::uint64_t discarded_bytes_ = 0;  // of the body, after the answer was complete
  Body body_;                          // what is not on its way yet
  Output* early_ = nullptr;            // heads written before it was our turn
  Tunnel* tunnel_ = nullptr;           // takes our place at the end of the turn
};

}  // namespace violet::h1
