// The document of an API, path by path. nlohmann::json reads it, so that what is asserted is what clients see.
#include "violet/features/openapi/write/document.h"

#include "violet/violet.h"
#include "violet/web/content/dynamic_json.h"
#include "violet/web/negotiation/representations.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace violet {
namespace shown {

struct Song {
  int id;
};
std::string to_page(const Song&) { return "<p>"; }

}  // namespace shown

template <>
inline constexpr Representation<shown::Song> kRepresentations<shown::Song>[] = {{"text/html", &shown::to_page}};

namespace {

using Dom = nlohmann::json;

Dom document_of(App& app) { return Dom::parse(app.openapi()); }
const Dom& operation(const Dom& document, const char* path, const char* method) {
  return document.at("paths").at(path).at(method);
}
Dom parameter(const Dom& operation, std::string_view in, std::string_view name) {
  for (const Dom& one : operation.at("parameters")) {
    if (one.at("in") == in && one.at("name") == name) return one;
  }
  return nullptr;
}
std::vector<std::string> statuses(const Dom& operation) {
  std::vector<std::string> all;
  for (const auto& [status, answer] : operation.at("responses").items()) all.push_back(status);
  return all;
}
using Statuses = std::vector<std::string>;

enum class Plan : std::uint8_t { Free, Paid };
struct Address {
  std::string street;
  std::optional<std::string> floor;
};
struct Person {
  static constexpr std::string_view about = "Somebody";
  text<1, 80> name;
  email mail;
  std::optional<range<int, 0, 150>> age;
  Plan plan = Plan::Free;
  Address home;
  std::optional<Address> work;
  unique<std::vector<std::string>> tags;
  std::map<std::string, double> scores;
  std::array<float, 3> place;
  secret<std::string> password;
  std::string cache;
  static constexpr Note describe[] = {
      {.member = "name", .name = "fullName", .about = "As on the passport", .example = R"("Ada Lovelace")"},
      {.member = "tags", .optional = true},
      {.member = "cache", .ignored = true},
  };
};
const Dom& schema(const Dom& document, const char* name) { return document.at("components").at("schemas").at(name); }
const Dom& property(const Dom& object, const char* name) { return object.at("properties").at(name); }

TEST(OpenApi, SaysWhatItIs) {
  App app;
  app.docs("/docs",
           {.title = "Notes", .version = "2.1", .about = "All of them", .servers = {{"https://a.example", "far"}}});
  const Dom document = document_of(app);
  EXPECT_EQ(document.at("openapi"), "3.1.1");
  EXPECT_EQ(document.at("info"), Dom({{"title", "Notes"}, {"version", "2.1"}, {"description", "All of them"}}));
  EXPECT_EQ(document.at("servers"), Dom::array({{{"url", "https://a.example"}, {"description", "far"}}}));
  EXPECT_EQ(document.at("paths"), Dom::object()) << "its own routes are no part of the API";
}

TEST(OpenApi, DescribesStructsOnceAndRefersToThem) {
  App app;
  app.post("/people", [](Json<Person> in) { return *in; });
  app.get("/people", [] { return std::vector<Person>(); });
  const Dom document = document_of(app);
  const Dom reference = {{"$ref", "#/components/schemas/Person"}};
  const Dom& post = operation(document, "/people", "post");
  EXPECT_EQ(post.at("requestBody").at("content").at("application/json").at("schema"), reference);
  EXPECT_EQ(post.at("requestBody").at("required"), true);
  EXPECT_EQ(post.at("responses").at("200").at("content").at("application/json").at("schema"), reference);
  const Dom& list = operation(document, "/people", "get").at("responses").at("200").at("content");
  EXPECT_EQ(list.at("application/json").at("schema"), Dom({{"type", "array"}, {"items", reference}}));
  EXPECT_EQ(schema(document, "Person").at("description"), "Somebody");
}

TEST(OpenApi, TurnsRulesAndNotesIntoKeywords) {
  App app;
  app.post("/people", [](Json<Person> in) { return *in; });
  const Dom document = document_of(app);
  const Dom& person = schema(document, "Person");
  EXPECT_EQ(property(person, "fullName"), Dom({{"type", "string"},
                                               {"minLength", 1},
                                               {"maxLength", 80},
                                               {"description", "As on the passport"},
                                               {"examples", {"Ada Lovelace"}}}));
  EXPECT_EQ(property(person, "mail"), Dom({{"type", "string"}, {"format", "email"}}));
  EXPECT_EQ(property(person, "age"),
            Dom({{"type", {"integer", "null"}}, {"format", "int32"}, {"minimum", 0}, {"maximum", 150}}));
  EXPECT_EQ(property(person, "plan"), Dom({{"$ref", "#/components/schemas/Plan"}, {"default", "Free"}}));
  EXPECT_EQ(property(person, "home"), Dom({{"$ref", "#/components/schemas/Address"}}));
  EXPECT_EQ(property(person, "work"),
            Dom({{"anyOf", {{{"$ref", "#/components/schemas/Address"}}, {{"type", "null"}}}}}));
  EXPECT_EQ(
      property(person, "tags"),
      Dom({{"type", "array"}, {"items", {{"type", "string"}}}, {"uniqueItems", true}, {"default", Dom::array()}}));
  EXPECT_EQ(property(person, "scores"),
            Dom({{"type", "object"}, {"additionalProperties", {{"type", "number"}, {"format", "double"}}}}));
  EXPECT_EQ(
      property(person, "place"),
      Dom({{"type", "array"}, {"items", {{"type", "number"}, {"format", "float"}}}, {"minItems", 3}, {"maxItems", 3}}));
  EXPECT_EQ(property(person, "password"), Dom({{"type", "string"}, {"format", "password"}, {"writeOnly", true}}));
  EXPECT_FALSE(person.at("properties").contains("cache"));
  EXPECT_EQ(person.at("required"), Dom({"fullName", "mail", "home", "scores", "place", "password"}));
  EXPECT_EQ(schema(document, "Plan"), Dom({{"type", "string"}, {"enum", {"Free", "Paid"}}}));
}

struct Span {
  int first;
  int last;
  static constexpr std::string_view about = "From one to another";
  void rules(Rules& rules) const { rules.check(first <= last, "last", "comes before the first"); }
};
struct Renamed {
  std::string name;
};

TEST(OpenApi, SaysThatMembersAreCheckedTogether) {
  App app;
  app.post("/spans", [](Json<Span>) {});
  app.post("/names", [](Json<Renamed>) {});
  const Dom document = document_of(app);
  EXPECT_EQ(schema(document, "Span").at("description"),
            "From one to another\n\nIts members are checked together, too.");
  EXPECT_FALSE(schema(document, "Renamed").contains("description"));
}

TEST(OpenApi, TellsOfTheTokenBesideTheMembersOfAForm) {
  App app;
  app.use(sessions());
  app.post("/rename", [](CsrfForm<Renamed>) {});
  const Dom document = document_of(app);
  const Dom& post = operation(document, "/rename", "post");
  for (const char* media : {"application/x-www-form-urlencoded", "multipart/form-data"}) {
    EXPECT_EQ(
        post.at("requestBody").at("content").at(media).at("schema"),
        Dom({{"allOf", {{{"$ref", "#/components/schemas/Renamed"}}, {{"$ref", "#/components/schemas/CsrfToken"}}}}}));
  }
  const Dom& token = schema(document, "CsrfToken");
  EXPECT_EQ(token.at("required"), Dom({"csrf"}));
  EXPECT_EQ(property(token, "csrf").at("type"), "string");
  EXPECT_TRUE(post.at("responses").contains("403"));
  Group checked = app.group("/checked");
  checked.use(csrf());
  checked.post("/", [](Identity) {});
  const Dom answers = operation(document_of(app), "/checked/", "post").at("responses");
  EXPECT_TRUE(answers.contains("403"));
  EXPECT_TRUE(answers.contains("401"));
}

struct Formats {
  std::int8_t tiny;
  std::uint16_t small;
  std::int32_t middle;
  std::int64_t large;
  std::uint64_t huge;
  double real;
  bool flag;
  std::chrono::sys_seconds time;
  std::chrono::sys_days day;
  std::vector<std::byte> bytes;
  url link;
  uuid id;
  pattern<"^[a-z]+$"> word;
  range<double, 0.5, 1.5> ratio;
  nlohmann::json anything;
};

TEST(OpenApi, NamesFormats) {
  App app;
  app.post("/", [](Json<Formats>) {});
  const Dom document = document_of(app);
  const Dom& formats = schema(document, "Formats");
  const auto is = [&](const char* name, const Dom& wanted) { EXPECT_EQ(property(formats, name), wanted) << name; };
  is("tiny", {{"type", "integer"}, {"format", "int32"}, {"minimum", -128}, {"maximum", 127}});
  is("small", {{"type", "integer"}, {"format", "int32"}, {"minimum", 0}, {"maximum", 65535}});
  is("middle", {{"type", "integer"}, {"format", "int32"}});
  is("large", {{"type", "integer"}, {"format", "int64"}});
  is("huge", {{"type", "integer"}, {"format", "uint64"}, {"minimum", 0}});
  is("real", {{"type", "number"}, {"format", "double"}});
  is("flag", {{"type", "boolean"}});
  is("time", {{"type", "string"}, {"format", "date-time"}});
  is("day", {{"type", "string"}, {"format", "date"}});
  is("bytes", {{"type", "string"}, {"format", "byte"}, {"contentEncoding", "base64"}});
  is("link", {{"type", "string"}, {"format", "uri"}, {"pattern", "^[Hh][Tt][Tt][Pp][Ss]?://"}});
  is("id", {{"type", "string"}, {"format", "uuid"}});
  is("word", {{"type", "string"}, {"pattern", "^[a-z]+$"}});
  is("ratio", {{"type", "number"}, {"format", "double"}, {"minimum", 0.5}, {"maximum", 1.5}});
  is("anything", Dom::object());
}

struct Circle {
  double radius;
};
struct Square {
  double side;
};

TEST(OpenApi, TellsAlternativesApartByTheirTag) {
  App app;
  app.post("/shapes", [](Json<std::variant<Circle, Square>>) {});
  app.post("/loose", [](Json<std::variant<int, std::string>>) {});
  const Dom document = document_of(app);
  const Dom& shape =
      operation(document, "/shapes", "post").at("requestBody").at("content").at("application/json").at("schema");
  EXPECT_EQ(shape.at("oneOf").at(1), Dom({{"$ref", "#/components/schemas/TaggedSquare"}}));
  EXPECT_EQ(shape.at("discriminator").at("propertyName"), "type");
  EXPECT_EQ(shape.at("discriminator").at("mapping").at("Circle"), "#/components/schemas/TaggedCircle");
  const Dom& circle = schema(document, "TaggedCircle").at("allOf");
  EXPECT_EQ(circle.at(1), Dom({{"$ref", "#/components/schemas/Circle"}}));
  EXPECT_EQ(circle.at(0).at("properties").at("type"), Dom({{"const", "Circle"}}));
  const Dom& loose =
      operation(document, "/loose", "post").at("requestBody").at("content").at("application/json").at("schema");
  EXPECT_EQ(loose.at("anyOf").size(), 2u);
}

struct Tree {
  std::string name;
  std::vector<Tree> children;
};
namespace inner {
struct Address {
  int number;
};
}  // namespace inner
template <class T>
struct Page {
  std::vector<T> items;
};

TEST(OpenApi, NamesTypesThatHoldThemselvesAndTypesOfOneName) {
  App app;
  app.get("/tree", [] { return Tree{}; });
  app.get("/a", [] { return Page<Address>{}; });
  app.get("/b", [] { return inner::Address{}; });
  const Dom document = document_of(app);
  EXPECT_EQ(property(schema(document, "Tree"), "children").at("items"), Dom({{"$ref", "#/components/schemas/Tree"}}));
  const Dom& page = schema(document, "Page_Address");
  const std::string element = property(page, "items").at("items").at("$ref");
  const std::string other = operation(document, "/b", "get")
                                .at("responses")
                                .at("200")
                                .at("content")
                                .at("application/json")
                                .at("schema")
                                .at("$ref");
  EXPECT_NE(element, other);
}

struct Search {
  std::string q;
  range<int, 1, 100> limit = {20};
  std::vector<int> tag;
  std::optional<bool> exact;
  int since;
  static constexpr Note describe[] = {{.member = "limit", .about = "How many at most"}};
};

TEST(OpenApi, ListsParametersOfEveryPlace) {
  App app;
  app.get("/users/{id}/{name...}",
          [](Path<std::int64_t>, Path<std::string>, Query<Search>, Header<"X-Count", std::optional<int>>,
             Header<"Authorization">, CookieValue<"theme">) { return 1; })
      .parameter("id", "Number of the user", "7")
      .parameter("X-Count", "How often", "3");
  const Dom document = document_of(app);
  const Dom& get = operation(document, "/users/{id}/{name}", "get");
  EXPECT_EQ(parameter(get, "path", "id"), Dom({{"name", "id"},
                                               {"in", "path"},
                                               {"required", true},
                                               {"description", "Number of the user"},
                                               {"schema", {{"type", "integer"}, {"format", "int64"}}},
                                               {"example", 7}}));
  EXPECT_EQ(parameter(get, "path", "name").at("description"), "May have slashes in it");
  EXPECT_EQ(parameter(get, "query", "q"), Dom({{"name", "q"}, {"in", "query"}, {"schema", {{"type", "string"}}}}));
  EXPECT_EQ(parameter(get, "query", "limit").at("schema"),
            Dom({{"type", "integer"}, {"format", "int32"}, {"minimum", 1}, {"maximum", 100}, {"default", 20}}));
  EXPECT_EQ(parameter(get, "query", "limit").at("description"), "How many at most");
  EXPECT_EQ(parameter(get, "query", "exact").at("schema"), Dom({{"type", "boolean"}})) << "a query has no null";
  EXPECT_EQ(parameter(get, "query", "since").at("required"), true);
  EXPECT_FALSE(parameter(get, "header", "X-Count").contains("required"));
  EXPECT_EQ(parameter(get, "cookie", "theme").at("schema"), Dom({{"type", "string"}}));
  EXPECT_EQ(parameter(get, "header", "Authorization"), nullptr) << "OpenAPI says it by security schemes";
  EXPECT_EQ(get.at("responses").at("400"), Dom({{"$ref", "#/components/responses/BadRequest"}}));
}

struct Day {
  int month;
  int year;
};

TEST(OpenApi, FindsPathParametersThatAStructTakesAndThoseThatNobodyTakes) {
  App app;
  app.get("/{year}/{month}/{rest}", [](Path<Day> day) { return day->year; });
  const Dom document = document_of(app);
  const Dom& get = operation(document, "/{year}/{month}/{rest}", "get");
  EXPECT_EQ(parameter(get, "path", "month").at("schema").at("type"), "integer");
  EXPECT_EQ(parameter(get, "path", "rest").at("schema").at("type"), "string");
  EXPECT_EQ(get.at("parameters").size(), 3u);
}

TEST(OpenApi, MakesOnePathOfPatternsThatMatchTheSame) {
  App app;
  app.get("/users/{id}", [](Path<int> id) { return *id; });
  app.del("/users/{user}", [](Path<int>) {});
  const Dom document = document_of(app);
  EXPECT_EQ(document.at("paths").size(), 1u);
  EXPECT_NE(parameter(operation(document, "/users/{id}", "delete"), "path", "id"), nullptr);
}

TEST(OpenApi, KnowsEveryReplyType) {
  App app;
  app.post("/created", [](Json<Circle> in) { return Created{"/1", *in}; });
  app.get("/none", [] { return NoContent(); });
  app.get("/void", [] {});
  app.get("/redirect", [] { return Redirect("/"); });
  app.get("/optional", []() -> std::optional<Circle> { return {}; });
  app.get("/expected", []() -> std::expected<Circle, Square> { return Circle{1}; });
  app.get("/result", []() -> Result<Circle> { return Circle{1}; });
  app.get("/events", [](EventStream) -> Task<> { co_return; });
  app.get("/file", [] { return FileReply("/dev/null"); });
  app.get("/status", [] { return Status::Accepted; });
  app.get("/reply", [] { return Reply("x"); }).reply<Circle>(Status::Ok, "A circle");
  app.get("/text", []() -> Task<std::string> { co_return "x"; });
  app.websocket("/socket", [](WebSocket) -> Task<> { co_return; });
  const Dom document = document_of(app);
  const auto answers = [&](const char* path, const char* method = "get") {
    return statuses(operation(document, path, method));
  };
  EXPECT_EQ(answers("/created", "post"), (Statuses{"201", "400", "413", "415", "422", "default"}));
  EXPECT_EQ(
      operation(document, "/created", "post").at("responses").at("201").at("headers").at("Location").at("required"),
      true);
  EXPECT_EQ(answers("/none"), (Statuses{"204", "default"}));
  EXPECT_EQ(answers("/void"), (Statuses{"204", "default"}));
  EXPECT_EQ(answers("/redirect"), (Statuses{"3XX", "default"}));
  EXPECT_EQ(answers("/optional"), (Statuses{"200", "404", "default"}));
  EXPECT_EQ(answers("/expected"), (Statuses{"200", "default"}));
  EXPECT_EQ(answers("/result"), (Statuses{"200", "default"}));
  EXPECT_EQ(answers("/events"), (Statuses{"200", "204", "default"}));
  EXPECT_EQ(answers("/file"), (Statuses{"200", "403", "404", "default"}));
  EXPECT_EQ(answers("/status"), (Statuses{"default"}));
  EXPECT_EQ(answers("/reply"), (Statuses{"200", "default"}));
  EXPECT_EQ(answers("/socket"), (Statuses{"101", "426", "default"}));
  EXPECT_EQ(operation(document, "/socket", "get").at("x-websocket"), true);
  EXPECT_TRUE(operation(document, "/text", "get")
                  .at("responses")
                  .at("200")
                  .at("content")
                  .contains("text/plain; charset=utf-8"));
  EXPECT_TRUE(
      operation(document, "/events", "get").at("responses").at("200").at("content").contains("text/event-stream"));
}

struct Plain {
  std::string name;
};
struct WithFile {
  std::string name;
  UploadedFile picture;
};

TEST(OpenApi, SaysHowFormsMayBeSent) {
  App app;
  app.post("/plain", [](Form<Plain>) {});
  app.post("/files", [](Form<WithFile>) {});
  const Dom document = document_of(app);
  const auto medias = [&](const char* path) {
    std::vector<std::string> all;
    for (const auto& [media, _] : operation(document, path, "post").at("requestBody").at("content").items()) {
      all.push_back(media);
    }
    return all;
  };
  EXPECT_EQ(medias("/plain"), (Statuses{"application/x-www-form-urlencoded", "multipart/form-data"}));
  EXPECT_EQ(medias("/files"), (Statuses{"multipart/form-data"}));
  EXPECT_EQ(property(schema(document, "WithFile"), "picture"), Dom({{"type", "string"}, {"format", "binary"}}));
  EXPECT_EQ(statuses(operation(document, "/files", "post")), (Statuses{"204", "400", "413", "415", "422", "default"}));
}

TEST(OpenApi, TakesWhatRoutesAndGroupsSayOfThemselves) {
  App app;
  app.docs("/docs", {.schemes = {{.name = "session", .kind = DocsOptions::Scheme::Kind::Cookie, .field = "sid"}}});
  Group api = app.group("/api");
  api.tag("everything").security("bearer");
  api.get("/users/{id}", [](Path<int> id) { return *id; })
      .summary("One user")
      .describe("At length")
      .tag("users")
      .reply(Status::NotFound, "There is no such user")
      .deprecated();
  api.post("/login", [](Json<Circle>) { return 1; }).security("none").operation_id("logIn").body_max(100);
  api.get("/me", [] { return 1; }).security("session");
  api.get("/secret", [] { return 1; }).hidden();
  const Dom document = document_of(app);
  const Dom& get = operation(document, "/api/users/{id}", "get");
  EXPECT_EQ(get.at("operationId"), "getApiUsersById");
  EXPECT_EQ(get.at("summary"), "One user");
  EXPECT_EQ(get.at("description"), "At length");
  EXPECT_EQ(get.at("tags"), Dom({"users", "everything"}));
  EXPECT_EQ(get.at("deprecated"), true);
  EXPECT_EQ(get.at("security"), Dom::parse(R"([{"bearer":[]}])"));
  EXPECT_EQ(get.at("responses").at("404").at("description"), "There is no such user");
  EXPECT_TRUE(get.at("responses").contains("401"));
  const Dom& login = operation(document, "/api/login", "post");
  EXPECT_EQ(login.at("operationId"), "logIn");
  EXPECT_EQ(login.at("security"), Dom::array());
  EXPECT_FALSE(login.at("responses").contains("401"));
  EXPECT_EQ(login.at("responses").at("413").at("description"), "The body has more than 100 bytes");
  EXPECT_EQ(operation(document, "/api/me", "get").at("security"), Dom::parse(R"([{"session":[]}])"));
  EXPECT_FALSE(document.at("paths").contains("/api/secret"));
  const Dom& schemes = document.at("components").at("securitySchemes");
  EXPECT_EQ(schemes.at("bearer"), Dom({{"type", "http"}, {"scheme", "bearer"}}));
  EXPECT_EQ(schemes.at("session"), Dom({{"type", "apiKey"}, {"name", "sid"}, {"in", "cookie"}}));
}

struct Limited {
  static constexpr std::string_view security = "bearer";
  static constexpr std::array replies{web::ReplyShape{.status = 429, .is_problem = true}};
  Verdict on_request(Exchange&) const { return Verdict::Continue; }
};

TEST(OpenApi, KnowsWhatMiddlewareTakesAndAnswers) {
  App app;
  app.use(Limited{}, [](Header<"X-Key", int>) {});
  app.get("/", [] { return 1; });
  const Dom document = document_of(app);
  const Dom& get = operation(document, "/", "get");
  EXPECT_EQ(parameter(get, "header", "X-Key").at("required"), true);
  EXPECT_EQ(statuses(get), (Statuses{"200", "400", "401", "429", "default"}));
  EXPECT_EQ(get.at("security"), Dom::parse(R"([{"bearer":[]}])"));
}

struct Session {
  int user = 0;
};
struct Mine {
  std::string text;
};

}  // namespace

template <>
struct Extract<Session> : Extractor {
  static constexpr web::Input input{.kind = web::Input::Kind::Security, .name = "bearer"};
  static Session from(Fetch&) { return {}; }
};
template <>
struct Respond<Mine> {
  static constexpr auto replies = web::replies({.status = 200, .media = "image/png"});
  static Body body(Exchange&, Mine&& mine) { return Slice::of(std::move(mine.text)); }
};

namespace {

TEST(OpenApi, AsksParametersAndRepliesOfTheUsersOwn) {
  App app;
  app.get("/", [](Session) { return Mine{"x"}; });
  const Dom document = document_of(app);
  const Dom& get = operation(document, "/", "get");
  EXPECT_EQ(get.at("security"), Dom::parse(R"([{"bearer":[]}])"));
  EXPECT_TRUE(get.at("responses").at("200").at("content").contains("image/png"));
  EXPECT_TRUE(get.at("responses").contains("401"));
}

TEST(OpenApi, GivesEveryOperationANameOfItsOwn) {
  App app;
  app.get("/a-b", [] { return 1; });
  app.get("/a/b", [] { return 1; });
  const Dom document = document_of(app);
  EXPECT_EQ(operation(document, "/a-b", "get").at("operationId"), "getAB");
  EXPECT_EQ(operation(document, "/a/b", "get").at("operationId"), "getAB2");
}

TEST(OpenApi, SaysInWhichFormsATypeIsAnsweredAndThatOthersAre406) {
  App app;
  app.get("/song", [] { return shown::Song{1}; });
  const Dom document = document_of(app);
  const Dom& get = operation(document, "/song", "get");
  EXPECT_EQ(statuses(get), (Statuses{"200", "406", "default"}));
  const Dom& content = get.at("responses").at("200").at("content");
  EXPECT_TRUE(content.contains("application/json") && content.contains("text/html"));
}

TEST(OpenApi, SaysWhatMiddlewareOfTheLibraryAnswers) {
  App app;
  Group limited = app.group("/limited");
  limited.use(rate_limit({}));
  limited.use(concurrency_limit({.max = 1}));
  limited.get("/a", [] { return 1; });
  Group timed = app.group("/timed");
  timed.use(timeout({.handler_ms = 10, .status = Status::GatewayTimeout}));
  timed.get("/a", [] { return 1; });
  timed.get("/b", [] { return 1; }).reply(Status::GatewayTimeout, "The other side sleeps");
  Group tokens = app.group("/tokens");
  tokens.use(bearer_auth("api", [](std::string_view) { return std::optional<std::string>("ada"); }));
  tokens.use(require_scope("notes"));
  tokens.get("/a", [] { return 1; });
  Group named = app.group("/named");
  named.use(basic_auth("api", [](const std::string&, const std::string&) { return true; }));
  named.get("/a", [] { return 1; });
  const Dom document = document_of(app);
  EXPECT_EQ(statuses(operation(document, "/limited/a", "get")), (Statuses{"200", "429", "503", "default"}));
  EXPECT_EQ(statuses(operation(document, "/timed/a", "get")), (Statuses{"200", "504", "default"}));
  EXPECT_EQ(operation(document, "/timed/b", "get").at("responses").at("504").at("description"),
            "The other side sleeps");
  EXPECT_EQ(statuses(operation(document, "/tokens/a", "get")), (Statuses{"200", "401", "403", "default"}));
  EXPECT_EQ(operation(document, "/tokens/a", "get").at("security"), Dom::parse(R"([{"bearer":[]}])"));
  EXPECT_EQ(statuses(operation(document, "/named/a", "get")), (Statuses{"200", "401", "default"}));
  EXPECT_EQ(operation(document, "/named/a", "get").at("security"), Dom::parse(R"([{"basic":[]}])"));
  const Dom& schemes = document.at("components").at("securitySchemes");
  EXPECT_TRUE(schemes.contains("bearer") && schemes.contains("basic"));
}

TEST(OpenApi, ServesTheDocumentAndItsPage) {
  App app;
  app.docs("/docs", {.title = "A <b>"});
  app.get("/hello", [] { return "hello"; });
  TestClient client = app.test();
  const TestReply document = client.get("/docs/openapi.json");
  EXPECT_EQ(document.status(), 200);
  EXPECT_EQ(document.header("Content-Type"), "application/json");
  EXPECT_TRUE(Dom::parse(document.text()).at("paths").contains("/hello"));
  const TestReply page = client.get("/docs");
  EXPECT_EQ(page.header("Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(page.text().find("A &lt;b&gt;"), std::string::npos);
  EXPECT_NE(page.header("Content-Security-Policy").find("default-src 'none'; script-src 'self'"),
            std::string_view::npos);
  EXPECT_EQ(page.header("Content-Security-Policy").find("unsafe"), std::string_view::npos);
  const TestReply slash = client.get("/docs/");
  EXPECT_EQ(slash.status(), 308);
  EXPECT_EQ(slash.header("Location"), "../docs");
  const TestReply script = client.get("/docs/viewer.js");
  EXPECT_EQ(script.header("Content-Type"), "text/javascript; charset=utf-8");
  const std::string etag(script.header("ETag"));
  EXPECT_EQ(client.request(http::Method::Get, "/docs/viewer.js").header("If-None-Match", etag).send().status(), 304);
}

TEST(OpenApi, RefusesToStartWithASchemeThatNobodyDeclared) {
  App app;
  app.docs("/docs");
  app.get("/", [] { return 1; }).security("magic");
  const TestReply reply = app.test().get("/");
  EXPECT_EQ(reply.status(), 0);
  EXPECT_NE(reply.text().find("the security scheme \"magic\""), std::string::npos) << reply.text();
}

TEST(OpenApi, LeavesOutWhatSaysNothingOfItself) {
  App app;
  app.files("/static", VIOLET_SOURCE_DIR "/docs");
  app.any(http::Method::PropFind, "/dav", [] { return 1; });
  app.any("/any", [] { return 1; });
  const Dom document = document_of(app);
  EXPECT_EQ(document.at("paths").size(), 1u);
  EXPECT_TRUE(document.at("paths").at("/any").contains("get"));
}

}  // namespace
}  // namespace violet
