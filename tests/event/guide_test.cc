// The code of docs/guide/tasks.md, compiled and run; the first test compares the two word by word.

#include "tests/event/run_task.h"
#include "violet/event/loop.h"
#include "violet/event/offload.h"
#include "violet/event/wait.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace violet {
namespace {

using namespace std::chrono_literals;

struct Ledger {
  void begin() {}
  Result<void> commit() {
    ++commit_count;
    return {};
  }
  Task<Result<void>> roll_back() {
    Result<void> slept = co_await sleep(1ms);
    if (slept) ++roll_back_count;
    co_return slept;
  }
  int commit_count = 0;
  int roll_back_count = 0;
};

bool is_prime(int n) {
  for (int d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return true;
}
Task<std::string> load_name(int user) {
  co_await sleep_ms(1);
  co_return "user " + std::to_string(user);
}
Task<std::vector<int>> load_posts(int user) { co_return std::vector<int>(static_cast<std::size_t>(user), 1); }
Task<std::string> ask_for_advert(int seller) {
  co_await sleep_ms(seller == 1 ? 10'000 : 1);
  co_return "buy from " + std::to_string(seller);
}
std::size_t slow_hash(const std::string& password, int rounds) {
  return password.size() * static_cast<std::size_t>(rounds);
}
std::string to_upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}
std::string welcomed;
Task<> send_welcome(std::string mail) {
  co_await sleep_ms(1);
  welcomed = mail;
}

Task<std::string> greet(std::string name) {
  Result<void> slept = co_await sleep(20ms);
  if (!slept) co_return "";  // the client left, or the deadline passed
  co_return "hello, " + name;
}

Task<std::size_t> greet_twice() {
  std::string first = co_await greet("ada");
  std::string second = co_await greet("grace");
  co_return first.size() + second.size();
}

Task<Result<void>> transfer(Ledger& ledger) {
  ledger.begin();
  Result<void> confirmed = co_await sleep(10ms);
  if (confirmed) co_return ledger.commit();
  (void)co_await shielded(ledger.roll_back(), 2'000);
  co_return confirmed;
}

Task<int> count_primes(int below) {
  int found = 0;
  for (int n = 2; n < below; ++n) {
    if (n % 1000 == 0) co_await yield();  // others get their turn
    if (this_task().is_stopped()) break;
    if (is_prime(n)) ++found;
  }
  co_return found;
}

Task<std::string> page(int user) {
  auto [name, posts] = co_await when_all(load_name(user), load_posts(user));
  First<std::string> advert = co_await when_any(ask_for_advert(1), ask_for_advert(2));
  co_return name + ": " + std::to_string(posts.size()) + " posts, " + advert.value;
}

Task<int> total(std::vector<int> users) {
  std::vector<Task<std::vector<int>>> loads;
  for (int user : users) loads.push_back(load_posts(user));
  int count = 0;
  for (const std::vector<int>& posts : co_await when_all(std::move(loads))) count += static_cast<int>(posts.size());
  co_return count;
}

Task<std::string> name_or_default(int user) {
  Result<std::string> name = co_await with_deadline(load_name(user), 500);
  co_return name ? *name : "somebody";
}

Task<Result<std::size_t>> hash(std::string password) {
  Result<std::size_t> digest = co_await offload(slow_hash, std::move(password), 12);
  co_return digest;  // Busy when the queue of the workers is full
}

Task<std::string> shout(std::string text) {
  auto work = [text] { return to_upper(text); };
  Result<std::string> loud = co_await offload(work);
  co_return loud.value_or("");
}

Task<> sign_up(std::string mail) {
  spawn(*Loop::current(), [mail]() -> Task<> { co_await send_welcome(mail); });
  co_return;
}

std::string read_file(const std::string& name) {
  std::ifstream file(std::string(VIOLET_SOURCE_DIR) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
std::string without_spaces(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c); }), text.end());
  return text;
}

TEST(Guide, ShowsTheCodeThatIsCompiledHere) {
  const std::string code = without_spaces(read_file("tests/event/guide_test.cc"));
  const std::string guide = read_file("docs/guide/tasks.md");
  const std::string begin = "```cpp\n";
  int block_count = 0;
  for (std::size_t at = guide.find(begin); at != std::string::npos; at = guide.find(begin, at)) {
    at += begin.size();
    const std::string block = guide.substr(at, guide.find("```", at) - at);
    EXPECT_NE(code.find(without_spaces(block)), std::string::npos) << block;
    ++block_count;
  }
  EXPECT_GE(block_count, 9);
}

TEST(Guide, DoesWhatItSays) {
  Loop loop;
  EXPECT_EQ(run_task(loop, greet("ada")), "hello, ada");
  EXPECT_EQ(run_task(loop, greet_twice()), 22u);
  Ledger ledger;
  EXPECT_TRUE(run_task(loop, transfer(ledger)));
  EXPECT_EQ(ledger.commit_count, 1);
  EXPECT_EQ(run_task(loop, count_primes(3000)), 430);
  EXPECT_EQ(run_task(loop, page(3)), "user 3: 3 posts, buy from 2");
  EXPECT_EQ(run_task(loop, total({1, 2, 3})), 6);
  EXPECT_EQ(run_task(loop, name_or_default(4)), "user 4");
  EXPECT_EQ(run_task(loop, hash("secret")).value(), 72u);
  EXPECT_EQ(run_task(loop, shout("hey")), "HEY");
  run_task(loop, sign_up("a@example.org"));
  while (welcomed.empty()) loop.step(10);
  EXPECT_EQ(welcomed, "a@example.org");
}

TEST(Guide, ATransferThatIsStoppedIsRolledBack) {
  Loop loop;
  Ledger ledger;
  auto body = [](Ledger& l) -> Task<Result<void>> {
    Result<void> done = co_await with_deadline(transfer(l), 1);
    co_return done;
  };
  EXPECT_FALSE(run_task(loop, body(ledger)));
  EXPECT_EQ(ledger.roll_back_count, 1);
  EXPECT_EQ(ledger.commit_count, 0);
}

}  // namespace
}  // namespace violet
