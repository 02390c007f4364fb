// Sessions of requests that run at the same time, and the room that a store has for them.

#include "violet/features/identity/session/session.h"

#include "violet/app/app.h"
#include "violet/app/test_client.h"
#include "violet/features/identity/secret.h"
#include "violet/web/route/listing.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace violet {
namespace {

using Record = SessionStore::Record;
using Change = SessionStore::Change;

constexpr std::size_t kRoom = 1000;

Record record_of(std::vector<std::pair<std::string, std::string>> values) {
  Record record;
  record.values = std::move(values);
  return record;
}
std::vector<Change> one(std::string name, std::optional<std::string> value) {
  std::vector<Change> all;
  all.push_back({std::move(name), std::move(value)});
  return all;
}
SessionStore::Renewal renewal_to(std::string key, bool is_new_user = false) {
  SessionStore::Renewal renewal;
  renewal.key = std::move(key);
  renewal.is_new_user = is_new_user;
  return renewal;
}

// What a store has, as the only value of a route, so that a loop runs its task.
std::string look(const std::shared_ptr<MemorySessions>& store, std::string key, std::string name) {
  App app;
  app.get("/", [&]() -> Task<std::string> {
    auto record = co_await store->load(key, 1);
    std::string found = "none";
    if (record && *record) {
      for (const auto& value : (*record)->values) {
        if (value.first == name) found = value.second;
      }
    }
    co_return found;
  });
  return app.test().request(http::Method::Get, "/").send().text();
}

TEST(MemorySessions, MergeByName) {
  const auto store = std::make_shared<MemorySessions>();
  store->create("k", record_of({{"a", "1"}}));
  store->change("k", one("b", "2"), kRoom);
  store->change("k", one("a", std::nullopt), kRoom);
  EXPECT_EQ(look(store, "k", "a"), "none");
  EXPECT_EQ(look(store, "k", "b"), "2");
  store->remove("k");
  store->change("k", one("c", "3"), kRoom);
  EXPECT_EQ(store->count(), 0U);
}

TEST(MemorySessions, HoldTheBoundWhoeverWrites) {
  const auto store = std::make_shared<MemorySessions>();
  store->create("k", record_of({{"$subject", std::string(100, 'u')}}));
  for (char name = 'a'; name < 'g'; ++name) store->change("k", one({name}, std::string(8, 'x')), 20);
  EXPECT_EQ(look(store, "k", "b"), "xxxxxxxx");
  EXPECT_EQ(look(store, "k", "c"), "none");
  std::vector<Change> swap = one("c", std::string(17, 'y'));
  swap.push_back({"a", std::nullopt});
  swap.push_back({"b", std::nullopt});
  store->change("k", std::move(swap), 20);
  EXPECT_EQ(look(store, "k", "c"), std::string(17, 'y'));
}

TEST(MemorySessions, NeverDropAUserForVisitors) {
  for (const std::size_t count_max : {std::size_t{16}, std::size_t{200}}) {
    const auto store = std::make_shared<MemorySessions>(count_max);
    for (std::size_t i = 0; i < count_max / 2; ++i) {
      store->create("u" + identity::sha256(std::to_string(i)), record_of({{"$subject", "ada"}}));
    }
    for (std::size_t i = 0; i < 3 * count_max; ++i) {
      store->create("v" + identity::sha256(std::to_string(i)), record_of({{"$csrf", "x"}}));
    }
    EXPECT_EQ(store->count(), count_max);
    for (std::size_t i = 0; i < count_max / 2; ++i) {
      EXPECT_EQ(look(store, "u" + identity::sha256(std::to_string(i)), "$subject"), "ada");
    }
  }
}

TEST(MemorySessions, LeaveVisitorsAShareAndDropTheOldest) {
  const auto store = std::make_shared<MemorySessions>(16);
  for (int i = 0; i < 40; ++i) store->create("u" + std::to_string(i), record_of({{"$subject", "ada"}}));
  EXPECT_EQ(store->count(), 14U);
  EXPECT_EQ(look(store, "u25", "$subject"), "none");
  EXPECT_EQ(look(store, "u26", "$subject"), "ada");  // is used now
  store->create("u40", record_of({{"$subject", "ada"}}));
  EXPECT_EQ(look(store, "u26", "$subject"), "ada");
  EXPECT_EQ(look(store, "u27", "$subject"), "none");
  for (int i = 0; i < 5; ++i) store->create("v" + std::to_string(i), record_of({{"a", "1"}}));
  EXPECT_EQ(store->count(), 16U);
  EXPECT_EQ(look(store, "v4", "a"), "1");
  EXPECT_EQ(look(store, "v2", "a"), "none");
}

TEST(MemorySessions, CarryOverWhatIsThereAtARenewal) {
  const auto store = std::make_shared<MemorySessions>();
  store->create("old", record_of({{"a", "1"}}));
  store->change("old", one("b", "2"), kRoom);  // of a request that the renewing one has not seen
  ASSERT_TRUE(store->renew("old", renewal_to("new"), kRoom));
  EXPECT_EQ(look(store, "old", "a"), "none");
  EXPECT_EQ(look(store, "new", "b"), "2");
  store->change("old", one("c", "3"), kRoom);
  store->change("old", one("$csrf", "planted"), kRoom);
  store->change("old", one("$subject", "planted"), kRoom);
  EXPECT_EQ(look(store, "new", "c"), "3");
  EXPECT_EQ(look(store, "new", "$csrf"), "none");
  EXPECT_EQ(look(store, "new", "$subject"), "none");
  ASSERT_TRUE(store->renew("new", renewal_to("newest"), kRoom));
  store->remove("old");
  EXPECT_EQ(store->count(), 0U);
}

TEST(MemorySessions, RenewNothingThatIsGone) {
  const auto store = std::make_shared<MemorySessions>();
  EXPECT_FALSE(store->renew("old", renewal_to("new"), kRoom));
  store->create("old", record_of({{"a", "1"}}));
  EXPECT_TRUE(store->renew("old", renewal_to("new"), kRoom));
  EXPECT_FALSE(store->renew("old", renewal_to("other"), kRoom));
  EXPECT_EQ(store->count(), 1U);
}

TEST(MemorySessions, LetNothingLateReachANewUser) {
  const auto store = std::make_shared<MemorySessions>();
  store->create("old", record_of({{"a", "1"}}));
  ASSERT_TRUE(store->renew("old", renewal_to("new", true), kRoom));
  store->change("old", one("a", "planted"), kRoom);
  store->remove("old");
  EXPECT_EQ(look(store, "new", "a"), "1");
}

TEST(Sessions, SayThatProcessesShareNoMemory) {
  struct Shared final : SessionStore {
    Task<Result<std::optional<Record>>> load(std::string, std::int64_t) override { co_return std::nullopt; }
    void create(std::string, Record) override {}
    void change(const std::string&, std::vector<Change>, std::size_t) override {}
    bool renew(const std::string&, Renewal, std::size_t) override { return true; }
    void remove(const std::string&) override {}
  };
  const auto notes = [](Sessions middleware) {
    Router router;
    router.use(std::move(middleware));
    router.get("/", [] { return "here"; });
    std::string all;
    for (const auto& hook : router.routes().front().hooks) all += hook.process_note;
    return all;
  };
  EXPECT_NE(notes(sessions()).find("a store that all of them share"), std::string::npos);
  EXPECT_EQ(notes(sessions({.store = std::make_shared<Shared>()})), "");
}

// --- requests at the same time: one begins, and within it another one runs from its beginning to its end

std::string cookie_of(const TestReply& reply) {
  const std::string_view field = reply.header("Set-Cookie");
  return std::string(field.substr(0, field.find(';')));
}

struct Overlap : testing::Test {
  std::shared_ptr<MemorySessions> store = std::make_shared<MemorySessions>();
  std::string cookie;

  void SetUp() override { cookie = cookie_of(post("/login", {})); }
  // `within` runs when the session is loaded, before the handler.
  TestReply post(std::string_view path, Function<void()> within) {
    App app;
    app.use(sessions({.store = store, .bytes_max = 40}), [&](Exchange&) {
      if (within) std::thread([&] { within(); }).join();  // no loop runs within another one
    });
    app.post("/login", [](BrowserSession session) { session.login("ada"); });
    app.post("/logout", [](BrowserSession session) { session.destroy(); });
    app.post("/renew", [](BrowserSession session) { session.regenerate(); });
    app.post("/a", [](BrowserSession session) { session.set("a", std::string(30, 'a')); });
    app.post("/b", [](BrowserSession session) { session.set("b", std::string(30, 'b')); });
    app.post("/look", [](BrowserSession session) {
      return std::string(session.subject()) + (session.get("a") ? "a" : "") + (session.get("b") ? "b" : "");
    });
    TestClient client = app.test();
    TestRequest request = client.request(http::Method::Post, path);
    if (!cookie.empty()) request.header("Cookie", cookie);
    return request.send();
  }
  std::string look_by(std::string with) {
    cookie = std::move(with);
    return post("/look", {}).text();
  }
};

TEST_F(Overlap, WhatIsDestroyedComesBackByNoRenewal) {
  const TestReply reply = post("/renew", [&] { post("/logout", {}); });
  EXPECT_EQ(reply.header("Set-Cookie"), "");
  EXPECT_EQ(store->count(), 0U);
}

TEST_F(Overlap, ALogoutEndsWhatWasRenewedMeanwhile) {
  post("/logout", [&] { post("/renew", {}); });
  EXPECT_EQ(store->count(), 0U);
}

TEST_F(Overlap, ALoginBeginsAnotherSessionWhereItsOwnHasEnded) {
  post("/a", {});
  const TestReply reply = post("/login", [&] { post("/logout", {}); });
  EXPECT_EQ(look_by(cookie_of(reply)), "ada");
}

TEST_F(Overlap, ARenewalLosesNoChange) {
  const TestReply renewed = post("/renew", [&] { post("/a", {}); });
  EXPECT_EQ(look_by(cookie_of(renewed)), "adaa");
  TestReply next;
  post("/b", [&] {
    post("/a", [] {});
    next = post("/renew", {});
  });
  EXPECT_EQ(look_by(cookie_of(next)), "adaa");  // and there was no room for both
}

TEST_F(Overlap, AChangeReachesWhatWasRenewedMeanwhile) {
  TestReply renewed;
  post("/b", [&] { renewed = post("/renew", {}); });
  EXPECT_EQ(look_by(cookie_of(renewed)), "adab");
}

TEST_F(Overlap, TwoRequestsShareOneBound) {
  post("/a", [&] { post("/b", {}); });
  EXPECT_EQ(look_by(cookie), "adab");
}

}  // namespace
}  // namespace violet
