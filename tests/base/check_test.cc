#include "violet/base/check.h"

#include <gtest/gtest.h>

namespace violet {
namespace {

TEST(CheckDeathTest, NamesFileAndExpression) {
  const int n = 1;
  EXPECT_DEATH(VIOLET_CHECK(n == 2), "check_test.cc:[0-9]+: violet: check failed: n == 2");
}

TEST(Check, PassesWhatHolds) {
  int evaluated_count = 0;
  VIOLET_CHECK(++evaluated_count == 1);
  EXPECT_EQ(evaluated_count, 1);
}

#ifdef VIOLET_ASSERTIONS
TEST(AssertDeathTest, IsCheckedInThisBuild) {
  const bool holds = false;
  EXPECT_DEATH(VIOLET_ASSERT(holds), "check failed: holds");
}
#else
TEST(Assert, IsNotEvaluatedInThisBuild) {
  int evaluated_count = 0;
  VIOLET_ASSERT(++evaluated_count == 1);
  EXPECT_EQ(evaluated_count, 0);
}
#endif

}  // namespace
}  // namespace violet
