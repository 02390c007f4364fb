#pragma once

// The contract suite's view of HTTP/1.1 in both roles: its requests are sent by h1::client::Session and come back
// through it. Bytes are carried between the two sessions by hand, `kReadMax` at a time.

#include "tests/contract/wire_fixture.h"
#include "tests/support/h1_client_wire.h"
#include "tests/support/h1_wire.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace violet::test {

template <std::size_t kReadMax>
class H1ClientFixture final : public WireFixture {
 public:
  explicit H1ClientFixture(const Limits& limits) : server_(limits) {
    server_.wire->set_read_max(kReadMax);
    client_.wire->set_read_max(kReadMax);
  }

  ScriptService& service() override { return server_.service; }
  Site& site() override { return server_.site; }

  std::size_t open(const ClientRequest& request) override {
    auto& asked = *asked_.emplace_back(std::make_unique<Asked>());
    Body body;
    auto fields = request.fields;
    if (request.is_tunnel) fields.emplace_back("Upgrade", "bytes");
    if (request.has_body || request.is_tunnel) {
      asked.source = new PushSource(asked.watch);
      body = Body(SourcePtr(asked.source), request.length);
    }
    client_.get(asked.answers, request.path, request.method, std::move(body), fields);
    settle();
    return asked_.size() - 1;
  }
  void send(std::size_t request, std::string_view bytes) override {
    Asked& asked = *asked_[request];
    if (asked.watch.source == nullptr) return;
    asked.source->push(bytes);
    asked.source->wake();
    settle();
  }
  void end(std::size_t request, const std::vector<std::pair<std::string, std::string>>& trailers) override {
    Asked& asked = *asked_[request];
    if (asked.watch.source == nullptr) return;
    for (const auto& [name, value] : trailers) VIOLET_CHECK(asked.trailers.add(name, value).has_value());
    if (!trailers.empty()) asked.source->trailer_fields = &asked.trailers;
    asked.source->end();
    asked.source->wake();
    settle();
  }
  void set_room(std::size_t bytes) override { server_.wire->set_room(bytes); }
  void add_room(std::size_t bytes) override {
    server_.wire->add_room(bytes);
    settle();
  }
  void vanish() override {
    server_.wire->break_off();
    client_.wire->break_off();
  }
  void settle() override {
    for (bool moves = true; moves;) {
      server_.settle();
      client_.settle();
      moves = carry(*client_.wire, *server_.wire, has_client_ended_);
      moves = carry(*server_.wire, *client_.wire, has_server_ended_) || moves;
    }
  }

  ClientReply reply(std::size_t request) override {
    settle();
    const Answers& answers = asked_[request]->answers;
    ClientReply result;
    result.informational = answers.informational;
    result.status = answers.status;
    result.fields = answers.fields;
    result.body = answers.body;
    result.trailers = answers.trailers;
    result.is_whole = answers.end_count == 1;
    result.is_cut = answers.close_count == 1 && !result.is_whole;
    return result;
  }

  [[nodiscard]] int tunnel_status() const override { return 101; }

 private:
  struct Asked {
    Answers answers;
    PushSource::Watch watch;
    PushSource* source = nullptr;
    Arena arena;
    http::Fields trailers{arena};
  };

  // What one end has written to the other, and that it has ended; false when there was nothing.
  static bool carry(net::MemoryTransport& from, net::MemoryTransport& to, bool& has_ended) {
    const std::string bytes = from.take();
    if (to.is_closed()) return false;
    if (!bytes.empty()) to.feed(bytes);
    const bool ends = !has_ended && (from.is_closed() || from.is_shut_down());
    if (ends && from.is_reset()) {
      to.break_off();
    } else if (ends) {
      to.feed_end();
    }
    has_ended = has_ended || ends;
    return !bytes.empty() || ends;
  }

  std::vector<std::unique_ptr<Asked>> asked_;  // outlives the client's session, which tells it of its end
  H1Wire server_;
  H1ClientWire client_;
  bool has_client_ended_ = false;
  bool has_server_ended_ = false;
};

}  // namespace violet::test
