// JSON of handlers: Json<T> in, structs out, and what becomes of bodies that do not fit.

#include "violet/web/content/json.h"

#include "violet/app/app.h"
#include "violet/app/test_client.h"
#include "violet/data/rule/checked.h"
#include "violet/event/wait.h"
#include "violet/web/input/path.h"
#include "violet/web/input/query.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace violet {
namespace {

struct NewUser {
  text<1, 80> name;
  email mail;
  std::optional<range<int, 0, 150>> age;
};
struct User {
  std::int64_t id;
  std::string name;
};
struct Page {
  int limit = 20;
};
struct Stay {
  int from;
  int until;
  void rules(Rules& rules) const {
    rules.of(from).range(1, 365);
    rules.check(from < until, "until", "has to be after from");
  }
};

TestReply post(App& app, std::string_view target, std::string body, std::string_view type = "application/json") {
  TestClient client = app.test();
  TestRequest request = client.request(http::Method::Post, target);
  if (!type.empty()) request.header("Content-Type", type);
  return request.body(std::move(body)).send();
}

TEST(JsonReplies, AreStructsListsAndMaps) {
  App app;
  app.get("/user", [] { return User{7, "ada"}; });
  app.get("/users", [] { return std::vector<User>{{1, "a"}, {2, "b\"\n"}}; });
  app.get("/map", [] { return std::map<std::string, int>{{"a", 1}}; });
  app.get("/text", [] { return Json{std::string("quoted")}; });
  app.get("/later", []() -> Task<User> { co_return User{8, "later"}; });
  app.get("/none", []() -> std::optional<User> { return std::nullopt; });
  app.get("/made", [] { return Answer<User>{.status = Status::Created, .body = {9, "made"}}; });
  TestClient client = app.test();
  const TestReply user = client.get("/user");
  EXPECT_EQ(user.status(), 200);
  EXPECT_EQ(user.text(), R"({"id":7,"name":"ada"})");
  EXPECT_EQ(user.header("Content-Type"), "application/json");
  EXPECT_EQ(user.header("Content-Length"), "21");
  EXPECT_EQ(client.get("/users").text(), R"([{"id":1,"name":"a"},{"id":2,"name":"b\"\n"}])");
  EXPECT_EQ(client.get("/map").text(), R"({"a":1})");
  EXPECT_EQ(client.get("/text").text(), R"("quoted")");
  EXPECT_EQ(client.get("/later").text(), R"({"id":8,"name":"later"})");
  EXPECT_EQ(client.get("/none").status(), 404);
  EXPECT_EQ(client.get("/made").status(), 201);
  EXPECT_EQ(client.get("/made").text(), R"({"id":9,"name":"made"})");
}

TEST(JsonReplies, OfMoreThanOneBlockAreWhole) {
  App app;
  app.get("/many", [] { return std::vector<User>(5000, User{123456, std::string(40, 'x')}); });
  const std::string text = app.test().get("/many").text();
  EXPECT_EQ(text.size(), 2 + 5000 * 64 - 1u);
  EXPECT_EQ(text.substr(text.size() - 20), "xxxxxxxxxxxxxxxxx\"}]");
}

class JsonBodies : public testing::Test {
 protected:
  JsonBodies() {
    app_.post("/users", [this](Json<NewUser> in) {
      ++calls_;
      return User{1, *in->name};
    });
    app_.post("/stays", [](Json<Stay> stay) { return *stay; });
    app_.post("/page", [](Json<User> user, Query<Page> page) { return User{page->limit, user->name}; });
    app_.post("/strict",
              [](Json<User, json::ReadOptions{.unknown = json::UnknownKeys::Refuse}> user) { return *user; });
  }
  App app_;
  int calls_ = 0;
};

TEST_F(JsonBodies, ReachTheHandlerTyped) {
  const TestReply reply = post(app_, "/users", R"({"name":"ada","mail":"ada@example.org","age":36})");
  EXPECT_EQ(reply.status(), 200);
  EXPECT_EQ(reply.text(), R"({"id":1,"name":"ada"})");
  EXPECT_EQ(post(app_, "/users", R"({"name":"ada","mail":"a@b"})", "application/vnd.api+json; charset=utf-8").status(),
            200);
}

TEST_F(JsonBodies, ThatDoNotFitAreA422WithEveryBadMember) {
  const TestReply reply = post(app_, "/users", R"({"name":"","age":200})");
  EXPECT_EQ(reply.status(), 422);
  EXPECT_EQ(reply.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(reply.text(),
            "{\"type\":\"about:blank\",\"title\":\"Unprocessable Content\",\"status\":422,"
            "\"detail\":\"/name: has to have 1 to 80 characters\\n/age: has to be a whole number from 0 to 150\\n"
            "/mail: is missing\",\"errors\":["
            "{\"in\":\"body\",\"pointer\":\"/name\",\"detail\":\"has to have 1 to 80 characters\"},"
            "{\"in\":\"body\",\"pointer\":\"/age\",\"detail\":\"has to be a whole number from 0 to 150\"},"
            "{\"in\":\"body\",\"pointer\":\"/mail\",\"detail\":\"is missing\"}]}\n");
  EXPECT_EQ(calls_, 0);
}

TEST_F(JsonBodies, ThatAreNoJsonAreA400WithTheirPlace) {
  const TestReply reply = post(app_, "/users", "{\n  \"name\": \"ada\",\n  oops}");
  EXPECT_EQ(reply.status(), 400);
  EXPECT_EQ(reply.header("Content-Type"), "application/problem+json");
  EXPECT_NE(reply.text().find("\"detail\":\"line 3, column 3: a name in quotes is expected\""), std::string::npos)
      << reply.text();
  EXPECT_EQ(post(app_, "/users", "").status(), 400);
  EXPECT_EQ(calls_, 0);
}

TEST_F(JsonBodies, NestedTooDeepNameTheLimit) {
  const TestReply reply = post(app_, "/users", R"({"name":)" + std::string(200, '[') + std::string(200, ']') + "}");
  EXPECT_EQ(reply.status(), 400);
  EXPECT_NE(reply.text().find("\"limit\":\"json_depth_max\",\"limit_value\":128"), std::string::npos) << reply.text();
}

TEST_F(JsonBodies, OfAnotherTypeAreA415) {
  const std::string good = R"({"name":"ada","mail":"ada@example.org"})";
  EXPECT_EQ(post(app_, "/users", good, "text/plain").status(), 415);
  EXPECT_EQ(post(app_, "/users", good, "").status(), 415);
  for (const char* type : {"text/plain", "", "application/jsonp"}) {
    const TestReply reply = post(app_, "/users", good, type);
    EXPECT_EQ(reply.header("Content-Type"), "application/problem+json") << type;
    EXPECT_EQ(reply.text().find("\"errors\""), std::string::npos) << reply.text();
  }
  EXPECT_EQ(post(app_, "/users", good, "application/jsonp").status(), 415);
  EXPECT_EQ(calls_, 0);
}

TEST_F(JsonBodies, BeyondTheLimitAreA413Problem) {
  const TestReply reply = post(app_, "/users", "\"" + std::string(2 << 20, 'x') + "\"");
  EXPECT_EQ(reply.status(), 413);
  EXPECT_EQ(reply.header("Content-Type"), "application/problem+json");
  EXPECT_NE(reply.text().find("body_bytes_max"), std::string::npos) << reply.text();
}

TEST_F(JsonBodies, AreCheckedAcrossMembersWhenEachIsGood) {
  EXPECT_EQ(post(app_, "/stays", R"({"from":1,"until":2})").text(), R"({"from":1,"until":2})");
  const TestReply crossed = post(app_, "/stays", R"({"from":5,"until":5})");
  EXPECT_EQ(crossed.status(), 422);
  EXPECT_NE(crossed.text().find(R"({"in":"body","pointer":"/until","detail":"has to be after from"})"),
            std::string::npos);
  const TestReply broken = post(app_, "/stays", R"({"from":"x","until":0})");
  EXPECT_EQ(broken.text().find("after"), std::string::npos);
}

TEST_F(JsonBodies, AndQueriesAreComplainedAboutTogether) {
  const TestReply reply = post(app_, "/page?limit=many", R"({"id":"7","name":"x"})");
  EXPECT_EQ(reply.status(), 422);
  EXPECT_NE(reply.text().find(R"({"in":"body","pointer":"/id")"), std::string::npos) << reply.text();
  EXPECT_NE(reply.text().find(R"({"in":"query","name":"limit")"), std::string::npos) << reply.text();
  const TestReply query = post(app_, "/page?limit=many", R"({"id":7,"name":"x"})");
  EXPECT_EQ(query.status(), 400);
  EXPECT_EQ(query.header("Content-Type"), "application/problem+json");
}

TEST_F(JsonBodies, MayBeRefusedForUnknownMembers) {
  EXPECT_EQ(post(app_, "/page", R"({"id":7,"name":"x","more":[1,{"a":2}]})").status(), 200);
  const TestReply reply = post(app_, "/strict", R"({"id":7,"name":"x","more":1})");
  EXPECT_EQ(reply.status(), 422);
  EXPECT_NE(reply.text().find(R"("pointer":"/more","detail":"is not known")"), std::string::npos) << reply.text();
}

}  // namespace
}  // namespace violet
