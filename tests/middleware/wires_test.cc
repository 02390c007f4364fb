// Every built-in middleware behind a real session of HTTP/1.1 and one of HTTP/2: what a client sends as fields and
// frames, and what it gets.

#include "tests/contract/h1_fixture.h"
#include "tests/contract/h2_fixture.h"
#include "violet/event/wait.h"
#include "violet/violet.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet::test {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

struct Answer : ClientReply {
  [[nodiscard]] std::string field(std::string_view name) const {
    for (const auto& [key, value] : fields) {
      if (key.size() == name.size() && ascii::equal_folded(key, name)) return value;
    }
    return {};
  }
};

template <class Wire>
class Middleware : public testing::Test {
 protected:
  // Once everything is registered.
  Answer ask(std::string method, std::string path, Lines fields = {}, std::string_view body = {}) {
    start();
    const bool has_body = !body.empty();
    const std::size_t id = wire_.open(
        {.method = std::move(method), .path = std::move(path), .fields = std::move(fields), .has_body = has_body});
    if (has_body) {
      wire_.send(id, body);
      wire_.end(id, {});
    }
    for (int turn = 0; turn < 500 && !wire_.reply(id).is_whole; ++turn) wire_.site().loop.step(10);
    return {wire_.reply(id)};
  }
  Answer get(std::string path, Lines fields = {}) { return ask("GET", std::move(path), std::move(fields)); }
  // A request whose answer nobody waits for yet.
  std::size_t open(std::string path) {
    start();
    return wire_.open({.path = std::move(path)});
  }
  void start() {
    if (is_started_) return;
    is_started_ = true;
    const auto errors = router_.freeze();
    ASSERT_TRUE(errors.empty()) << errors.front();
    wire_.service().handler = [this](Exchange& exchange) {
      // A transport in memory comes from nowhere.
      const_cast<Connection&>(exchange.connection()).peer = *Address::parse("10.0.0.1", 1);
      router_.serve(exchange);
    };
  }
  static std::string cookie_of(const Answer& answer) {
    const std::string field = answer.field("Set-Cookie");
    return field.substr(0, field.find(';'));
  }

  Router router_;
  Wire wire_{Limits{}};

 private:
  bool is_started_ = false;
};

using Wires = testing::Types<H1Fixture<~std::size_t{0}>, H2Fixture<~std::size_t{0}>>;
TYPED_TEST_SUITE(Middleware, Wires);

// What the log has written; its thread may outlive the test.
struct Written {
  std::mutex mutex;
  std::condition_variable changed;
  std::string text;
};

TYPED_TEST(Middleware, NamesAndLogsRequests) {
  const auto written = std::make_shared<Written>();
  this->router_.use(request_id, access_log({.write = [written](std::string_view text) {
                      const std::lock_guard lock(written->mutex);
                      written->text += text;
                      written->changed.notify_all();
                    }}));
  this->router_.get("/", [](RequestId id) { return std::string(*id); });
  const Answer answer = this->get("/");
  EXPECT_EQ(answer.body.size(), 32U);
  EXPECT_EQ(answer.field("X-Request-ID"), answer.body);
  std::unique_lock lock(written->mutex);
  const std::string& text = written->text;
  written->changed.wait_for(lock, std::chrono::seconds(20), [&] { return text.find('\n') != std::string::npos; });
  EXPECT_NE(text.find("\"GET / HTTP/"), std::string::npos) << text;
  EXPECT_NE(text.find(" 200 32 "), std::string::npos) << text;
  EXPECT_NE(text.find(answer.body), std::string::npos) << text;
}

TYPED_TEST(Middleware, AnswersPreflightsAndAddsSecurityFields) {
  this->router_.use(cors({.origins = {"https://a.example"}}), security_headers);
  this->router_.put("/", [] { return "put"; });
  const Answer preflight =
      this->ask("OPTIONS", "/", {{"Origin", "https://a.example"}, {"Access-Control-Request-Method", "PUT"}});
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.field("Access-Control-Allow-Origin"), "https://a.example");
  EXPECT_NE(preflight.field("Access-Control-Allow-Methods").find("PUT"), std::string::npos);
  const Answer put = this->ask("PUT", "/", {{"Origin", "https://a.example"}});
  EXPECT_EQ(put.body, "put");
  EXPECT_EQ(put.field("Access-Control-Allow-Origin"), "https://a.example");
  EXPECT_EQ(put.field("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(this->ask("PUT", "/", {{"Origin", "https://b.example"}}).field("Access-Control-Allow-Origin"), "");
}

TYPED_TEST(Middleware, LimitsBodiesWhetherTheirLengthIsDeclaredOrNot) {
  this->router_.use(body_limit(4));
  this->router_.post("/", [](Text text) { return std::string(*text); });
  EXPECT_EQ(this->ask("POST", "/", {}, "four").body, "four");
  EXPECT_EQ(this->ask("POST", "/", {}, "fives").status, 413);
}

TYPED_TEST(Middleware, EndsHandlersThatTakeTooLong) {
  this->router_.use(timeout(10));
  this->router_.get("/", []() -> Task<const char*> {
    static_cast<void>(co_await sleep_ms(60'000));
    co_return "late";
  });
  EXPECT_EQ(this->get("/").status, 503);
}

TYPED_TEST(Middleware, TagsAnswers) {
  this->router_.use(etag);
  this->router_.get("/", [] { return "text"; });
  this->router_.get("/empty", [] { return ""; });
  for (const char* path : {"/", "/empty"}) {
    const std::string tag = this->get(path).field("ETag");
    EXPECT_NE(tag, "");
    EXPECT_EQ(this->ask("HEAD", path).field("ETag"), tag);
    const Answer same = this->get(path, {{"If-None-Match", tag}});
    EXPECT_EQ(same.status, 304);
    EXPECT_EQ(same.body, "");
  }
}

TYPED_TEST(Middleware, LimitsRates) {
  this->router_.use(rate_limit({.requests = 1, .per_s = 3'600, .field = "X-API-Key"}));
  this->router_.get("/", [] { return "x"; });
  EXPECT_EQ(this->get("/", {{"X-API-Key", "a"}}).field("RateLimit"), "\"default\";r=0;t=3600");
  const Answer refused = this->get("/", {{"X-API-Key", "a"}});
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.field("Retry-After"), "3600");
  EXPECT_EQ(this->get("/", {{"X-API-Key", "b"}}).status, 200);
}

TYPED_TEST(Middleware, LimitsWhatRunsAtOnce) {
  const ConcurrencyLimit limit = concurrency_limit({.max = 1, .queue_max = 0});
  this->router_.use(limit);
  this->router_.get("/slow", []() -> Task<const char*> {
    static_cast<void>(co_await sleep_ms(60'000));
    co_return "slow";
  });
  this->router_.get("/", [] { return "x"; });
  EXPECT_EQ(this->get("/").body, "x");
  EXPECT_EQ(limit.running_count(), 0U);
  this->open("/slow");
  this->wire_.settle();
  EXPECT_EQ(limit.running_count(), 1U);
  this->wire_.vanish();
  this->wire_.settle();
  EXPECT_EQ(limit.running_count(), 0U) << "who leaves makes room";
}

TYPED_TEST(Middleware, AsksForNamesAndPasswords) {
  this->router_.use(basic_auth("staff", Accounts{{"ada", "secret"}}));
  this->router_.get("/", [](Identity who) { return std::string(who.subject()); });
  const Answer none = this->get("/");
  EXPECT_EQ(none.status, 401);
  EXPECT_EQ(none.field("WWW-Authenticate"), R"(Basic realm="staff", charset="UTF-8")");
  EXPECT_EQ(this->get("/", {{"Authorization", "Basic YWRhOnNlY3JldA=="}}).body, "ada");
  EXPECT_EQ(this->get("/", {{"Authorization", "Basic YWRhOnNlY3JlVA=="}}).status, 401);
}

struct Claims {
  std::string sub;
  std::int64_t exp;
};

TYPED_TEST(Middleware, AsksForTokens) {
  const JwtKey key = *JwtKey::hmac(JwtAlgorithm::HS256, std::string(32, 's'));
  this->router_.use(bearer_auth("api", JwtVerifier(key)));
  this->router_.get("/", [](Identity who) { return std::string(who.subject()); });
  const std::int64_t now = std::time(nullptr);
  const auto with = [&](std::int64_t ends) {
    return this->get("/", {{"Authorization", "Bearer " + sign_jwt(key, Claims{"ada", ends})}});
  };
  EXPECT_EQ(with(now + 600).body, "ada");
  EXPECT_EQ(with(now - 600).status, 401);
  EXPECT_EQ(this->get("/").field("WWW-Authenticate"), R"(Bearer realm="api")");
}

TYPED_TEST(Middleware, BelievesProxiesThatAreTrusted) {
  this->router_.use(trusted_proxies({.networks = {"10.0.0.0/8"}}));
  this->router_.get("/", [](PeerAddress peer, Request request) {
    return peer->host() + " " + std::string(request.scheme()) + (request.is_secure() ? " safe" : " open");
  });
  EXPECT_EQ(this->get("/", {{"X-Forwarded-For", "192.0.2.1"}, {"X-Forwarded-Proto", "https"}}).body,
            "192.0.2.1 https safe");
}

TYPED_TEST(Middleware, RemembersBrowsersAndRefusesOtherSites) {
  this->router_.use(sessions(), csrf());
  this->router_.get("/token", [](BrowserSession session) { return session.csrf_token(); });
  this->router_.post("/login", [](BrowserSession session) {
    session.login("ada");
    return "in";
  });
  this->router_.get("/me", [](Identity who) { return std::string(who.subject()); });
  const Answer first = this->get("/token");
  const std::string cookie = this->cookie_of(first);
  EXPECT_EQ(this->ask("POST", "/login", {{"Cookie", cookie}, {"Sec-Fetch-Site", "cross-site"}}).status, 403);
  const Answer login = this->ask("POST", "/login", {{"Cookie", cookie}, {"X-CSRF-Token", first.body}});
  EXPECT_EQ(login.body, "in");
  EXPECT_EQ(this->get("/me", {{"Cookie", this->cookie_of(login)}}).body, "ada");
  const Answer stranger = this->get("/me");
  EXPECT_EQ(stranger.status, 401);
  EXPECT_EQ(stranger.field("WWW-Authenticate"), "Cookie realm=\"session\"");
}

}  // namespace
}  // namespace violet::test
