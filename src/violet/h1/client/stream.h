#pragma once

// h1::client::Stream: one request of ours and its answer on an HTTP/1.1 connection. A session's streams stand in one
// queue, in the order of their requests, which is the order of their answers.
//
//   Open --(start)--> Sending --(last byte of the request queued)--> Sent
//   Waiting --(final head)--> Receiving --(last byte of the answer)--> Received
//
// A stream that is Sent and Received is retired: on_close(None). An answer that ends before its request does ends the
// connection with it (RFC 9112 §9.3).

#include "violet/base/list.h"
#include "violet/core/stream.h"
#include "violet/h1/client/request_writer.h"
#include "violet/h1/client/response.h"
#include "violet/memory/arena.h"

namespace violet::h1::client {

class Session;

class Stream final : public violet::Stream, public ListNode<Stream> {
 public:
  Stream(Session& session, Receiver& receiver) noexcept : session_(&session), receiver_(&receiver) {}

  // A client sends no 1xx.
  void inform(const http::Head& head) override { static_cast<void>(head); }
  // head: method_text, method, target, authority and fields. Invalid, by on_close: what cannot stand in a request line.
  void start(const http::Head& head, Body&& body) override;
  // The same with a request that stands there byte for byte, its body included; `method` is that of the request. For
  // whoever sends the same thing over and over, or means to send what no client would.
  void start_prepared(std::string_view bytes, http::Method method);
  void wake() override;
  void credit(std::size_t n) override;
  void reset(Error why) override;
  void set_receiver(Receiver& receiver) override { receiver_ = &receiver; }
  [[nodiscard]] const Connection& connection() const noexcept override;
  [[nodiscard]] Address local_address() const noexcept override;

 private:
  friend class Session;
  static constexpr std::uint32_t kFieldsInline = 16;

  Session* session_;
  Receiver* receiver_;
  http::Method method_ = http::Method::Get;
  RequestFraming framing_;
  ResponseFraming response_;
  bool is_started_ = false;
  bool is_sent_ = false;
  bool is_received_ = false;
  bool wants_upgrade_ = false;
  bool is_tunnel_ = false;  // CONNECT or Upgrade: what the source has to say is for the tunnel
  bool is_raw_ = false;     // it stands
  bool is_source_waiting_ = false;
  bool awaits_continue_ = false;  // the body stays here until 100, a final head, or a while has passed
  std::uint16_t informational_count_ = 0;
  std::uint64_t source_left_ = 0;  // bytes the source still owes a Content-Length
  std::size_t owed_bytes_ = 0;     // handed up and not credited yet
  Body body_;                      // what is not on its way yet
  // Of the answer: texts are views into the block it came in while on_head() runs.
  alignas(http::Field) std::byte lines_[kFieldsInline * sizeof(http::Field)];
  alignas(16) std::byte room_[1024];
  Arena arena_{room_, sizeof room_};
  http::Head head_{arena_, reinterpret_cast<http::Field*>(lines_), kFieldsInline};
};

}  // namespace violet::h1::client
