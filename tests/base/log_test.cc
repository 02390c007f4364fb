#include "violet/base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace violet {
namespace {

// A LogSink is a plain function, so what it saw stands outside the fixture.
std::vector<std::string> lines;

void remember(LogLevel level, std::string_view text) noexcept {
  lines.push_back(std::string(name(level)) + ": " + std::string(text));
}

class Log : public testing::Test {
 protected:
  void SetUp() override { lines.clear(); }
  void TearDown() override {
    set_log_sink(nullptr);
    set_log_level(LogLevel::Info);
  }
};

TEST_F(Log, PassesWhatReachesTheLevel) {
  set_log_sink(&remember);
  set_log_level(LogLevel::Warn);
  EXPECT_EQ(log_level(), LogLevel::Warn);
  log(LogLevel::Debug, "a");
  log(LogLevel::Info, "b");
  log(LogLevel::Warn, "c");
  log(LogLevel::Error, "d");
  EXPECT_EQ(lines, (std::vector<std::string>{"warn: c", "error: d"}));
}

TEST_F(Log, SaysNothingAtOff) {
  set_log_sink(&remember);
  set_log_level(LogLevel::Off);
  log(LogLevel::Error, "a");
  log(LogLevel::Off, "b");
  EXPECT_TRUE(lines.empty());
}

TEST_F(Log, DebugIsOffByDefault) {
  set_log_sink(&remember);
  log(LogLevel::Debug, "a");
  log(LogLevel::Info, "b");
  EXPECT_EQ(lines, std::vector<std::string>{"info: b"});
}

// What the default sink writes for one call of log().
std::string written(LogLevel level, std::string_view text) {
  testing::internal::CaptureStderr();
  log(level, text);
  return testing::internal::GetCapturedStderr();
}

TEST_F(Log, TheDefaultSinkWritesOneLineWithTimeAndLevel) {
  const std::string line = written(LogLevel::Warn, "accept failed");
  EXPECT_TRUE(testing::internal::RE::FullMatch(
      line, "[0-9]+-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z warn accept failed\n"))
      << line;
}

TEST_F(Log, TheDefaultSinkCutsALongLine) {
  const std::string line = written(LogLevel::Error, std::string(10'000, 'x'));
  EXPECT_LE(line.size(), 2048U);
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

}  // namespace
}  // namespace violet
