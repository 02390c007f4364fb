#include "violet/base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

namespace violet {
namespace {

constexpr ErrorKind kAllKinds[] = {
    ErrorKind::None,     ErrorKind::Cancelled,   ErrorKind::Timeout,      ErrorKind::Closed,  ErrorKind::Reset,
    ErrorKind::Refused,  ErrorKind::Protocol,    ErrorKind::TooLarge,     ErrorKind::Invalid, ErrorKind::NotFound,
    ErrorKind::Conflict, ErrorKind::Unsupported, ErrorKind::Busy,         ErrorKind::System,  ErrorKind::Uv,
    ErrorKind::Address,  ErrorKind::Handler,     ErrorKind::ShuttingDown,
};

TEST(Error, IsNoErrorByDefault) {
  constexpr Error error;
  EXPECT_FALSE(error);
  EXPECT_EQ(error.kind(), ErrorKind::None);
  EXPECT_EQ(error.status(), 0);
  EXPECT_EQ(error.detail(), 0);
}

TEST(Error, TakesTheStatusOfItsKind) {
  EXPECT_EQ(Error(ErrorKind::Invalid).status(), 400);
  EXPECT_EQ(Error(ErrorKind::Protocol).status(), 400);
  EXPECT_EQ(Error(ErrorKind::NotFound).status(), 404);
  EXPECT_EQ(Error(ErrorKind::Timeout).status(), 408);
  EXPECT_EQ(Error(ErrorKind::Conflict).status(), 409);
  EXPECT_EQ(Error(ErrorKind::TooLarge).status(), 413);
  EXPECT_EQ(Error(ErrorKind::Handler).status(), 500);
  EXPECT_EQ(Error(ErrorKind::Unsupported).status(), 501);
  EXPECT_EQ(Error(ErrorKind::ShuttingDown).status(), 503);
}

TEST(Error, EveryKindButNoneIsAnErrorStatus) {
  for (const ErrorKind kind : kAllKinds) {
    if (kind == ErrorKind::None) continue;
    const Error error(kind);
    EXPECT_TRUE(error) << name(kind);
    EXPECT_GE(error.status(), 400) << name(kind);
    EXPECT_LE(error.status(), 599) << name(kind);
  }
}

TEST(Error, AGivenStatusWins) {
  constexpr Error error(ErrorKind::TooLarge, 7, 431);
  EXPECT_EQ(error.status(), 431);
  EXPECT_EQ(error.detail(), 7);
}

TEST(Error, ComparesByAllItsParts) {
  EXPECT_EQ(Error(ErrorKind::Reset, 8), Error(ErrorKind::Reset, 8));
  EXPECT_NE(Error(ErrorKind::Reset, 8), Error(ErrorKind::Reset, 9));
  EXPECT_NE(Error(ErrorKind::Reset, 8), Error(ErrorKind::Closed, 8));
  EXPECT_NE(Error(ErrorKind::TooLarge, 0, 413), Error(ErrorKind::TooLarge, 0, 431));
}

TEST(Error, EveryKindHasAName) {
  for (const ErrorKind kind : kAllKinds) {
    EXPECT_FALSE(name(kind).empty());
    EXPECT_NE(name(kind), "unknown");
  }
}

TEST(ErrorMessage, LooksUpErrno) {
  EXPECT_EQ(message(Error(ErrorKind::System, ECONNRESET)), "system error: Connection reset by peer (errno 104)");
}

TEST(ErrorMessage, ReadsALibuvCodeAsNegatedErrno) {
  EXPECT_EQ(message(Error(ErrorKind::Uv, -EADDRINUSE)), "libuv error: Address already in use (errno 98)");
}

TEST(ErrorMessage, NamesTheDetailOfOtherKinds) {
  EXPECT_EQ(message(Error(ErrorKind::Reset, 8)), "reset by peer (8)");
  EXPECT_EQ(message(Error(ErrorKind::NotFound)), "not found");
}

Result<int> parse_digit(char c) {
  if (c < '0' || c > '9') return fail(ErrorKind::Invalid, c);
  return c - '0';
}

Result<int> add_digits(char a, char b) {
  VIOLET_TRY(const int first, parse_digit(a));
  VIOLET_TRY(const int second, parse_digit(b));
  return first + second;
}

Result<void> expect_digit(char c) {
  VIOLET_TRY_VOID(parse_digit(c));
  return {};
}

TEST(Try, BindsTheValue) { EXPECT_EQ(add_digits('3', '4'), 7); }

TEST(Try, PassesTheFirstErrorUp) {
  const Result<int> result = add_digits('x', 'y');
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Error(ErrorKind::Invalid, 'x'));
}

TEST(Try, PassesALaterErrorUp) {
  const Result<int> result = add_digits('1', 'y');
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().detail(), 'y');
}

TEST(Try, VoidPassesTheErrorUp) {
  EXPECT_TRUE(expect_digit('1'));
  EXPECT_EQ(expect_digit('z').error(), Error(ErrorKind::Invalid, 'z'));
}

TEST(Try, MovesAValueThatCannotBeCopied) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
  const auto use = [&]() -> Result<int> {
    VIOLET_TRY(const std::unique_ptr<int> value, make());
    return *value;
  };
  EXPECT_EQ(use(), 5);
}

}  // namespace
}  // namespace violet
