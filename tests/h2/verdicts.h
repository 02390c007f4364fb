#pragma once

// What a server makes of bytes: each is asked in one piece, byte by byte, and split at every byte, and has to give the
// same verdict.

#include "tests/support/h2_wire.h"
#include "violet/base/log.h"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace violet::test {

// Calls `ask(wire)` after `bytes` have come to a new connection in each way. Requests are echoed.
inline void in_each_cut(const std::string& bytes, const std::function<void(H2Wire&)>& ask, const Limits& limits = {}) {
  constexpr std::size_t kSplitsMax = 200;
  set_log_level(LogLevel::Off);
  const std::size_t step = bytes.size() / kSplitsMax + 1;
  for (std::size_t cut = 0; cut <= bytes.size(); cut += step) {
    H2Wire wire(limits);
    wire.service.handler = Echo::serve;
    if (cut == 0) wire.wire->set_read_max(1);
    wire.send(std::string_view(bytes).substr(0, cut));
    wire.send(std::string_view(bytes).substr(cut));
    wire.wire->set_read_max(~std::size_t{0});
    SCOPED_TRACE(cut);
    EXPECT_EQ(wire.read().error(), "");
    ask(wire);
    if (testing::Test::HasFailure()) return;
  }
}

// The connection ends with GOAWAY and one of `codes`.
inline void expect_connection_error(const std::string& bytes, std::initializer_list<h2::Code> codes,
                                    const Limits& limits = {}) {
  in_each_cut(
      bytes,
      [&](H2Wire& wire) {
        const auto code = wire.goaway();
        ASSERT_TRUE(code.has_value()) << "no GOAWAY";
        bool is_one = false;
        for (const h2::Code one : codes) is_one = is_one || one == *code;
        EXPECT_TRUE(is_one) << "code " << static_cast<int>(*code);
        EXPECT_TRUE(wire.has_hung_up());
      },
      limits);
}
inline void expect_connection_error(const std::string& bytes, h2::Code code, const Limits& limits = {}) {
  expect_connection_error(bytes, {code}, limits);
}

// The stream is reset with `code`, and the connection answers the next request.
inline void expect_stream_error(const std::string& bytes, std::uint32_t stream, h2::Code code) {
  in_each_cut(bytes, [&](H2Wire& wire) {
    const StreamReply& reply = wire.stream(stream);
    EXPECT_TRUE(reply.is_reset);
    EXPECT_EQ(static_cast<int>(reply.code), static_cast<int>(code));
    EXPECT_FALSE(wire.goaway().has_value());
    EXPECT_EQ(wire.ask(99, get(99)).status, 200);
    EXPECT_EQ(wire.session->stream_count(), 0u);
  });
}

// The stream is answered with `status`, and the connection goes on.
inline void expect_answer(const std::string& bytes, std::uint32_t stream, int status, const Limits& limits = {}) {
  in_each_cut(
      bytes,
      [&](H2Wire& wire) {
        EXPECT_EQ(wire.stream(stream).status, status);
        EXPECT_FALSE(wire.goaway().has_value());
        EXPECT_EQ(wire.ask(99, get(99)).status, 200);
      },
      limits);
}

}  // namespace violet::test
