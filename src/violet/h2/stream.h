#pragma once

// h2::Stream: one request and its answer on an HTTP/2 connection, in either role (RFC 9113 §5.1).
//
//   peer's direction:  Receiving --(END_STREAM: Session::end_body)--> Received
//   our direction:     Waiting --(start)--> Sending --(END_STREAM queued: Session::finish)--> Finished
//
// A stream that is Received and Finished is retired: on_close(None), back to the pool. One that fails in between is
// Doomed until the session's next safe moment, when RST_STREAM has been queued and its receiver hears why.

#include "violet/base/list.h"
#include "violet/core/exchange.h"
#include "violet/core/pace.h"
#include "violet/core/stream.h"
#include "violet/h2/guard.h"
#include "violet/h2/message/priority.h"

#include <cstdint>
#include <memory>
#include <string>

namespace violet::h2 {

class Session;
class Scheduler;
class StreamTable;
struct Shared;

class Stream final : public violet::Stream, public ListNode<Stream> {
 public:
  explicit Stream(Session& session) noexcept : session_(&session) {}

  void inform(const http::Head& head) override;
  void start(const http::Head& head, Body&& body) override;
  void wake() override;
  void credit(std::size_t n) override;
  void reset(Error why) override;
  void set_receiver(Receiver& receiver) override;
  [[nodiscard]] const Connection& connection() const noexcept override;
  [[nodiscard]] Address local_address() const noexcept override;

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

 private:
  friend class Session;
  friend class Scheduler;
  friend class StreamTable;
  friend struct Shared;

  [[nodiscard]] bool is_done() const noexcept { return is_received_ && is_finished_; }
  // Body bytes, or the end, are owed to the peer and are there.
  [[nodiscard]] bool has_output() const noexcept {
    return is_started_ && !is_finished_ && (!body_.chain().is_empty() || !is_source_waiting_);
  }
  // Back to a new stream of `session`. REQUIRES: is_reusable(), and the exchange was reopened.
  void reuse(Session& session) noexcept {
    session_ = &session;
    is_received_ = is_started_ = is_finished_ = is_head_request_ = is_connect_ = is_plain_ = has_length_ = false;
    has_source_length_ = is_deaf_ = false;
    patience_ = {};
  }
  // Has left nothing behind but a few flags.
  [[nodiscard]] bool is_reusable() const noexcept { return is_plain_; }

  // Whose turn it is while the peer has not ended its direction, and so which time runs in reading_.
  enum class Waiting : std::uint8_t {
    Body,       // the peer's, to send more of it
    Use,        // the application's, which has answered and does not use what it was given
    TunnelEnd,  // the peer's, after we have ended our direction of a tunnel
  };
  // What came before anybody could take it: for a CONNECT of which nobody has decided yet what becomes of it, or for a
  // request that waits until there is room for its answer.
  struct Held {
    Chain data;
    bool is_ended = false;
    bool is_extended = false;     // a CONNECT of RFC 8441
    bool is_waiting = false;      // the whole request waits, see message/kept.h
    bool ends_with_head = false;  // of a waiting one
    std::string head;
    std::string trailers;
  };

  Session* session_;
  Receiver* receiver_ = nullptr;
  Exchange* exchange_ = nullptr;  // a server's receiver, until another replaces it
  Stream* next_ = nullptr;        // of the table
  std::uint32_t id_ = 0;
  std::int32_t send_window_ = 0;
  std::int32_t receive_window_ = 0;        // what the peer may still send
  std::uint32_t owed_bytes_ = 0;           // handed up and not credited yet
  std::uint32_t returned_bytes_ = 0;       // credited, and the peer does not know yet
  std::uint32_t informational_count_ = 0;  // on a client
  std::uint32_t discarded_bytes_ = 0;      // of the body, after the answer was complete
  Priority priority_;
  bool is_plain_ = false;  // the answer was all there when it began, and nothing followed the request's head
  bool is_head_request_ = false;
  bool is_connect_ = false;
  bool is_tunnel_ = false;         // after a 2xx to CONNECT: bytes without a message around them
  bool expects_continue_ = false;  // and nothing of the body has come yet
  bool is_received_ = false;
  bool has_head_ = false;  // on a client: the final head has come
  bool is_started_ = false;
  bool is_finished_ = false;
  bool is_doomed_ = false;
  bool is_source_waiting_ = false;
  bool is_source_ended_ = false;
  bool is_scheduled_ = false;
  bool is_deaf_ = false;  // what still comes of the request is not handed up
  Waiting waits_for_ = Waiting::Body;
  Error why_;                      // of a doomed one
  std::uint64_t source_left_ = 0;  // bytes the source still owes a Content-Length
  std::uint64_t length_left_ = 0;  // bytes the peer still owes a Content-Length
  bool has_length_ = false;
  bool has_source_length_ = false;
  Pace reading_;
  Patience patience_;
  Body body_;  // what is not on its way yet
  std::unique_ptr<Held> held_;
};

}  // namespace violet::h2
