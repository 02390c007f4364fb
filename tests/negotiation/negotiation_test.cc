// What a client accepts decides how a value is written; many values go out as they come.

#include "violet/app/app.h"
#include "violet/app/test_client.h"
#include "violet/event/wait.h"
#include "violet/web/content/json.h"
#include "violet/web/content/replies.h"
#include "violet/web/negotiation/accept.h"
#include "violet/web/output/json_stream.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace violet {
namespace negotiated {

struct User {
  int id;
  std::string name;
};
struct Plain {
  int id;
};
std::string to_page(const User& user) { return "<p>" + user.name + "</p>"; }
std::string to_row(const User& user) { return std::to_string(user.id) + "," + user.name + "\r\n"; }

}  // namespace negotiated

template <>
inline constexpr Representation<negotiated::User> kRepresentations<negotiated::User>[] = {
    {"text/html; charset=utf-8", &negotiated::to_page},
    {"text/csv", &negotiated::to_row},
};

namespace {

using negotiated::Plain;
using negotiated::User;

class Wanted {
 public:
  explicit Wanted(std::vector<std::string_view> lines) : fields_(arena_) {
    for (const std::string_view line : lines) fields_.push(http::FieldId::Accept, line);
  }
  int operator[](std::string_view type) const { return web::Accept(fields_).weight(type); }

 private:
  Arena arena_;
  http::Fields fields_;
};

TEST(Accept, TakesTheMostSpecificRange) {
  // RFC 9110 §12.5.1, the example.
  const Wanted wanted(
      {"text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5"});
  EXPECT_EQ(wanted["text/plain;format=flowed"], 1000);
  EXPECT_EQ(wanted["text/plain"], 700);
  EXPECT_EQ(wanted["text/html"], 300);
  EXPECT_EQ(wanted["image/jpeg"], 500);
  EXPECT_EQ(wanted["text/plain; Format=Fixed"], 400);
  EXPECT_EQ(wanted["text/html; level=3"], 300);
}

TEST(Accept, JoinsLinesAndFoldsCase) {
  const Wanted wanted({"TEXT/html;q=0.2", "application/json"});
  EXPECT_EQ(wanted["text/HTML; charset=utf-8"], 200);
  EXPECT_EQ(wanted["application/json"], 1000);
  EXPECT_EQ(wanted["text/csv"], 0);
}

TEST(Accept, PassesOverWhatIsMalformed) {
  EXPECT_EQ(Wanted({"text/html;q=2, text/csv;q=0.1234, */html, text, /, text/, a/b c"})["text/html"], 1000);
  const Wanted wanted({"text/html;q=x, text/csv;q=0.5"});
  EXPECT_EQ(wanted["text/html"], 0);
  EXPECT_EQ(wanted["text/csv"], 500);
  EXPECT_EQ(Wanted({""})["text/html"], 1000);
  EXPECT_EQ(Wanted({})["text/html"], 1000);
}

// RFC 9110 §5.6.6: a quoted string and a token are the same value.
TEST(Accept, TakesAQuotedValueForTheToken) {
  EXPECT_EQ(Wanted({R"(text/html; charset="utf-8")"})["text/html; charset=utf-8"], 1000);
  EXPECT_EQ(Wanted({R"(text/html; charset="\u\tf-8")"})["text/html; charset=UTF-8"], 1000);
  EXPECT_EQ(Wanted({"text/html; charset=utf-8"})[R"(text/html; charset="utf-8")"], 1000);
  EXPECT_EQ(Wanted({R"(text/html; charset="utf-8x")"})["text/html; charset=utf-8"], 0);
  EXPECT_EQ(Wanted({R"(text/html; charset="utf-)"})["text/html; charset=utf-8"], 0);
  EXPECT_EQ(Wanted({R"(text/html; a=";charset=utf-8")"})["text/html; charset=utf-8"], 0);
  EXPECT_EQ(Wanted({R"(text/html; a="x;y", text/csv;q=0.5)"})[R"(text/html; a="x;y")"], 1000);
}

TEST(Accept, ACharsetOfUtf8ExcludesNothingThatIsUtf8) {
  EXPECT_EQ(Wanted({"application/json; charset=utf-8"})["application/json"], 1000);
  EXPECT_EQ(Wanted({R"(application/json;charset="UTF-8";q=0.3, */*;q=0.1)"})["application/json"], 300);
  EXPECT_EQ(Wanted({"text/html; charset=utf-8"})["text/html; charset=iso-8859-1"], 0);
  EXPECT_EQ(Wanted({"application/json; charset=latin1"})["application/json"], 0);
}

TEST(Accept, RefusesByAWeightOfNothing) {
  const Wanted wanted({"text/html;q=0, */*"});
  EXPECT_EQ(wanted["text/html"], 0);
  EXPECT_EQ(wanted["text/csv"], 1000);
}

TestReply ask(App& app, std::string_view target, std::string_view accept) {
  TestClient client = app.test();
  TestRequest request = client.request(http::Method::Get, target);
  if (!accept.empty()) request.header("Accept", accept);
  return request.send();
}

TEST(Negotiation, AnswersInTheFormThatIsWantedMost) {
  App app;
  app.get("/user", [] { return User{7, "ada"}; });
  const struct {
    std::string_view accept;
    std::string_view type;
    std::string_view body;
  } cases[] = {
      {"", "application/json", R"({"id":7,"name":"ada"})"},
      {"*/*", "application/json", R"({"id":7,"name":"ada"})"},
      {"application/*", "application/json", R"({"id":7,"name":"ada"})"},
      {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8", "<p>ada</p>"},
      {"text/csv, text/html;q=0.9", "text/csv", "7,ada\r\n"},
      {"text/*", "text/html; charset=utf-8", "<p>ada</p>"},
      {"application/json;q=0.1, text/csv;q=0.2", "text/csv", "7,ada\r\n"},
      {"application/json;q=0, */*", "text/html; charset=utf-8", "<p>ada</p>"},
  };
  for (const auto& [accept, type, body] : cases) {
    const TestReply reply = ask(app, "/user", accept);
    EXPECT_EQ(reply.status(), 200) << accept;
    EXPECT_EQ(reply.header("Content-Type"), type) << accept;
    EXPECT_EQ(reply.text(), body) << accept;
    EXPECT_EQ(reply.header("Vary"), "Accept") << accept;
  }
}

TEST(Negotiation, RefusesWhatCannotBeHad) {
  App app;
  app.get("/user", [] { return User{7, "ada"}; });
  const TestReply reply = ask(app, "/user", "image/png, text/*;q=0");
  EXPECT_EQ(reply.status(), 406);
  EXPECT_EQ(reply.header("Vary"), "Accept");
  EXPECT_NE(reply.text().find("text/csv"), std::string::npos);
}

TEST(Negotiation, HoldsInsideOtherReplies) {
  App app;
  app.get("/created", [] { return Created{"/users/7", User{7, "ada"}}; });
  app.get("/maybe", [] { return std::optional<User>(User{7, "ada"}); });
  app.get("/later", []() -> Task<Result<User>> { co_return User{7, "ada"}; });
  const TestReply created = ask(app, "/created", "text/csv");
  EXPECT_EQ(created.status(), 201);
  EXPECT_EQ(created.header("Location"), "/users/7");
  EXPECT_EQ(created.text(), "7,ada\r\n");
  EXPECT_EQ(ask(app, "/created", "image/png").status(), 406);
  EXPECT_EQ(ask(app, "/maybe", "text/csv").text(), "7,ada\r\n");
  EXPECT_EQ(ask(app, "/later", "text/html").text(), "<p>ada</p>");
}

TEST(Negotiation, IsNotForTypesWithOneForm) {
  App app;
  app.get("/plain", [] { return Plain{7}; });
  const TestReply reply = ask(app, "/plain", "text/html");
  EXPECT_EQ(reply.text(), R"({"id":7})");
  EXPECT_EQ(reply.header("Vary"), "");
}

TEST(JsonArrays, AreWrittenAsTheyCome) {
  App app;
  app.get("/none", []() -> JsonArray<Plain> { co_return; });
  app.get("/one", []() -> JsonArray<Plain> { co_yield Plain{1}; });
  app.get("/slow", []() -> JsonArray<User> {
    for (int i = 0; i < 3; ++i) {
      static_cast<void>(co_await sleep_ms(1));
      User user{i, "\"" + std::to_string(i)};
      co_yield user;
    }
  });
  app.get("/numbers", []() -> JsonArray<int> {
    for (int i = 0; i < 20'000; ++i) co_yield i;
  });
  const TestReply none = ask(app, "/none", "");
  EXPECT_EQ(none.text(), "[]");
  EXPECT_EQ(none.header("Content-Type"), "application/json");
  EXPECT_EQ(ask(app, "/one", "").text(), R"([{"id":1}])");
  EXPECT_EQ(ask(app, "/slow", "").text(), R"([{"id":0,"name":"\"0"},{"id":1,"name":"\"1"},{"id":2,"name":"\"2"}])");
  std::string numbers = "[0";
  for (int i = 1; i < 20'000; ++i) numbers += "," + std::to_string(i);
  EXPECT_EQ(ask(app, "/numbers", "").text(), numbers + "]");
}

TEST(JsonArrays, HaveNoEndWhenTheyAreCutOff) {
  App app;
  app.get("/broken", []() -> JsonArray<int> {
    co_yield 1;
    throw std::runtime_error("no more");
  });
  TestClient client = app.test();
  const std::string raw = client.raw("GET /broken HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_NE(raw.find("[1"), std::string::npos);
  EXPECT_EQ(raw.find("]"), std::string::npos);
}

TEST(JsonLines, AreOneValueALine) {
  App app;
  app.get("/none", []() -> JsonLines<int> { co_return; });
  app.get("/two", []() -> JsonLines<User> {
    co_yield User{1, "a\nb"};
    co_yield User{2, "c"};
  });
  EXPECT_EQ(ask(app, "/none", "").text(), "");
  const TestReply two = ask(app, "/two", "");
  EXPECT_EQ(two.text(), "{\"id\":1,\"name\":\"a\\nb\"}\n{\"id\":2,\"name\":\"c\"}\n");
  EXPECT_EQ(two.header("Content-Type"), "application/x-ndjson");
}

}  // namespace
}  // namespace violet
