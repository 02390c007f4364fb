// What handlers take beside values, and replies that say more than a body.

#include "violet/app/app.h"
#include "violet/app/test_client.h"
#include "violet/data/rule/checked.h"
#include "violet/event/wait.h"
#include "violet/web/content/context.h"
#include "violet/web/content/dynamic_json.h"
#include "violet/web/content/event_stream.h"
#include "violet/web/content/form.h"
#include "violet/web/content/json.h"
#include "violet/web/content/replies.h"
#include "violet/web/input/fields.h"
#include "violet/web/input/query.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace violet {
namespace {

struct User {
  int id;
  std::string name;
};
struct Picture {
  std::string bytes;
};
Reply to_reply(const Picture& picture) { return Reply(picture.bytes).content_type("image/png"); }

struct Db {
  std::atomic<int> open = 0;
  std::atomic<int> made = 0;
};
struct Transaction {
  explicit Transaction(Db& in) : db(&in) {
    ++db->open;
    ++db->made;
  }
  Transaction(Transaction&& other) noexcept : db(std::exchange(other.db, nullptr)) {}
  ~Transaction() {
    if (db != nullptr) --db->open;
  }
  Db* db;
};

}  // namespace

template <>
struct Provide<Transaction> {
  static Transaction make(State<Db> db, Header<"X-User"> user) {
    if (*user == "nobody") throw std::runtime_error("no transaction");
    return Transaction(*db);
  }
};

namespace {

TEST(Replies, SayMoreThanABody) {
  App app;
  app.post("/users", [] { return Created{"/users/7", User{7, "ada"}}; });
  app.post("/later", []() -> Task<Created<User>> { co_return Created{"/users/8", User{8, "bea"}}; });
  app.post("/broken", [] { return Created{std::string("/a\r\nb"), User{7, "ada"}}; });
  app.del("/users", [] { return NoContent(); });
  app.get("/old", [] { return Redirect("/new"); });
  app.get("/moved", [] { return Redirect("/new", Status::MovedPermanently); });
  app.get("/picture", [] { return Picture{"png"}; });
  app.get("/either", [](Header<"X-Fail"> fails) -> std::expected<User, Status> {
    if (!fails->empty()) return std::unexpected(Status::Conflict);
    return User{1, "a"};
  });
  TestClient client = app.test();
  const TestReply created = client.post("/users", "");
  EXPECT_EQ(created.status(), 201);
  EXPECT_EQ(created.header("Location"), "/users/7");
  EXPECT_EQ(created.text(), R"({"id":7,"name":"ada"})");
  EXPECT_EQ(client.post("/later", "").header("Location"), "/users/8");
  EXPECT_EQ(client.post("/broken", "").status(), 500);
  EXPECT_EQ(client.del("/users").status(), 204);
  EXPECT_EQ(client.get("/old").status(), 303);
  EXPECT_EQ(client.get("/old").header("Location"), "/new");
  EXPECT_EQ(client.get("/moved").status(), 301);
  EXPECT_EQ(client.get("/picture").header("Content-Type"), "image/png");
  EXPECT_EQ(client.get("/either").text(), R"({"id":1,"name":"a"})");
  EXPECT_EQ(client.request(http::Method::Get, "/either").header("X-Fail", "1").send().status(), 409);
}

TEST(Parameters, BesideValues) {
  App app;
  app.provide(std::make_unique<Db>());
  app.get("/state", [](State<Db> db) { return db->open.load(); });
  app.get("/arena", [](Arena& arena) { return std::string(arena.copy("kept")); });
  app.get("/peer", [](PeerAddress peer) { return peer->to_string(); });
  app.get("/deadline", [](Deadline deadline) { return deadline.handler_ms(); }).handler_ms(1234);
  app.get("/stop", [](StopToken stop) { return stop.is_stopped(); });
  app.get("/cookie", [](CookieValue<"id", int> id, CookieValue<"name"> name, CookieValue<"x", std::optional<int>> x) {
    return std::string(*name) + std::to_string(*id) + (x->has_value() ? "x" : "");
  });
  TestClient client = app.test();
  EXPECT_EQ(client.get("/state").text(), "0");
  EXPECT_EQ(client.get("/arena").text(), "kept");
  EXPECT_EQ(client.get("/peer").text(), "127.0.0.1:1");
  EXPECT_EQ(client.get("/deadline").text(), "1234");
  EXPECT_EQ(client.get("/stop").text(), "false");
  EXPECT_EQ(client.request(http::Method::Get, "/cookie").header("Cookie", "id=7; name=ada").send().text(), "ada7");
  const TestReply wrong = client.request(http::Method::Get, "/cookie").header("Cookie", "id=x; x=y").send();
  EXPECT_EQ(wrong.status(), 400);
  EXPECT_NE(wrong.text().find(R"({"in":"cookie","name":"id","detail":"has to be a whole number)"), std::string::npos);
  EXPECT_NE(wrong.text().find(R"({"in":"cookie","name":"x")"), std::string::npos);
}

TEST(Dependencies, AreMadeForARequestAndEndWithIt) {
  App app;
  app.provide(std::make_unique<Db>());
  app.get("/now", [](Dep<Transaction> transaction) { return transaction->db->open.load(); });
  app.get("/later", [](Dep<Transaction> transaction) -> Task<int> {
    static_cast<void>(co_await sleep_ms(1));
    co_return transaction->db->open.load();
  });
  app.get("/open", [](Db& db) { return db.open.load(); });
  app.get("/made", [](Db& db) { return db.made.load(); });
  TestClient client = app.test();
  EXPECT_EQ(client.get("/now").text(), "1");
  EXPECT_EQ(client.get("/later").text(), "1");
  EXPECT_EQ(client.get("/open").text(), "0");
  EXPECT_EQ(client.get("/made").text(), "2");
  EXPECT_EQ(client.request(http::Method::Get, "/now").header("X-User", "nobody").send().status(), 500);
}

TEST(Dependencies, AreReplacedInTests) {
  App app;
  Db other;
  app.provide(std::make_unique<Db>());
  app.provide(Factory<Transaction>{[&other](Request) { return Transaction(other); }});
  app.get("/now", [](Dep<Transaction>) { return "ok"; });
  EXPECT_EQ(app.test().get("/now").text(), "ok");
  EXPECT_EQ(other.made, 1);
  EXPECT_EQ(other.open, 0);
}

TEST(Dependencies, ThatLackTheirOwnAreFoundAtStart) {
  App app;
  app.get("/now", [](Dep<Transaction>) { return "ok"; });
  EXPECT_NE(app.test().get("/now").text().find("which nobody has provided"), std::string::npos);
}

enum class Plan : std::uint8_t { Free, Paid };
struct SignUp {
  text<1, 10> name;
  email mail;
  std::optional<int> age;
  bool news = false;
  std::vector<int> topics;
  Plan plan = Plan::Free;
};
struct Paging {
  range<int, 1, 100> limit = {20};
  Plan plan = Plan::Free;
  std::string sort;
};

class Forms : public testing::Test {
 protected:
  Forms() {
    app_.post("/sign-up", [](Form<SignUp> form) { return *form; });
    app_.get("/list", [](Query<Paging> page) { return *page; });
  }
  TestReply post(std::string body, std::string_view type = "application/x-www-form-urlencoded") {
    TestClient client = app_.test();
    return client.request(http::Method::Post, "/sign-up").header("Content-Type", type).body(std::move(body)).send();
  }
  App app_;
};

TEST_F(Forms, AreReadIntoStructs) {
  EXPECT_EQ(post("name=A+%C3%BC&mail=a%40example.org&age=7&news=on&topics=1&topics=2&plan=Paid&more=x").text(),
            "{\"name\":\"A "
            "\xc3\xbc\",\"mail\":\"a@example.org\",\"age\":7,\"news\":true,\"topics\":[1,2],\"plan\":\"Paid\"}");
  EXPECT_EQ(post("name=a&mail=a@b&age=&name=second", "Application/X-WWW-Form-Urlencoded; charset=UTF-8").text(),
            R"({"name":"a","mail":"a@b","age":null,"news":false,"topics":[],"plan":"Free"})");
}

TEST_F(Forms, ThatDoNotFitAreA422WithEveryBadField) {
  const TestReply reply = post("name=&age=x&topics=1&topics=y&plan=Gold&news=%zz");
  EXPECT_EQ(reply.status(), 422);
  EXPECT_EQ(reply.header("Content-Type"), "application/problem+json");
  for (const char* part : {
           R"({"in":"body","pointer":"/name","detail":"has to have 1 to 10 characters"})",
           R"({"in":"body","pointer":"/age","detail":"has to be a whole number from -2147483648 to 2147483647"})",
           R"({"in":"body","pointer":"/topics","detail":"has to be a whole number from -2147483648 to 2147483647"})",
           R"({"in":"body","pointer":"/plan","detail":"has to be one of Free, Paid"})",
           R"({"in":"body","pointer":"/news","detail":"is badly encoded"})",
           R"({"in":"body","pointer":"/mail","detail":"is missing"})",
       }) {
    EXPECT_NE(reply.text().find(part), std::string::npos) << part << "\n" << reply.text();
  }
  EXPECT_EQ(post("name=%ff&mail=a@b").status(), 422);
}

TEST_F(Forms, OfAnotherTypeAreA415) {
  const TestReply reply = post("name=a&mail=a@b", "text/plain");
  EXPECT_EQ(reply.status(), 415);
  EXPECT_EQ(reply.header("Content-Type"), "application/problem+json");
}

TEST_F(Forms, MalformedOnesAreProblems) {
  for (const char* type : {"multipart/form-data", "multipart/form-data; boundary=X"}) {
    const TestReply reply = post("--X\r\nno field", type);
    EXPECT_EQ(reply.status(), 400) << type;
    EXPECT_EQ(reply.header("Content-Type"), "application/problem+json") << type;
  }
}

TEST_F(Forms, AndQueriesKnowTheSameRules) {
  TestClient client = app_.test();
  EXPECT_EQ(client.get("/list").text(), R"({"limit":20,"plan":"Free","sort":""})");
  EXPECT_EQ(client.get("/list?limit=100&plan=Paid&sort=a%20b").text(), R"({"limit":100,"plan":"Paid","sort":"a b"})");
  const TestReply reply = client.get("/list?limit=101&plan=x");
  EXPECT_EQ(reply.status(), 400);
  EXPECT_NE(reply.text().find(R"({"in":"query","name":"limit","detail":"has to be a whole number from 1 to 100"})"),
            std::string::npos)
      << reply.text();
  EXPECT_NE(reply.text().find(R"("name":"plan","detail":"has to be one of Free, Paid")"), std::string::npos);
}

TEST(DynamicJson, GoesInAndOut) {
  App app;
  app.post("/echo", [](Json<nlohmann::json> in) { return *in; });
  app.get("/made",
          [] { return nlohmann::json{{"a", {1, 2.5, nullptr, true, "x\n"}}, {"b", nlohmann::json::object()}}; });
  TestClient client = app.test();
  EXPECT_EQ(client.get("/made").text(), R"({"a":[1,2.5,null,true,"x\n"],"b":{}})");
  const std::string text = R"({"list":[[],{},-1,18446744073709551615,"\u0001"]})";
  TestRequest request = client.request(http::Method::Post, "/echo");
  EXPECT_EQ(request.header("Content-Type", "application/json").body(text).send().text(), text);
}

TEST(EventStreams, SendFieldsOfEachKind) {
  App app;
  app.get("/events", [](EventStream out) -> Task<> {
    EXPECT_TRUE(co_await out.send("plain"));
    EXPECT_TRUE(co_await out.send({.data = "two\r\nlines\rand\nthree", .name = "n", .id = "7", .retry_ms = 100}));
    EXPECT_TRUE(co_await out.send_json(User{1, "a\nb"}, "user"));
    EXPECT_TRUE(co_await out.send(""));
  });
  const TestReply reply = app.test().get("/events");
  EXPECT_EQ(reply.status(), 200);
  EXPECT_EQ(reply.header("Content-Type"), "text/event-stream");
  EXPECT_EQ(reply.header("Cache-Control"), "no-store");
  EXPECT_EQ(reply.text(),
            "data: plain\n\n"
            "event: n\nid: 7\nretry: 100\ndata: two\ndata: lines\ndata: and\ndata: three\n\n"
            "event: user\ndata: {\"id\":1,\"name\":\"a\\nb\"}\n\n"
            "data: \n\n");
}

TEST(EventStreams, NeverLetAFieldBecomeTwo) {
  App app;
  app.get("/events", [](EventStream out) -> Task<> {
    EXPECT_FALSE(co_await out.send({.data = "x", .name = "a\ndata: injected"}));
    EXPECT_FALSE(co_await out.send({.data = "x", .id = std::string_view("a\0b", 3)}));
    EXPECT_FALSE(co_await out.send({.data = "x", .id = "a\rb"}));
    EXPECT_TRUE(co_await out.send("good"));
  });
  EXPECT_EQ(app.test().get("/events").text(), "data: good\n\n");
}

TEST(EventStreams, ThatSayNothingAreA204) {
  App app;
  app.get("/events", [](EventStream) -> Task<> { co_return; });
  EXPECT_EQ(app.test().get("/events").status(), 204);
}

TEST(EventStreams, KnowWhereTheBrowserWas) {
  App app;
  app.get("/events", [](EventStream out) -> Task<> {
    const std::string id(out.last_event_id());
    static_cast<void>(co_await out.send(id));
  });
  EXPECT_EQ(app.test().request(http::Method::Get, "/events").header("Last-Event-ID", "41").send().text(),
            "data: 41\n\n");
}

TEST(EventStreams, BeatWhileNothingHappens) {
  App app;
  Limits limits;
  limits.event_heartbeat_ms = 5;
  app.limits(limits);
  app.get("/events", [](EventStream out) -> Task<> {
    out.open();
    static_cast<void>(co_await sleep_ms(60));
    static_cast<void>(co_await out.send("end"));
  });
  const std::string text = app.test().get("/events").text();
  EXPECT_EQ(text.substr(0, 6), ":\n\n:\n\n") << text;
  EXPECT_EQ(text.substr(text.size() - 11), "data: end\n\n");
}

TEST(EventStreams, EndWhenTheClientLeaves) {
  App app;
  std::atomic<int> ended = 0;
  app.get("/events", [&ended](EventStream out) -> Task<> {
    while (co_await out.send("tick")) static_cast<void>(co_await sleep_ms(1));
    ++ended;
  });
  {
    TestClient client = app.test();
    client.timeout_ms(50);
    EXPECT_EQ(client.get("/events").status(), 0);
    for (int i = 0; i < 100 && ended == 0; ++i) static_cast<void>(client.get("/none"));
  }
  EXPECT_EQ(ended, 1);
}

TEST(EventStreams, ThatFailAreCutOff) {
  App app;
  app.get("/events", [](EventStream out) -> Task<> {
    static_cast<void>(co_await out.send("first"));
    throw std::runtime_error("secret");
  });
  const TestReply reply = app.test().get("/events");
  EXPECT_EQ(reply.status(), 0);
  EXPECT_EQ(reply.text().find("secret"), std::string::npos);
}

}  // namespace
}  // namespace violet
