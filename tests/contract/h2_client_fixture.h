#pragma once

// The contract suite over both roles of HTTP/2 at once: a client session speaks to a server session.

#include "tests/contract/wire_fixture.h"
#include "tests/support/h2_pair.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::test {

class H2ClientFixture final : public WireFixture {
 public:
  explicit H2ClientFixture(const Limits& limits) : pair_(limits) {}

  ScriptService& service() override { return pair_.server.service; }
  Site& site() override { return pair_.server.site; }

  std::size_t open(const ClientRequest& request) override {
    const bool has_body = request.has_body || request.is_tunnel;
    const std::optional<std::uint64_t> length = request.length;
    Call* const call = pair_.open(request.is_tunnel ? "CONNECT" : request.method, request.path, request.fields,
                                  has_body, request.is_tunnel ? "bytes" : "", length);
    EXPECT_NE(call, nullptr);
    settle();
    return pair_.calls.size() - 1;
  }
  void send(std::size_t request, std::string_view bytes) override {
    PushSource::Watch& upload = pair_.calls[request]->upload;
    if (upload.source != nullptr) {
      upload.source->push(bytes);
      upload.source->wake();
    }
    settle();
  }
  void end(std::size_t request, const FieldList& trailers) override {
    PushSource::Watch& upload = pair_.calls[request]->upload;
    if (upload.source == nullptr) return;
    if (!trailers.empty()) {
      trailers_ = std::make_unique<http::Fields>(arena_);
      for (const auto& [name, value] : trailers) EXPECT_TRUE(trailers_->add(name, value));
      upload.source->trailer_fields = trailers_.get();
    }
    upload.source->end();
    upload.source->wake();
    settle();
  }
  void set_room(std::size_t bytes) override { pair_.server.wire->set_room(bytes); }
  void add_room(std::size_t bytes) override { pair_.server.wire->add_room(bytes); }
  void vanish() override { pair_.server.wire->break_off(); }
  void settle() override { pair_.settle(); }

  ClientReply reply(std::size_t request) override {
    const Call& call = *pair_.calls[request];
    EXPECT_LE(call.close_count, 1);
    return {.informational = call.reply.informational,
            .status = call.reply.status,
            .fields = call.reply.fields,
            .body = call.reply.body,
            .trailers = call.reply.trailers,
            .is_whole = call.reply.is_ended,
            .is_cut = call.close_count > 0 && !call.reply.is_ended};
  }

  [[nodiscard]] int tunnel_status() const override { return 200; }

 private:
  H2Pair pair_;
  Arena arena_;
  std::unique_ptr<http::Fields> trailers_;
};

}  // namespace violet::test
