// Text is UTF-8, also across fragments (RFC 6455 §8.1): group 6 of the Autobahn suite as cases of our own.

#include "tests/conformance/websocket/case.h"

#include <gtest/gtest.h>

namespace violet::test {
namespace {

TEST(WsText, WhatIsRightPasses) {
  const char* const kRight[] = {
      "Hello-\xc2\xb5@\xc3\x9f\xc3\xb6\xc3\xa4\xc3\xbc\xc3\xa0\xc3\xa1-UTF-8!!",
      "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5",
      "\x7f",
      "\xc2\x80",
      "\xdf\xbf",
      "\xe0\xa0\x80",
      "\xed\x9f\xbf",
      "\xee\x80\x80",
      "\xef\xbf\xbd",
      "\xef\xbf\xbf",
      "\xf0\x90\x80\x80",
      "\xf4\x8f\xbf\xbf",
      "\xef\xbf\xbe",
      "\xf0\x9f\xbf\xbf",
      "\xf3\xbf\xbf\xbe",
  };
  for (const std::string payload : kRight) {
    expect_case({"whole", text(payload), {{kTextFrame, payload}}});
    // A code point may be cut anywhere, fragments of one byte included.
    for (const std::size_t size : {1u, 2u, 3u}) {
      expect_case({"by " + std::to_string(size), fragments(ws::kText, payload, size), {{kTextFrame, payload}}});
    }
  }
  const std::string null(1, '\0');
  expect_case({"a NUL", text(null), {{kTextFrame, null}}});
}

TEST(WsText, WhatIsWrongIs1007) {
  const char* const kWrong[] = {
      "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80"
      "edited",
      "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xf4\x90\x80\x80"
      "edited",
      "\xf8\x88\x80\x80\x80",
      "\xfc\x84\x80\x80\x80\x80",
      "\xf7\xbf\xbf\xbf",
      "\xfb\xbf\xbf\xbf\xbf",
      "\xfd\xbf\xbf\xbf\xbf\xbf",
      "\xf4\x90\x80\x80",
      "\x80",
      "\xbf",
      "\x80\xbf\x80",
      "\xc0\xc1",
      "\xf5\xff",
      "\xfe",
      "\xff",
      "\xfe\xfe\xff\xff",
      "\xc0\xaf",
      "\xe0\x80\xaf",
      "\xf0\x80\x80\xaf",
      "\xf8\x80\x80\x80\xaf",
      "\xc1\xbf",
      "\xe0\x9f\xbf",
      "\xf0\x8f\xbf\xbf",
      "\xc0\x80",
      "\xe0\x80\x80",
      "\xf0\x80\x80\x80",
      "\xed\xa0\x80",
      "\xed\xad\xbf",
      "\xed\xae\x80",
      "\xed\xbf\xbf",
      "\xed\xa0\x80\xed\xb0\x80",
      "\xed\xaf\xbf\xed\xbf\xbf",
      "\xc3",
      "\xe2\x82",
      "\xf0\x9f\x98",
      "abc\xe2\x82",
  };
  for (const std::string payload : kWrong) {
    expect_case({"whole", text("ok") + text(payload) + text("after"), {{kTextFrame, "ok"}}, 1007});
    expect_case({"in fragments", fragments(ws::kText, payload, 1) + text("after"), {}, 1007});
    // In a binary message it is nobody's business.
    expect_case({"binary", binary(payload), {{kBinaryFrame, payload}}});
  }
}

TEST(WsText, WhatCannotBecomeRightIsRefusedBeforeItsMessageEnds) {
  const std::string good = "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5";
  expect_case({"in the first fragment", frame(1, good + "\xf4\x90"), {}, 1007});
  // In the middle of a frame whose rest has not come.
  const std::string whole = text(good + "\xf4\x90\x80\x80" + std::string(50, 'x'));
  expect_case({"in the middle of a frame", whole.substr(0, whole.size() - 45), {}, 1007});
  expect_case({"not too early", frame(1, good + "\xf4"), {}});
}

TEST(WsText, LongTextsAreCheckedAtEveryPlace) {
  for (const std::size_t at : {0u, 31u, 32u, 127u, 5000u}) {
    std::string payload(at, 'x');
    payload += "\xe2\x82\xac";
    payload += std::string(200, 'y');
    expect_case({"right at " + std::to_string(at), text(payload), {{kTextFrame, payload}}});
    payload[at + 2] = 'z';
    expect_case({"wrong at " + std::to_string(at), text(payload), {}, 1007});
  }
}

}  // namespace
}  // namespace violet::test
