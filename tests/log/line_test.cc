// What a line of the access log looks like, whatever a client sends.

#include "violet/features/log/line.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace violet::access {
namespace {

Entry usual() {
  return {.time_us = 1'769'903'999'123'456,
          .peer = *Address::parse("192.0.2.7", 1234),
          .id = "0123",
          .method = "GET",
          .path = "/users/7",
          .query = "a=b",
          .protocol = "HTTP/1.1",
          .route = "/users/{id}",
          .status = 200,
          .bytes = 42,
          .duration_us = 1'234'567};
}

TEST(LogLine, HasEverythingAsText) {
  const auto line = std::make_unique<Line>();
  EXPECT_EQ(line->text(usual()),
            "2026-01-31T23:59:59.123Z 192.0.2.7 \"GET /users/7?a=b HTTP/1.1\" 200 42 1.234567 \"/users/{id}\" "
            "complete 0123\n");
  Entry entry = usual();
  entry.id = entry.query = entry.route = {};
  entry.peer = *Address::parse("2001:db8::1", 1);
  entry.is_complete = false;
  entry.status = 499;
  entry.duration_us = 5;
  EXPECT_EQ(line->text(entry),
            "2026-01-31T23:59:59.123Z 2001:db8::1 \"GET /users/7 HTTP/1.1\" 499 42 0.000005 \"\" cut -\n");
  entry.peer = {.family = Address::Family::Unix};
  entry.time_us = 999'000;
  EXPECT_TRUE(line->text(entry).starts_with("1970-01-01T00:00:00.999Z unix "));
}

TEST(LogLine, HasEverythingAsJson) {
  const auto line = std::make_unique<Line>();
  EXPECT_EQ(line->json(usual()),
            "{\"time\":\"2026-01-31T23:59:59.123Z\",\"peer\":\"192.0.2.7\",\"method\":\"GET\",\"path\":\"/users/7\","
            "\"query\":\"a=b\",\"protocol\":\"HTTP/1.1\",\"route\":\"/users/{id}\",\"status\":200,\"bytes\":42,"
            "\"seconds\":1.234567,\"complete\":true,\"id\":\"0123\"}\n");
}

TEST(LogLine, StaysOneLineWhateverAClientSends) {
  const auto line = std::make_unique<Line>();
  Entry entry = usual();
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  entry.path = every;
  entry.method = "A\"B\n";
  for (const std::string& text : {std::string(line->text(entry)), std::string(line->json(entry))}) {
    for (const char c : text.substr(0, text.size() - 1)) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
    EXPECT_EQ(text.back(), '\n');
  }
  const std::string text(line->text(entry));
  EXPECT_NE(text.find("\"A\\x22B\\x0a \\x00\\x01"), std::string::npos) << text;
  EXPECT_NE(text.find("[\\x5c]"), std::string::npos);
  EXPECT_NE(text.find("~\\x7f\\x80"), std::string::npos);
  EXPECT_NE(std::string(line->json(entry)).find("\"method\":\"A\\u0022B\\u000a\""), std::string::npos);
}

TEST(LogLine, CutsLongTextsAndAlwaysFits) {
  const auto line = std::make_unique<Line>();
  Entry entry = usual();
  const std::string quotes(10'000, '"');
  entry.id = entry.method = entry.path = entry.query = entry.route = quotes;
  const std::string text(line->json(entry));
  EXPECT_LT(text.size(), Line::kBytes);
  EXPECT_TRUE(text.ends_with("\"}\n"));
  const std::string letters(10'000, 'a');
  entry = usual();
  entry.path = letters;
  EXPECT_NE(line->text(entry).find(" " + letters.substr(0, Line::kTextMax) + "?a=b "), std::string_view::npos);
}

}  // namespace
}  // namespace violet::access
