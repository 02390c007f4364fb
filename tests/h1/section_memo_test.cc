#include "violet/h1/parser.h"
#include "violet/memory/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace violet::h1 {
namespace {

// Everything that parsing a head tells, as text, so that two results compare.
struct Parsing {
  explicit Parsing(std::string_view text, Memory memory = {})
      : size(text.size()), bytes(std::make_unique<char[]>(text.size() + kScanPadding)), head(arena) {
    std::copy(text.begin(), text.end(), bytes.get());
    parsed = parse_head(bytes.get(), bytes.get() + text.size(), limits, head, framing, memory);
  }

  [[nodiscard]] std::string dump() const {
    std::string text = std::to_string(static_cast<int>(parsed.verdict)) + " " + std::to_string(parsed.status) + " " +
                       std::string(head.target) + " " + std::string(head.authority) + " " +
                       std::to_string(framing.content_length) + (framing.is_chunked ? "C" : "") +
                       (framing.keeps_alive ? "K" : "") + (framing.wants_upgrade ? "U" : "") + "\n";
    for (const http::Field& field : head.fields) {
      text.append(field.name).append("=").append(field.value).append("#");
      text.append(std::to_string(static_cast<int>(field.id))).append("\n");
      // Whatever was remembered, texts lie in the bytes of this request.
      EXPECT_GE(field.name.data(), bytes.get());
      EXPECT_LE(field.value.data() + field.value.size(), bytes.get() + size);
    }
    return text;
  }

  Limits limits;
  std::size_t size;
  std::unique_ptr<char[]> bytes;
  Arena arena;
  http::Head head;
  Framing framing;
  Parsed parsed;
};

std::string request(std::string_view target, std::string_view fields) {
  return "GET " + std::string(target) + " HTTP/1.1\r\n" + std::string(fields) + "\r\n";
}

constexpr std::string_view kSections[] = {
    "Host: a\r\n",
    "Host: b\r\n",
    "Host: a\r\nUser-Agent: x\r\nAccept: */*\r\n",
    "Host: a\r\nContent-Length: 5\r\n",
    "Host: a\r\nContent-Length: 6\r\n",
    "Host: a\r\nTransfer-Encoding: chunked\r\n",
    "Host: a\r\nConnection: close\r\n",
    "Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
    "X-Own: 1\r\nHost: example.com:80\r\nX-Own: 2\r\n",
    "Host:\r\n",
    "Host: a\r\nHost: a\r\n",
    "Host: a b\r\n",
    "X: 1\r\n",
};

TEST(SectionMemo, RecallsWhatCameTwiceOnAConnection) {
  SectionMemo memo;
  SectionMemo::Hint hint;
  const std::string text = request("/one", kSections[2]);
  for (int i = 0; i < 2; ++i) Parsing(text, {&memo, &hint});
  Arena arena;
  http::Head head(arena);
  Framing framing;
  const std::string section = std::string(kSections[2]) + "\r\n";
  const std::string padded = section + std::string(kScanPadding, ' ');
  EXPECT_EQ(memo.recall(padded.data(), padded.data() + section.size(), hint, head, framing), section.size());
  EXPECT_EQ(head.fields.get("accept"), "*/*");
  // Not for one byte less, nor for another byte.
  EXPECT_EQ(memo.recall(padded.data(), padded.data() + section.size() - 1, hint, head, framing), 0u);
  std::string other = padded;
  other[7] = 'b';
  EXPECT_EQ(memo.recall(other.data(), other.data() + section.size(), hint, head, framing), 0u);
}

TEST(SectionMemo, ChangesNoResult) {
  SectionMemo memo;
  // Connections that share the loop's memo, each repeating sections and going over to others.
  std::vector<SectionMemo::Hint> hints(3);
  unsigned random = 1;
  for (int i = 0; i < 3000; ++i) {
    random = random * 1103515245 + 12345;
    const std::string_view fields = kSections[random / 65536 % std::size(kSections)];
    const std::string text = request(random % 2 == 0 ? "/a" : "/b?c", fields);
    SectionMemo::Hint& hint = hints[random / 256 % hints.size()];
    for (int again = 0; again < 3; ++again) {
      ASSERT_EQ(Parsing(text, {&memo, &hint}).dump(), Parsing(text).dump()) << text;
    }
  }
}

TEST(SectionMemo, SeesTheVersionAndTheTargetOfEachRequest) {
  SectionMemo memo;
  SectionMemo::Hint hint;
  const std::string fields(kSections[2]);
  for (int i = 0; i < 3; ++i) Parsing(request("/", fields), {&memo, &hint});
  for (const std::string& text :
       {"GET / HTTP/1.0\r\n" + fields + "\r\n", "GET http://other/ HTTP/1.1\r\n" + fields + "\r\n",
        "CONNECT other:1 HTTP/1.1\r\n" + fields + "\r\n", "OPTIONS * HTTP/1.1\r\n" + fields + "\r\n"}) {
    EXPECT_EQ(Parsing(text, {&memo, &hint}).dump(), Parsing(text).dump()) << text;
  }
}

TEST(SectionMemo, LeavesLargeAndManyLinedSectionsAlone) {
  SectionMemo memo;
  SectionMemo::Hint hint;
  std::string many = "Host: a\r\n";
  for (int i = 0; i < 60; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  const std::string large = "Host: a\r\nX: " + std::string(5000, 'x') + "\r\n";
  for (const std::string& fields : {many, large}) {
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(Parsing(request("/", fields), {&memo, &hint}).dump(), Parsing(request("/", fields)).dump());
    }
  }
}

}  // namespace
}  // namespace violet::h1
