// What pages of other origins may do, as browsers ask for it.

#include "violet/features/browser/cors.h"

#include "violet/app/app.h"
#include "violet/app/test_client.h"
#include "violet/web/input/fields.h"
#include "violet/web/output/reply.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace violet {
namespace {

using Lines = std::initializer_list<std::pair<std::string_view, std::string_view>>;

TestReply ask(App& app, http::Method method, std::string_view target, Lines fields) {
  TestClient client = app.test();
  TestRequest request = client.request(method, target);
  for (const auto& [name, value] : fields) request.header(name, value);
  return request.send();
}

TestReply preflight(App& app, std::string_view target, std::string_view origin, std::string_view method,
                    std::string_view headers = {}) {
  if (headers.empty()) {
    return ask(app, http::Method::Options, target, {{"Origin", origin}, {"Access-Control-Request-Method", method}});
  }
  return ask(
      app, http::Method::Options, target,
      {{"Origin", origin}, {"Access-Control-Request-Method", method}, {"Access-Control-Request-Headers", headers}});
}

bool has(const TestReply& reply, std::string_view name) {
  return std::ranges::any_of(reply.fields(), [&](const TestReply::Field& field) { return field.name == name; });
}

std::string vary(const TestReply& reply) {
  std::string all;
  for (const TestReply::Field& field : reply.fields()) {
    if (field.name == "Vary") all += (all.empty() ? "" : ", ") + field.value;
  }
  return all;
}

constexpr std::string_view kOrigin = "Access-Control-Allow-Origin";

App app_with(CorsOptions options) {
  App app;
  app.use(cors(std::move(options)));
  app.get("/a", [] { return "a"; });
  app.put("/a", [] { return "put"; });
  app.get("/fails", [] { return Status::InternalServerError; });
  return app;
}

TEST(Cors, NamesTheOriginThatMayReadTheAnswer) {
  App app = app_with({.origins = {"https://a.example", "https://b.example:8443"}, .exposed = {"X-One", "X-Two"}});
  TestReply reply = ask(app, http::Method::Get, "/a", {{"Origin", "https://b.example:8443"}});
  EXPECT_EQ(reply.text(), "a");
  EXPECT_EQ(reply.header(kOrigin), "https://b.example:8443");
  EXPECT_EQ(reply.header("Access-Control-Expose-Headers"), "X-One, X-Two");
  EXPECT_FALSE(has(reply, "Access-Control-Allow-Credentials"));
  EXPECT_EQ(vary(reply), "Origin");
  for (const std::string_view other : {"https://evil.example", "http://a.example", "https://a.example:444",
                                       "https://a.example.evil.example", "null", "https://b.example"}) {
    reply = ask(app, http::Method::Get, "/a", {{"Origin", other}});
    EXPECT_EQ(reply.status(), 200) << "CORS keeps no request away";
    EXPECT_FALSE(has(reply, kOrigin)) << other;
    EXPECT_EQ(vary(reply), "Origin") << "a cache must not give it to those who may read it";
  }
  EXPECT_EQ(vary(ask(app, http::Method::Get, "/a", {})), "Origin");
}

TEST(Cors, ReachesErrorsToo) {
  App app = app_with({.origins = {"https://a.example"}});
  for (const std::string_view path : {"/fails", "/none"}) {
    EXPECT_EQ(ask(app, http::Method::Get, path, {{"Origin", "https://a.example"}}).header(kOrigin),
              "https://a.example");
  }
  EXPECT_EQ(ask(app, http::Method::Delete, "/a", {{"Origin", "https://a.example"}}).header(kOrigin),
            "https://a.example");
}

TEST(Cors, AnswersPreflights) {
  App app = app_with({.origins = {"https://a.example"}, .headers = {"Content-Type", "X-Own"}, .credentials = true});
  const TestReply reply = preflight(app, "/a", "https://a.example", "PUT", "content-type,x-own");
  EXPECT_EQ(reply.status(), 204);
  EXPECT_EQ(reply.text(), "");
  EXPECT_EQ(reply.header(kOrigin), "https://a.example");
  EXPECT_EQ(reply.header("Access-Control-Allow-Credentials"), "true");
  EXPECT_EQ(reply.header("Access-Control-Allow-Methods"), "GET, HEAD, POST, PUT, PATCH, DELETE");
  EXPECT_EQ(reply.header("Access-Control-Allow-Headers"), "Content-Type, X-Own");
  EXPECT_EQ(reply.header("Access-Control-Max-Age"), "600");
  EXPECT_FALSE(has(reply, "Access-Control-Expose-Headers"));
  EXPECT_FALSE(has(reply, "Access-Control-Allow-Private-Network"));
  EXPECT_EQ(vary(reply), "Origin, Access-Control-Request-Method, Access-Control-Request-Headers");
}

TEST(Cors, RefusesPreflightsForWhatIsNotAllowed) {
  App app = app_with({.origins = {"https://a.example"}, .methods = {"PUT"}, .headers = {"X-Own"}});
  const auto refused = [&](const TestReply& reply, std::string_view what) {
    EXPECT_EQ(reply.status(), 403);
    EXPECT_FALSE(has(reply, kOrigin));
    EXPECT_NE(reply.text().find(what), std::string::npos) << reply.text();
    EXPECT_TRUE(vary(reply).starts_with("Origin, "));
  };
  refused(preflight(app, "/a", "https://b.example", "PUT"), "the origin is not allowed: https://b.example");
  refused(preflight(app, "/a", "https://a.example", "DELETE"), "the method is not allowed: DELETE");
  refused(preflight(app, "/a", "https://a.example", "put"), "the method is not allowed: put");
  refused(preflight(app, "/a", "https://a.example", "PUT", "x-own, authorization"),
          "the field is not allowed: authorization");
  EXPECT_EQ(preflight(app, "/a", "https://a.example", "POST", "x-own").status(), 204) << "POST needs no preflight";
}

TEST(Cors, LeavesOptionsThatAreNoPreflightsAlone) {
  App app = app_with({.origins = {"https://a.example"}});
  for (const Lines fields :
       {Lines{{"Origin", "https://a.example"}}, Lines{{"Access-Control-Request-Method", "PUT"}}, Lines{}}) {
    const TestReply reply = ask(app, http::Method::Options, "/a", fields);
    EXPECT_EQ(reply.status(), 204);
    EXPECT_EQ(reply.header("Allow"), "GET, HEAD, PUT, OPTIONS");
  }
}

TEST(Cors, AllOriginsGetOneAnswer) {
  App app = app_with({.origins = {"*"}, .methods = {"*"}, .headers = {"*"}, .exposed = {"*"}, .max_age_s = {}});
  TestReply reply = ask(app, http::Method::Get, "/a", {{"Origin", "https://any.example"}});
  EXPECT_EQ(reply.header(kOrigin), "*");
  EXPECT_EQ(reply.header("Access-Control-Expose-Headers"), "*");
  EXPECT_EQ(vary(reply), "");
  EXPECT_FALSE(has(ask(app, http::Method::Get, "/a", {}), kOrigin));
  reply = preflight(app, "/a", "null", "BREW", "authorization,x-any");
  EXPECT_EQ(reply.status(), 204);
  EXPECT_EQ(reply.header(kOrigin), "*");
  EXPECT_EQ(reply.header("Access-Control-Allow-Methods"), "BREW");
  EXPECT_EQ(reply.header("Access-Control-Allow-Headers"), "authorization,x-any");
  EXPECT_FALSE(has(reply, "Access-Control-Max-Age"));
  EXPECT_EQ(preflight(app, "/a", "null", "PUT", "a b").status(), 403);
  for (const char* bad : {"P UT", "PUT, GET", "a;b", "<x>"}) {
    EXPECT_EQ(preflight(app, "/a", "null", bad).status(), 403) << bad;
  }
}

TEST(Cors, HostsBelowAPatternAreThoseAndNoOthers) {
  App app = app_with({.origins = {"https://*.a.example", "http://*.b.example:8080"}});
  const auto may = [&app](std::string_view origin) {
    return has(ask(app, http::Method::Get, "/a", {{"Origin", origin}}), kOrigin);
  };
  EXPECT_TRUE(may("https://x.a.example"));
  EXPECT_TRUE(may("https://y.x.a.example"));
  EXPECT_TRUE(may("http://x.b.example:8080"));
  for (const std::string_view other :
       {"https://a.example", "https://.a.example", "http://x.a.example", "https://xa.example",
        "https://x.a.example:444", "https://evil.example/.a.example", "https://evil.example:80.a.example",
        "https://u@x.a.example", "https://x.a.example.evil.example", "http://x.b.example", "https://x y.a.example"}) {
    EXPECT_FALSE(may(other)) << other;
  }
  for (const char* bad : {"https://..a.example", "https://b..a.example", "https://.b.a.example"}) {
    EXPECT_FALSE(may(bad)) << bad;
  }
}

TEST(Cors, AFunctionMayDecide) {
  App app =
      app_with({.origins = {"null"}, .allows = [](std::string_view origin) { return origin.ends_with(":3000"); }});
  EXPECT_EQ(ask(app, http::Method::Get, "/a", {{"Origin", "http://localhost:3000"}}).header(kOrigin),
            "http://localhost:3000");
  EXPECT_EQ(ask(app, http::Method::Get, "/a", {{"Origin", "null"}}).header(kOrigin), "null");
  EXPECT_FALSE(has(ask(app, http::Method::Get, "/a", {{"Origin", "http://localhost:3001"}}), kOrigin));
}

TEST(Cors, PrivateNetworksAreOpenedByOption) {
  const Lines question = {{"Origin", "https://a.example"},
                          {"Access-Control-Request-Method", "PUT"},
                          {"Access-Control-Request-Private-Network", "true"}};
  App closed = app_with({.origins = {"https://a.example"}});
  EXPECT_FALSE(has(ask(closed, http::Method::Options, "/a", question), "Access-Control-Allow-Private-Network"));
  App open = app_with({.origins = {"https://a.example"}, .private_network = true});
  EXPECT_EQ(ask(open, http::Method::Options, "/a", question).header("Access-Control-Allow-Private-Network"), "true");
}

TEST(Cors, AGroupsPreflightsNeedNoLogin) {
  App app;
  Group api = app.group("/api");
  api.use(cors({.origins = {"https://a.example"}}));
  api.use([](Header<"Authorization"> who) -> std::optional<Status> {
    if (who->empty()) return Status::Unauthorized;
    return {};
  });
  api.put("/notes/{id}", [] { return "saved"; });
  app.get("/open", [] { return ""; });
  EXPECT_EQ(preflight(app, "/api/notes/7", "https://a.example", "PUT").status(), 204);
  const TestReply refused = ask(app, http::Method::Put, "/api/notes/7", {{"Origin", "https://a.example"}});
  EXPECT_EQ(refused.status(), 401);
  EXPECT_EQ(refused.header(kOrigin), "https://a.example") << "the page is to know why";
  EXPECT_FALSE(has(preflight(app, "/open", "https://a.example", "GET"), kOrigin));
}

TEST(Cors, AHandlersOwnWordStays) {
  App app;
  app.use(cors({.origins = {"https://a.example"}}));
  app.get("/", [] { return Reply("x").field("Access-Control-Allow-Origin", "*").field("Vary", "Accept, origin"); });
  const TestReply reply = ask(app, http::Method::Get, "/", {{"Origin", "https://a.example"}});
  EXPECT_EQ(reply.header(kOrigin), "*");
  EXPECT_EQ(vary(reply), "Accept, origin");
}

std::string start_errors(CorsOptions options) {
  App app = app_with(std::move(options));
  app.listen("http://127.0.0.1:0");
  if (app.start()) return {};
  std::string all;
  for (const std::string& error : app.errors()) all += error + "\n";
  return all;
}

TEST(Cors, WhatCouldNotMeanWhatItSaysKeepsTheAppFromStarting) {
  EXPECT_NE(start_errors({.origins = {"*"}, .credentials = true}).find("credentials need origins by name"),
            std::string::npos);
  EXPECT_NE(start_errors({.origins = {"https://a.example"}, .exposed = {"*"}, .credentials = true}).find("exposed"),
            std::string::npos);
  EXPECT_NE(start_errors({}).find("no origin is given"), std::string::npos);
  EXPECT_NE(start_errors({.origins = {"*"}, .headers = {"X Y"}}).find("\"X Y\" is no method or field name"),
            std::string::npos);
  for (const char* wrong : {"https://a.example/", "a.example", "https://A.example", "https://*", "https://*.*.a", "",
                            "://a", "https://a.example/*"}) {
    EXPECT_NE(start_errors({.origins = {wrong}}).find("is no origin"), std::string::npos) << wrong;
  }
  EXPECT_EQ(start_errors({.origins = {"https://[::1]:8443", "http://localhost:3000", "https://*.a.example", "null"}}),
            "");
}

}  // namespace
}  // namespace violet
