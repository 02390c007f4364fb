#pragma once

// H1ClientWire: an h1::client::Session over a MemoryTransport, driven by hand: the test is the server. What a stream
// hands up is kept by an Answers; settle() runs the loop until nothing moves any more.
//
//   H1ClientWire client;
//   Answers answers;
//   client.get(answers, "/");                                  // what is sent: client.sent()
//   client.feed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
//   EXPECT_EQ(answers.body, "hi");

#include "violet/core/stream.h"
#include "violet/event/loop.h"
#include "violet/h1/client/session.h"
#include "violet/net/io/buffers.h"
#include "violet/net/memory.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet::test {

// What came up of one answer. That it came in the order of the contract is checked, not expected: fuzz targets use it,
// too.
class Answers final : public Receiver {
 public:
  void on_head(http::Head& head, bool has_body) override;
  void on_data(Slice data) override;
  void on_end(const http::Fields* trailers) override;
  void on_close(Error why) noexcept override;

  // All of it as one text, to compare readings of one input that was split in different ways.
  // Without `why`: what a malformed input is called may depend on how much of it has come.
  [[nodiscard]] std::string story() const;

  std::vector<int> informational;
  int status = 0;
  bool has_body = false;
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
  std::vector<std::pair<std::string, std::string>> trailers;
  int end_count = 0;
  int close_count = 0;
  Error why;
  bool gives_credit = true;
  std::size_t owed = 0;
  h1::client::Stream* stream = nullptr;
  std::function<void()> on_event;  // after each of them
  std::function<void()> then;      // after on_close
};

class H1ClientWire final : h1::client::Session::Host {
 public:
  explicit H1ClientWire(const Limits& limits = {}) : shared(loop, limits, buffers) { connect(); }
  H1ClientWire(const H1ClientWire&) = delete;
  H1ClientWire& operator=(const H1ClientWire&) = delete;
  ~H1ClientWire();

  // A new connection; an earlier one is aborted.
  void connect();
  // Starts a request on a new stream; nullptr when there is no room. An empty `method` opens the stream only.
  h1::client::Stream* get(Answers& answers, std::string_view target, std::string_view method = "GET", Body body = {},
                          const std::vector<std::pair<std::string, std::string>>& fields = {});
  void feed(std::string_view bytes) {
    wire->feed(bytes);
    settle();
  }
  void feed_end() {
    wire->feed_end();
    settle();
  }
  // What was sent since the last call.
  std::string sent() {
    settle();
    return wire->take();
  }
  void settle();
  [[nodiscard]] bool is_closed() const { return wire->is_closed(); }

  Loop loop;
  net::Buffers buffers;
  h1::client::Shared shared;
  Ref<net::MemoryTransport> wire;
  h1::client::Session* session = nullptr;
  Error closed_why;

 private:
  void on_session_closed(h1::client::Session& closed, Error why) noexcept override;
};

}  // namespace violet::test
