#pragma once

// The contract suite's view of HTTP/2: a server over the in-memory transport, one byte of a read at a time or as much
// as there is, and a client of frames by hand that keeps to the server's windows and has no end of its own.

#include "tests/contract/wire_fixture.h"
#include "tests/support/h2_wire.h"
#include "violet/base/ascii.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace violet::test {

template <std::size_t kReadMax>
class H2Fixture final : public WireFixture {
 public:
  explicit H2Fixture(const Limits& limits)
      : wire_(limits, settings({{h2::Setting::InitialWindowSize, h2::kWindowMax}}) + settings_ack() +
                          window_update(0, h2::kWindowMax - h2::kWindowDefault)) {
    wire_.wire->set_read_max(kReadMax);
  }

  ScriptService& service() override { return wire_.service; }
  Site& site() override { return wire_.site; }

  std::size_t open(const ClientRequest& request) override {
    const auto id = static_cast<std::uint32_t>(2 * count_++ + 1);
    FieldList fields = test::request(request.is_tunnel ? "CONNECT" : request.method, request.path);
    if (request.is_tunnel) fields.emplace_back(":protocol", "bytes");
    for (auto [name, value] : request.fields) {
      std::transform(name.begin(), name.end(), name.begin(), ascii::lower);
      fields.emplace_back(name, value);
    }
    if (request.length) fields.emplace_back("content-length", std::to_string(*request.length));
    wire_.send(headers(id, fields, !request.has_body && !request.is_tunnel));
    return id;
  }
  void send(std::size_t request, std::string_view bytes) override {
    unsent_[static_cast<std::uint32_t>(request)] += bytes;
    settle();
  }
  void end(std::size_t request, const FieldList& trailers) override {
    const auto id = static_cast<std::uint32_t>(request);
    ends_[id] = trailers.empty() ? data(id, "", true) : headers(id, lower(trailers));
    settle();
  }
  void set_room(std::size_t bytes) override { wire_.wire->set_room(bytes); }
  void add_room(std::size_t bytes) override { wire_.wire->add_room(bytes); }
  void vanish() override { wire_.wire->break_off(); }
  void settle() override {
    do {
      wire_.settle();
    } while (send_some());
  }

  ClientReply reply(std::size_t request) override {
    const FrameReader& reader = wire_.read();
    EXPECT_EQ(reader.error(), "");
    const StreamReply& got = wire_.stream(static_cast<std::uint32_t>(request));
    return {.informational = got.informational,
            .status = got.status,
            .fields = got.fields,
            .body = got.body,
            .trailers = got.trailers,
            .is_whole = got.is_ended,
            .is_cut = !got.is_ended && (got.is_reset || wire_.has_hung_up())};
  }

  [[nodiscard]] int tunnel_status() const override { return 200; }

 private:
  static FieldList lower(FieldList fields) {
    for (auto& [name, value] : fields) std::transform(name.begin(), name.end(), name.begin(), ascii::lower);
    return fields;
  }
  // Bytes that the server allows on a stream; 0 for the connection.
  std::int64_t window(std::uint32_t id) {
    std::int64_t sum = h2::kWindowDefault;
    for (const Frame& one : wire_.read().frames()) {
      if (one.type == h2::FrameType::WindowUpdate && one.stream == id) sum += one.number();
      if (one.type != h2::FrameType::Settings || id == 0) continue;
      for (std::size_t at = 0; at + 6 <= one.payload.size(); at += 6) {
        const auto setting = static_cast<h2::Setting>(h2::read_u16(one.payload.data() + at));
        if (setting == h2::Setting::InitialWindowSize) sum += std::int64_t{one.number(at + 2)} - h2::kWindowDefault;
      }
    }
    return sum;
  }
  bool send_some() {
    std::string bytes;
    for (auto& [id, rest] : unsent_) {
      const std::int64_t room =
          std::min({window(id) - sent_[id], window(0) - sent_[0], std::int64_t{h2::kFrameBytesMax}});
      const auto size = std::min(rest.size(), static_cast<std::size_t>(std::max<std::int64_t>(room, 0)));
      if (size == 0 || wire_.stream(id).is_reset) continue;
      bytes += data(id, rest.substr(0, size));
      rest.erase(0, size);
      sent_[id] += static_cast<std::int64_t>(size);
      sent_[0] += static_cast<std::int64_t>(size);
    }
    for (auto end = ends_.begin(); end != ends_.end();) {
      const bool is_due = unsent_[end->first].empty();
      if (is_due && !wire_.stream(end->first).is_reset) bytes += end->second;
      end = is_due ? ends_.erase(end) : std::next(end);
    }
    if (bytes.empty() || wire_.wire->is_closed()) return false;
    wire_.wire->feed(bytes);
    return true;
  }

  H2Wire wire_;
  std::size_t count_ = 0;
  std::map<std::uint32_t, std::string> unsent_;
  std::map<std::uint32_t, std::string> ends_;
  std::map<std::uint32_t, std::int64_t> sent_;
};

}  // namespace violet::test
