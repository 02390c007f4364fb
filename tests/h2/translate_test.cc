// A message that goes from HTTP/1.1 to HTTP/2 and back says what it said before.

#include "tests/support/h2_frames.h"
#include "violet/base/ascii.h"
#include "violet/h1/parser.h"
#include "violet/h2/message/kept.h"
#include "violet/h2/message/read.h"
#include "violet/h2/message/write.h"
#include "violet/net/memory.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::test {
namespace {

struct Parsed {
  explicit Parsed(std::string_view bytes) : text(bytes), head(arena) {
    text.append(kScanPadding, '\0');
    h1::Framing framing;
    const auto parsed = h1::parse_head(text.data(), text.data() + bytes.size(), Limits(), head, framing);
    EXPECT_EQ(static_cast<int>(parsed.verdict), static_cast<int>(h1::Verdict::Done)) << bytes;
  }
  std::string text;
  Arena arena;
  http::Head head;
};

// In HTTP/1.1's order, names folded.
std::string as_http1(const http::Head& head) {
  std::string target(head.form == http::TargetForm::Absolute ? head.path : head.target);
  if (head.form == http::TargetForm::Absolute && !head.query.empty()) target += "?" + std::string(head.query);
  std::string text =
      std::string(head.method_text) + " " + target + " HTTP/1.1\nHost: " + std::string(head.authority) + "\n";
  for (const http::Field& field : head.fields) {
    if (field.id == http::FieldId::Host) continue;
    std::string name(field.name);
    for (char& c : name) c = ascii::lower(c);
    text += name + ": " + std::string(field.value) + "\n";
  }
  return text;
}

// Over the wire of HTTP/2, from one connection's encoder to its decoder.
std::string through_http2(const http::Head& head) {
  Loop loop;
  BlockPool blocks;
  net::Output output(blocks);
  hpack::Encoder encoder;
  h2::HeadWriter writer{output, encoder};
  writer.request(1, head, {.ends_stream = true});
  const Ref<net::MemoryTransport> wire = net::MemoryTransport::make(loop);
  std::uint64_t written = 0;
  EXPECT_EQ(output.flush(*wire, written), net::Output::Flushed::All);
  std::string block = wire->take().substr(h2::kFrameHeadBytes);
  wire->close();
  const std::size_t size = block.size();
  block.append(kScanPadding, '\0');
  Arena arena;
  http::Head back(arena);
  hpack::Section section(back.fields);
  hpack::Decoder decoder;
  EXPECT_EQ(decoder.decode({block.data(), size}, {1 << 16, 100}, section), hpack::Verdict::Done);
  std::optional<std::uint64_t> length;
  EXPECT_EQ(h2::read_request(section, 8192, true, back, length), h2::Reading::Good);
  // And through what keeps a request that waits.
  http::Head kept(arena);
  h2::restore(h2::keep(back), kept);
  EXPECT_EQ(as_http1(kept), as_http1(back));
  EXPECT_EQ(kept.path, back.path);
  EXPECT_EQ(kept.query, back.query);
  EXPECT_EQ(kept.method, back.method);
  return as_http1(back);
}

TEST(H2Translate, RequestsStayWhatTheyAre) {
  for (const std::string_view bytes : {
           "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET /a%20b?c=d&e HTTP/1.1\r\nHost: example.com:8080\r\nUser-Agent: x\r\nX-Own: 1\r\nX-Own: 2\r\n\r\n",
           "OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\nAccept: text/html, */*;q=0.1\r\nCookie: a=1; b=2\r\n\r\n",
           "BREW /pot?x HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nAuthorization: Basic eA==\r\n\r\n",
           "GET http://b/p?q HTTP/1.1\r\nHost: a\r\n\r\n",
           "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
       }) {
    const Parsed parsed(bytes);
    EXPECT_EQ(through_http2(parsed.head), as_http1(parsed.head));
  }
}

TEST(H2Translate, WhatBelongsToAConnectionStaysBehind) {
  const Parsed parsed(
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nProxy-Connection: x\r\n"
      "Upgrade: x\r\nTE: gzip\r\nX: 1\r\n\r\n");
  EXPECT_EQ(through_http2(parsed.head), "GET / HTTP/1.1\nHost: a\nx: 1\n");
}

TEST(H2Translate, AHeadLargerThanABlockTakesContinuation) {
  Arena arena;
  http::Fields fields(arena);
  const std::string value(30'000, 'v');
  ASSERT_TRUE(fields.add("x-large", value));
  Loop loop;
  BlockPool blocks;
  net::Output output(blocks);
  hpack::Encoder encoder;
  h2::HeadWriter{output, encoder}.trailers(1, fields);
  const Ref<net::MemoryTransport> wire = net::MemoryTransport::make(loop);
  std::uint64_t written = 0;
  EXPECT_EQ(output.flush(*wire, written), net::Output::Flushed::All);
  FrameReader reader;
  reader.add(settings() + headers(1, FieldList{{":status", "200"}}, false) + wire->take());
  wire->close();
  EXPECT_EQ(reader.error(), "");
  EXPECT_GE(reader.count(h2::FrameType::Continuation), 1u);
  EXPECT_EQ(reader.stream(1).trailers, (FieldList{{"x-large", value}}));
}

}  // namespace
}  // namespace violet::test
