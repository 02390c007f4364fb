// The proof that the questions of http1_rig.h can be answered with no.

#include "tests/conformance/http1_rig.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace violet::test {
namespace {

TEST(Http1Rig, SeesWhatIsWrong) {
  EXPECT_NONFATAL_FAILURE(refused("a good request", get()), "a good request");
  EXPECT_NONFATAL_FAILURE(refused("the wrong status", get("Host: b\r\n"), {500}), "the wrong status");
  EXPECT_NONFATAL_FAILURE(accepted("a bad request", get("Host: b\r\n")), "a bad request");
  EXPECT_NONFATAL_FAILURE(accepted("the wrong answer", get(), {"200 GET /x a\n"}), "the wrong answer");
  EXPECT_NONFATAL_FAILURE(accepted("one too many", get() + get()), "one too many");
  EXPECT_NONFATAL_FAILURE(accepted_or_refused("neither", get(), "200 x", {400}), "neither");
}

TEST(Http1Rig, ReadsAnswersStrictly) {
  const auto is_malformed = [](std::string_view bytes) { return answers_of(bytes).at(0).starts_with("malformed"); };
  const std::string head = "HTTP/1.1 200 OK\r\nDate: x\r\n";
  EXPECT_FALSE(is_malformed(head + "Content-Length: 1\r\n\r\na"));
  EXPECT_TRUE(is_malformed(head + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na"));
  EXPECT_TRUE(is_malformed(head + "Content-Length: 2\r\n\r\na"));
  EXPECT_TRUE(is_malformed(head + "\r\n"));
  EXPECT_TRUE(is_malformed(head + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n"));
  EXPECT_TRUE(
      is_malformed(head + "Connection: close\r\nContent-Length: 0\r\n\r\n" + head + "Content-Length: 0\r\n\r\n"));
  EXPECT_TRUE(is_malformed("HTTP/1.1 204 No Content\r\nDate: x\r\nContent-Length: 0\r\n\r\n"));
}

}  // namespace
}  // namespace violet::test
