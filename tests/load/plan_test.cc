#include "load/plan.h"

#include "load/compare.h"
#include "load/options.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <unistd.h>
#include <vector>

namespace violet::load {
namespace {

// A file for the time of a test.
class File {
 public:
  explicit File(const std::string& text) {
    const int descriptor = ::mkstemp(path_);
    EXPECT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(descriptor);
  }
  ~File() { std::remove(path_); }
  [[nodiscard]] std::string path() const { return path_; }

 private:
  char path_[32] = "/tmp/violet-load-test-XXXXXX";
};

Options options_of(const std::vector<std::string>& words, int expected_status = -1) {
  std::vector<std::string> kept = words;
  std::vector<char*> arguments;
  for (std::string& word : kept) arguments.push_back(word.data());
  Options options;
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse(arguments, options), expected_status);
  static_cast<void>(testing::internal::GetCapturedStderr());
  return options;
}

std::string bytes_of(const std::vector<std::string>& words, std::size_t index = 0) {
  const auto plan = make_plan(options_of(words));
  EXPECT_TRUE(plan) << plan.error();
  return plan ? plan->requests[index].bytes : "";
}

TEST(LoadOptions, SayWhatIsWrongWithACommandLine) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"-c"},
                                             {"-c", "0", "http://a/"},
                                             {"-c", "2x", "http://a/"},
                                             {"--what", "http://a/"},
                                             {"http://a/", "http://b/"},
                                             {"-t", "4", "-c", "2", "http://a/"},
                                             {"-H", "nocolon", "http://a/"},
                                             {"-b", "@/no/such/file", "http://a/"},
                                             {"--rate", "10", "-n", "5", "http://a/"},
                                             {"--ab", "one", "http://a/"}}) {
    options_of(words, 2);
  }
}

TEST(LoadPlan, MakesTheRequestOfTheCommandLine) {
  EXPECT_EQ(bytes_of({"http://127.0.0.1:81/a?b=c"}), "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:81\r\n\r\n");
  EXPECT_EQ(bytes_of({"http://127.0.0.1", "-H", "X: y", "-b", "hi"}),
            "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: y\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(bytes_of({"http://[::1]:81/", "-X", "PUT", "-H", "Host: b"}),
            "PUT / HTTP/1.1\r\nHost: b\r\nContent-Length: 0\r\n\r\n");
  const File body("from a file");
  EXPECT_TRUE(bytes_of({"http://127.0.0.1/", "-b", "@" + body.path()}).ends_with("\r\n\r\nfrom a file"));
}

TEST(LoadPlan, ResolvesWhereItGoes) {
  const auto plan = make_plan(options_of({"http://[::1]:8081/"}));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->address.to_string(), "[::1]:8081");
}

TEST(LoadPlan, RefusesWhatIsNoUrl) {
  for (const char* url : {"https//a", "ftp://a/", "http://", "http://:80/", "http://a/\x01"}) {
    EXPECT_FALSE(make_plan(options_of({url}))) << url;
  }
}

TEST(LoadPlan, AMixIsInTheOrderOfItsWeights) {
  EXPECT_EQ(spread({3, 1}), (std::vector<std::uint32_t>{0, 0, 1, 0}));
  EXPECT_EQ(spread({1, 1, 1}), (std::vector<std::uint32_t>{0, 1, 2}));
  const File raw("BREW / HTTP/1.1\r\n\r\n");
  const File mix("# comment\n2 GET /one\n1 POST /two {\"a\": 1}\n\n1 raw " + raw.path() + "\n");
  const auto plan = make_plan(options_of({"http://127.0.0.1:1/", "--mix", mix.path()}));
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_EQ(plan->order.size(), 4u);
  EXPECT_EQ(plan->requests[0].bytes, "GET /one HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n");
  EXPECT_TRUE(plan->requests[1].bytes.ends_with("Content-Length: 8\r\n\r\n{\"a\": 1}"));
  EXPECT_EQ(plan->requests[2].bytes, "BREW / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(plan->requests[1].method, http::Method::Post);
}

TEST(LoadPlan, RefusesAMalformedMix) {
  for (const char* text :
       {"GET /one\n", "0 GET /\n", "1 GET\n", "1 G(T /\n", "", "1 raw /no/such/file\n", "1 POST / @/no/file\n"}) {
    const File mix(text);
    EXPECT_FALSE(make_plan(options_of({"http://127.0.0.1:1/", "--mix", mix.path()}))) << text;
  }
}

TEST(LoadCompare, ADifferenceWithinTheSpreadIsNone) {
  const Verdict noise = judge({10, 12, 11, 13}, {11, 12, 12, 12});
  EXPECT_FALSE(noise.is_effect());
  const Verdict effect = judge({10, 10.1, 10.2, 10.1}, {12, 12.1, 12.2, 12.1});
  EXPECT_TRUE(effect.is_effect());
  EXPECT_DOUBLE_EQ(effect.difference, 2);
  EXPECT_NEAR(effect.spread_a, 0.2, 1e-9);
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
}

// The machine grows slower all the time; the pairs do not mind.
TEST(LoadCompare, ADriftIsInBothArms) { EXPECT_DOUBLE_EQ(judge({10, 20, 30, 40}, {11, 21, 31, 41}).difference, 1); }

}  // namespace
}  // namespace violet::load
