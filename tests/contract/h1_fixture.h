#pragma once

// The contract suite's view of HTTP/1.1: over the in-memory transport, one byte of a read at a time or as much as there
// is.

#include "tests/contract/wire_fixture.h"
#include "tests/support/h1_wire.h"
#include "tests/support/reply.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace violet::test {

template <std::size_t kReadMax>
class H1Fixture final : public WireFixture {
 public:
  explicit H1Fixture(const Limits& limits) : wire_(limits) { wire_.wire->set_read_max(kReadMax); }

  ScriptService& service() override { return wire_.service; }
  Site& site() override { return wire_.site; }

  std::size_t open(const ClientRequest& request) override {
    std::string head = request.method + " " + request.path + " HTTP/1.1\r\nHost: a\r\n";
    for (const auto& [name, value] : request.fields) head += name + ": " + value + "\r\n";
    if (request.length) head += "Content-Length: " + std::to_string(*request.length) + "\r\n";
    is_chunked_ = request.has_body && !request.length;
    if (is_chunked_) head += "Transfer-Encoding: chunked\r\n";
    is_tunnel_ = request.is_tunnel;
    if (is_tunnel_) head += "Connection: Upgrade\r\nUpgrade: bytes\r\n";
    wire_.send(head + "\r\n");
    is_head_.push_back(request.method == "HEAD");
    return is_head_.size() - 1;
  }
  void send(std::size_t, std::string_view bytes) override {
    if (is_chunked_) {
      char size[24];
      std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
      wire_.send(size + std::string(bytes) + "\r\n");
    } else {
      wire_.send(bytes);
    }
  }
  void end(std::size_t, const std::vector<std::pair<std::string, std::string>>& trailers) override {
    if (is_tunnel_) {
      wire_.wire->feed_end();
      wire_.settle();
    }
    if (!is_chunked_) return;
    std::string bytes = "0\r\n";
    for (const auto& [name, value] : trailers) bytes += name + ": " + value + "\r\n";
    wire_.send(bytes + "\r\n");
  }
  void set_room(std::size_t bytes) override { wire_.wire->set_room(bytes); }
  void add_room(std::size_t bytes) override { wire_.wire->add_room(bytes); }
  void vanish() override { wire_.wire->break_off(); }
  void settle() override { wire_.settle(); }

  ClientReply reply(std::size_t request) override {
    received_ += wire_.wire->take();
    ReplyReader reader;
    reader.add(received_);
    ClientReply result;
    for (std::size_t i = 0; i <= request;) {
      const auto next = reader.next({.is_head = is_head_[i], .is_ended = wire_.is_closed()});
      EXPECT_EQ(reader.error(), "");
      if (!next) {
        result.is_cut = wire_.is_closed();
        if (i == request) read_partial(reader.rest(), result);
        return result;
      }
      if (next->status == tunnel_status()) {
        result.status = next->status;
        result.body = reader.rest();
        result.is_whole = wire_.wire->is_shut_down() || (wire_.is_closed() && !wire_.wire->is_reset());
        return result;
      }
      if (next->status < 200) {
        if (i == request) result.informational.push_back(next->status);
        continue;
      }
      if (i++ != request) continue;
      result.status = next->status;
      result.fields = next->fields;
      result.body = next->body;
      result.trailers = next->trailers;
      result.is_whole = true;
    }
    return result;
  }

  [[nodiscard]] int tunnel_status() const override { return 101; }

 private:
  // The status and what there is behind the head, framing included: enough to see that something has arrived.
  static void read_partial(const std::string& rest, ClientReply& result) {
    const std::size_t end = rest.find("\r\n\r\n");
    if (end == std::string::npos) return;
    result.status = std::atoi(rest.c_str() + 9);
    result.body = rest.substr(end + 4);
  }

  H1Wire wire_;
  std::string received_;
  std::vector<bool> is_head_;
  bool is_chunked_ = false;
  bool is_tunnel_ = false;
};

}  // namespace violet::test
