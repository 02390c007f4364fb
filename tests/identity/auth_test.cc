// Who sends a request: basic and bearer credentials, sessions, and requests that another site makes a browser send.

#include "violet/app/app.h"
#include "violet/app/test_client.h"
#include "violet/event/wait.h"
#include "violet/features/identity/http/basic.h"
#include "violet/features/identity/http/bearer.h"
#include "violet/features/identity/secret.h"
#include "violet/features/identity/session/csrf.h"

#include <gtest/gtest.h>

#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace violet {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

TestReply ask(App& app, http::Method method, std::string_view target, const Lines& lines = {}, std::string body = {}) {
  TestClient client = app.test();
  TestRequest request = client.request(method, target);
  for (const auto& [name, value] : lines) request.header(name, value);
  if (!body.empty()) request.body(std::move(body));
  return request.send();
}
TestReply with(App& app, std::string authorization) {
  return ask(app, http::Method::Get, "/me", {{"Authorization", std::move(authorization)}});
}
void add_me(App& app) {
  app.get("/me", [](Identity who) { return std::string(who.scheme()) + " " + std::string(who.subject()); });
}

TEST(EqualSecrets, TellsTheSameFromOthers) {
  EXPECT_TRUE(equal_secrets("", ""));
  EXPECT_TRUE(equal_secrets("secret", "secret"));
  EXPECT_FALSE(equal_secrets("secret", "secre"));
  EXPECT_FALSE(equal_secrets("secret", "secrex"));
}

TEST(BasicAuth, AsksForCredentials) {
  App app;
  app.use(basic_auth("the \"staff\"", Accounts{{"ada", "secret"}, {"bea", "o:t h\xc3\xa9r"}}));
  add_me(app);
  const TestReply none = ask(app, http::Method::Get, "/me");
  EXPECT_EQ(none.status(), 401);
  EXPECT_EQ(none.header("WWW-Authenticate"), R"(Basic realm="the \"staff\"", charset="UTF-8")");
  EXPECT_EQ(with(app, "Basic YWRhOnNlY3JldA==").text(), "basic ada");
  EXPECT_EQ(with(app, "bAsIc   YWRhOnNlY3JldA==").text(), "basic ada");  // schemes have no case
  EXPECT_EQ(with(app, "Basic YmVhOm86dCBow6ly").text(), "basic bea");    // the first colon counts
}

TEST(BasicAuth, RefusesWhatIsWrong) {
  App app;
  app.use(basic_auth("staff", Accounts{{"ada", "secret"}}));
  add_me(app);
  // Wrong password, wrong name, no colon, no base64, a control character, other schemes, nothing.
  for (const char* bad :
       {"Basic YWRhOnNlY3JlVA==", "Basic YmVhOnNlY3JldA==", "Basic YWRhc2VjcmV0", "Basic !!!", "Basic YWRhOnNlY3JldA",
        "Basic YWRhOnNlCjA=", "Bearer YWRhOnNlY3JldA==", "Basic", "BasicYWRhOnNlY3JldA=="}) {
    const TestReply reply = with(app, bad);
    EXPECT_EQ(reply.status(), 401) << bad;
    EXPECT_FALSE(reply.header("WWW-Authenticate").empty()) << bad;
  }
  EXPECT_EQ(ask(app, http::Method::Get, "/me",
                {{"Authorization", "Basic YWRhOnNlY3JldA=="}, {"Authorization", "Basic YWRhOnNlY3JldA=="}})
                .status(),
            401);
}

TEST(BasicAuth, MayWaitForItsCheck) {
  App app;
  app.use(basic_auth("staff", [](std::string name, std::string password) -> Task<bool> {
    static_cast<void>(co_await sleep_ms(1));
    co_return name == "ada" && equal_secrets(password, "secret");
  }));
  add_me(app);
  EXPECT_EQ(with(app, "Basic YWRhOnNlY3JldA==").text(), "basic ada");
  EXPECT_EQ(with(app, "Basic YWRhOnNlY3JlVA==").status(), 401);
}

TEST(Identities, AreAskedForByHandlers) {
  App app;
  add_me(app);
  app.get("/maybe", [](MaybeIdentity who) { return who ? "somebody" : "nobody"; });
  EXPECT_EQ(ask(app, http::Method::Get, "/maybe").text(), "nobody");
  // Nobody could be known here, and a 401 would have to say how (RFC 9110 §11.6.1).
  const TestReply reply = ask(app, http::Method::Get, "/me");
  EXPECT_EQ(reply.status(), 403);
  EXPECT_EQ(reply.header("WWW-Authenticate"), "");
  EXPECT_NE(reply.text().find("nothing here can tell who asks"), std::string::npos);
}

// Lets strangers pass, and knows only who names himself.
struct OwnAuth {
  void on_request(Exchange& exchange) const {
    const std::string_view name = exchange.request().fields.get("X-Name");
    if (!name.empty()) set_identity(exchange, name, "own");
  }
  [[nodiscard]] std::string challenge() const { return "Own realm=\"names\""; }
};

TEST(Identities, AreAskedForByTheSchemesOfWhatStandsBefore) {
  App app;
  app.use(sessions());
  add_me(app);
  Group both = app.group("/both");
  both.use(OwnAuth{});
  both.get("/me", [](Identity who) { return std::string(who.subject()); });
  const TestReply cookie = ask(app, http::Method::Get, "/me");
  EXPECT_EQ(cookie.status(), 401);
  EXPECT_EQ(cookie.header("WWW-Authenticate"), "Cookie realm=\"session\"");
  const TestReply two = ask(app, http::Method::Get, "/both/me");
  EXPECT_EQ(two.status(), 401);
  EXPECT_EQ(two.header("WWW-Authenticate"), "Cookie realm=\"session\", Own realm=\"names\"");
  EXPECT_EQ(ask(app, http::Method::Get, "/both/me", {{"X-Name", "bea"}}).text(), "bea");
}

TEST(BearerAuth, TakesTokensThatTheProgramKnows) {
  App app;
  app.use(bearer_auth("api", [](std::string_view token) -> std::optional<std::string> {
    if (equal_secrets(token, "t0k3n")) return "ada";
    return std::nullopt;
  }));
  add_me(app);
  EXPECT_EQ(with(app, "Bearer t0k3n").text(), "bearer ada");
  EXPECT_EQ(with(app, "bearer t0k3n").text(), "bearer ada");
  const TestReply none = ask(app, http::Method::Get, "/me");
  EXPECT_EQ(none.status(), 401);
  EXPECT_EQ(none.header("WWW-Authenticate"), R"(Bearer realm="api")");  // no error where nothing came (RFC 6750 §3.1)
  const TestReply wrong = with(app, "Bearer other");
  EXPECT_EQ(wrong.status(), 401);
  EXPECT_EQ(wrong.header("WWW-Authenticate"),
            R"(Bearer realm="api", error="invalid_token", error_description="the token is not known")");
  const TestReply malformed = with(app, "Bearer a b");
  EXPECT_EQ(malformed.status(), 400);
  EXPECT_NE(malformed.header("WWW-Authenticate").find("invalid_request"), std::string::npos);
}

struct Claims {
  std::string sub;
  std::int64_t exp;
  std::string scope;
};

TEST(BearerAuth, TakesJwts) {
  const JwtKey key = *JwtKey::hmac(JwtAlgorithm::HS256, std::string(32, 's'));
  App app;
  app.use(bearer_auth("api", JwtVerifier(key)));
  add_me(app);
  Group admin = app.group("/admin");
  admin.use(require_scope("admin"));
  admin.get("/", [](Identity who) { return std::string(who.claims()->json()); });
  const std::int64_t now = std::time(nullptr);
  const std::string good = sign_jwt(key, Claims{"ada", now + 600, "read admin"});
  EXPECT_EQ(with(app, "Bearer " + good).text(), "bearer ada");
  EXPECT_EQ(ask(app, http::Method::Get, "/admin/", {{"Authorization", "Bearer " + good}}).status(), 200);
  const std::string poor = sign_jwt(key, Claims{"ada", now + 600, "read"});
  const TestReply reply = ask(app, http::Method::Get, "/admin/", {{"Authorization", "Bearer " + poor}});
  EXPECT_EQ(reply.status(), 403);
  EXPECT_EQ(reply.header("WWW-Authenticate"), R"(Bearer error="insufficient_scope", scope="admin")");
  const TestReply old = with(app, "Bearer " + sign_jwt(key, Claims{"ada", now - 600, ""}));
  EXPECT_EQ(old.status(), 401);
  EXPECT_NE(old.header("WWW-Authenticate").find("the token has expired"), std::string::npos);
}

// --- sessions

std::string cookie_of(const TestReply& reply) {
  const std::string_view field = reply.header("Set-Cookie");
  return std::string(field.substr(0, field.find(';')));
}

struct Named {
  std::string name;
};

void add_session_routes(App& app) {
  app.get("/look", [](BrowserSession session) { return std::string(session.get("color").value_or("none")); });
  app.post("/paint/{color}", [](Path<std::string> color, BrowserSession session) { session.set("color", *color); });
  app.post("/login", [](BrowserSession session) { session.login("ada"); });
  app.post("/logout", [](BrowserSession session) { session.destroy(); });
  app.post("/fail", [](BrowserSession session) {
    session.set("color", "lost");
    return Status::InternalServerError;
  });
  add_me(app);
}

TEST(Sessions, SetACookieOnlyWhenSomethingIsWritten) {
  App app;
  app.use(sessions());
  add_session_routes(app);
  const TestReply look = ask(app, http::Method::Get, "/look");
  EXPECT_EQ(look.text(), "none");
  EXPECT_EQ(look.header("Set-Cookie"), "");
  const TestReply paint = ask(app, http::Method::Post, "/paint/red");
  const std::string cookie = cookie_of(paint);
  EXPECT_EQ(paint.header("Set-Cookie"), cookie + "; Path=/; HttpOnly; SameSite=Lax");
  EXPECT_EQ(paint.header("Cache-Control"), "no-store");
  EXPECT_EQ(cookie.size(), std::string("session=").size() + 22);
  const TestReply again = ask(app, http::Method::Get, "/look", {{"Cookie", cookie}});
  EXPECT_EQ(again.text(), "red");
  EXPECT_EQ(again.header("Set-Cookie"), "");
  // A change of what is there keeps the id.
  EXPECT_EQ(ask(app, http::Method::Post, "/paint/blue", {{"Cookie", cookie}}).header("Set-Cookie"), "");
  EXPECT_EQ(ask(app, http::Method::Get, "/look", {{"Cookie", cookie}}).text(), "blue");
}

TEST(Sessions, GetANewIdAtLogin) {
  App app;
  app.use(sessions());
  add_session_routes(app);
  const std::string before = cookie_of(ask(app, http::Method::Post, "/paint/red"));
  const std::string after = cookie_of(ask(app, http::Method::Post, "/login", {{"Cookie", before}}));
  EXPECT_NE(before, after);
  EXPECT_EQ(ask(app, http::Method::Get, "/me", {{"Cookie", after}}).text(), "session ada");
  EXPECT_EQ(ask(app, http::Method::Get, "/look", {{"Cookie", after}}).text(), "red");
  // The old one, which somebody may have planted, is worth nothing.
  EXPECT_EQ(ask(app, http::Method::Get, "/me", {{"Cookie", before}}).status(), 401);
  EXPECT_EQ(ask(app, http::Method::Get, "/look", {{"Cookie", before}}).text(), "none");
}

TEST(Identities, AreThoseWhoseCredentialsTheRouteHasAskedFor) {
  const JwtKey key = *JwtKey::hmac(JwtAlgorithm::HS256, std::string(32, 's'));
  App app;
  app.use(sessions());
  add_session_routes(app);
  const auto who = [](Identity who) { return std::string(who.scheme()) + " " + std::string(who.subject()); };
  Group basic = app.group("/basic");
  basic.use(basic_auth("staff", Accounts{{"bea", "secret"}}));
  basic.get("/", who);
  Group api = app.group("/api");
  api.use(bearer_auth("api", JwtVerifier(key)), require_scope("read"));
  api.get("/", who);
  Group inner = basic.group("/session");
  inner.use(sessions());
  inner.get("/", who);
  const std::string ada = cookie_of(ask(app, http::Method::Post, "/login"));
  const std::string bea = "Basic YmVhOnNlY3JldA==";
  const std::string token = sign_jwt(key, Claims{"carl", std::time(nullptr) + 600, "read"});
  EXPECT_EQ(ask(app, http::Method::Get, "/basic/", {{"Cookie", ada}, {"Authorization", bea}}).text(), "basic bea");
  EXPECT_EQ(ask(app, http::Method::Get, "/basic/session/", {{"Cookie", ada}, {"Authorization", bea}}).text(),
            "basic bea");
  EXPECT_EQ(ask(app, http::Method::Get, "/api/", {{"Cookie", ada}, {"Authorization", "Bearer " + token}}).text(),
            "bearer carl");
  EXPECT_EQ(ask(app, http::Method::Get, "/basic/", {{"Cookie", ada}}).status(), 401);
  EXPECT_EQ(ask(app, http::Method::Get, "/me", {{"Cookie", ada}}).text(), "session ada");
}

TEST(Identities, TakeNoClaimsOfWhomTheyReplace) {
  const JwtKey key = *JwtKey::hmac(JwtAlgorithm::HS256, std::string(32, 's'));
  App app;
  app.use(bearer_auth("api", JwtVerifier(key)));
  Group other = app.group("/other");
  other.use([](Exchange& exchange) { set_identity(exchange, "dora", "own"); }, require_scope("read"));
  other.get("/", [] { return "reached"; });
  const std::string token = sign_jwt(key, Claims{"carl", std::time(nullptr) + 600, "read"});
  EXPECT_EQ(ask(app, http::Method::Get, "/other/", {{"Authorization", "Bearer " + token}}).status(), 403);
}

TEST(Sessions, NeverTakeOverAnIdThatIsNotTheirs) {
  App app;
  app.use(sessions());
  add_session_routes(app);
  const std::string planted = "session=AAAAAAAAAAAAAAAAAAAAAA";
  const std::string given = cookie_of(ask(app, http::Method::Post, "/paint/red", {{"Cookie", planted}}));
  EXPECT_FALSE(given.empty());
  EXPECT_NE(given, planted);
}

TEST(Sessions, EndWithTheirCookieAtLogout) {
  App app;
  app.use(sessions());
  add_session_routes(app);
  const std::string cookie = cookie_of(ask(app, http::Method::Post, "/login"));
  const TestReply out = ask(app, http::Method::Post, "/logout", {{"Cookie", cookie}});
  EXPECT_NE(out.header("Set-Cookie").find("Max-Age=0"), std::string::npos);
  EXPECT_EQ(ask(app, http::Method::Get, "/me", {{"Cookie", cookie}}).status(), 401);
}

TEST(Sessions, ForgetWhatAFailedHandlerHasWritten) {
  App app;
  app.use(sessions());
  add_session_routes(app);
  EXPECT_EQ(ask(app, http::Method::Post, "/fail").header("Set-Cookie"), "");
}

TEST(Sessions, Expire) {
  auto store = std::make_shared<MemorySessions>();
  App app;
  app.use(sessions({.store = store, .idle_seconds = 100, .age_seconds_max = 1000}));
  add_session_routes(app);
  const std::int64_t now = std::time(nullptr);
  const auto put = [&](std::string id, std::int64_t created, std::int64_t used) {
    SessionStore::Record record;
    record.values.emplace_back("color", "red");
    record.created = created;
    record.used = used;
    store->create(identity::sha256(id), record);
    return ask(app, http::Method::Get, "/look", {{"Cookie", "session=" + id}}).text();
  };
  EXPECT_EQ(put("AAAAAAAAAAAAAAAAAAAAAA", now - 900, now - 50), "red");
  EXPECT_EQ(put("BBBBBBBBBBBBBBBBBBBBBA", now - 900, now - 200), "none");
  EXPECT_EQ(put("CCCCCCCCCCCCCCCCCCCCCA", now - 1100, now - 1), "none");
  EXPECT_EQ(store->count(), 1U);
}

TEST(Sessions, HaveABound) {
  App app;
  app.use(sessions({.bytes_max = 20}));
  app.get("/fill", [](BrowserSession session) {
    const bool first = session.set("a", std::string(19, 'x'));
    const bool second = session.set("b", "y");
    session.remove("a");
    return std::string(first ? "1" : "0") + (second ? "1" : "0") + (session.set("b", "y") ? "1" : "0") +
           (session.set("$subject", "x") ? "1" : "0");
  });
  EXPECT_EQ(ask(app, http::Method::Get, "/fill").text(), "1010");
}

TEST(Sessions, HaveRoomForALoginAlways) {
  App app;
  app.use(sessions({.bytes_max = 20}));
  add_session_routes(app);
  app.post("/fill", [](BrowserSession session) { session.set("a", std::string(19, 'x')); });
  app.post("/login/{name}", [](Path<std::string> name, BrowserSession session) { session.login(*name); });
  app.get("/token", [](BrowserSession session) { return session.csrf_token(); });
  app.post("/check", [](CsrfForm<Named> form) { return form->name; });
  const std::string full = cookie_of(ask(app, http::Method::Post, "/fill"));
  const std::string ada = cookie_of(ask(app, http::Method::Post, "/login", {{"Cookie", full}}));
  EXPECT_EQ(ask(app, http::Method::Get, "/me", {{"Cookie", ada}}).text(), "session ada");
  const std::string token = ask(app, http::Method::Get, "/token", {{"Cookie", ada}}).text();
  EXPECT_EQ(ask(app, http::Method::Post, "/check",
                {{"Cookie", ada}, {"Content-Type", "application/x-www-form-urlencoded"}}, "name=n&csrf=" + token)
                .text(),
            "n");
  const std::string long_name(50, 'b');
  const std::string next = cookie_of(ask(app, http::Method::Post, "/login/" + long_name, {{"Cookie", ada}}));
  EXPECT_EQ(ask(app, http::Method::Get, "/me", {{"Cookie", next}}).text(), "session " + long_name);
}

TEST(Sessions, HandNothingFromOneUserToTheNext) {
  App app;
  app.use(sessions());
  add_session_routes(app);
  app.post("/switch", [](BrowserSession session) {
    session.set("color", "late");
    session.login("bea");
  });
  app.post("/again", [](BrowserSession session) {
    session.destroy();
    session.login("ada");
  });
  const auto color = [&](const std::string& cookie) {
    return ask(app, http::Method::Get, "/look", {{"Cookie", cookie}}).text();
  };
  const auto painted = [&] {
    const std::string cookie = cookie_of(ask(app, http::Method::Post, "/login"));
    ask(app, http::Method::Post, "/paint/red", {{"Cookie", cookie}});
    return cookie;
  };
  const std::string same = cookie_of(ask(app, http::Method::Post, "/login", {{"Cookie", painted()}}));
  EXPECT_EQ(color(same), "red");
  const std::string before = painted();
  const std::string other = cookie_of(ask(app, http::Method::Post, "/switch", {{"Cookie", before}}));
  EXPECT_EQ(color(other), "none");
  EXPECT_EQ(ask(app, http::Method::Get, "/me", {{"Cookie", other}}).text(), "session bea");
  EXPECT_EQ(ask(app, http::Method::Get, "/me", {{"Cookie", before}}).status(), 401);
  const std::string again = cookie_of(ask(app, http::Method::Post, "/again", {{"Cookie", painted()}}));
  EXPECT_EQ(color(again), "none");
  EXPECT_EQ(ask(app, http::Method::Get, "/me", {{"Cookie", again}}).text(), "session ada");
}

TEST(Sessions, TellTheRequestItselfWhoIsThere) {
  App app;
  app.use(sessions());
  add_session_routes(app);
  app.post("/switch", [](MaybeIdentity who, BrowserSession session) {
    session.login("bea");
    return std::string((*who).subject()) + " " + std::string(session.subject());
  });
  app.post("/leave", [](MaybeIdentity who, BrowserSession session) {
    session.set("color", "red");
    session.destroy();
    const bool has_set = session.set("color", "blue");
    return std::string(who ? "somebody" : "nobody") + "," + std::string(session.subject()) + "," +
           std::string(session.get("color").value_or("none")) + (has_set ? ",set" : ",refused");
  });
  const std::string ada = cookie_of(ask(app, http::Method::Post, "/login"));
  const TestReply switched = ask(app, http::Method::Post, "/switch", {{"Cookie", ada}});
  EXPECT_EQ(switched.text(), "bea bea");
  EXPECT_EQ(ask(app, http::Method::Post, "/leave", {{"Cookie", cookie_of(switched)}}).text(), "nobody,,none,refused");
}

TEST(Sessions, RunOnceBeforeARoute) {
  const auto cookies = [](App& app) {
    std::size_t count = 0;
    const TestReply reply = ask(app, http::Method::Post, "/inner/login");
    for (const auto& field : reply.fields()) count += field.name == "Set-Cookie" ? 1 : 0;
    return count;
  };
  const auto add = [](App& app, const Sessions& outer, const Sessions& inner) {
    app.use(outer);
    Group group = app.group("/inner");
    group.use(inner);
    group.post("/login", [](BrowserSession session) { session.login("ada"); });
  };
  App same;
  const Sessions shared = sessions();
  add(same, shared, shared);
  EXPECT_EQ(cookies(same), 1U);
  App other;
  add(other, sessions(), sessions());
  EXPECT_EQ(cookies(other), 1U);
}

TEST(Sessions, LetNoSharedCacheKeepTheirCookie) {
  App app;
  app.use(sessions());
  app.get("/{how}", [](Path<std::string> how, BrowserSession session) {
    session.set("a", "b");
    return Reply("text").field("Cache-Control", *how).field("CDN-Cache-Control", "max-age=60");
  });
  const auto sent = [&](const std::string& how) {
    return std::string(ask(app, http::Method::Get, "/" + how).header("Cache-Control"));
  };
  for (const char* open : {"public", "public,max-age=60", "max-age=60", "private,s-maxage=60", "private=x"}) {
    EXPECT_EQ(sent(open), "no-store") << open;
  }
  for (const char* closed : {"private", "max-age=60,private", "No-Store"}) EXPECT_EQ(sent(closed), closed);
  EXPECT_EQ(ask(app, http::Method::Get, "/public").header("CDN-Cache-Control"), "");
}

TEST(Sessions, AreMissedWhereNothingStandsBeforeTheHandler) {
  App app;
  add_session_routes(app);
  EXPECT_EQ(ask(app, http::Method::Get, "/look").status(), 500);
}

// --- CSRF

void add_form(App& app) {
  app.use(sessions(), csrf());
  app.get("/token", [](BrowserSession session) { return session.csrf_token(); });
  app.post("/change", [] { return "done"; });
  app.post("/form", [](CsrfForm<Named> form) { return form->name; });
}

TEST(CsrfTokens, AreOthersEachTimeAndBoundToTheirSession) {
  App app;
  add_form(app);
  const TestReply first = ask(app, http::Method::Get, "/token");
  const std::string cookie = cookie_of(first);
  const TestReply second = ask(app, http::Method::Get, "/token", {{"Cookie", cookie}});
  EXPECT_NE(first.text(), second.text());
  const TestReply other = ask(app, http::Method::Get, "/token");
  const auto post = [&](const std::string& token, const std::string& from) {
    return ask(app, http::Method::Post, "/change", {{"Cookie", from}, {"X-CSRF-Token", token}}).status();
  };
  EXPECT_EQ(post(first.text(), cookie), 200);
  EXPECT_EQ(post(second.text(), cookie), 200);
  EXPECT_EQ(post(other.text(), cookie), 403);
  EXPECT_EQ(post("", cookie), 403);
  EXPECT_EQ(post("AAAA", cookie), 403);
  EXPECT_EQ(post(first.text(), "session=AAAAAAAAAAAAAAAAAAAAAA"), 403);
}

TEST(CsrfTokens, StandInForms) {
  App app;
  add_form(app);
  const TestReply first = ask(app, http::Method::Get, "/token");
  const std::string cookie = cookie_of(first);
  const auto post = [&](std::string body, std::string type) {
    return ask(app, http::Method::Post, "/form",
               {{"Cookie", cookie}, {"Sec-Fetch-Site", "same-origin"}, {"Content-Type", std::move(type)}},
               std::move(body));
  };
  const std::string urlencoded = "application/x-www-form-urlencoded";
  EXPECT_EQ(post("name=ada&csrf=" + first.text(), urlencoded).text(), "ada");
  EXPECT_EQ(post("name=ada", urlencoded).status(), 403);
  EXPECT_EQ(post("name=ada&csrf=AAAA", urlencoded).status(), 403);
  const std::string part = "--b\r\nContent-Disposition: form-data; name=";
  EXPECT_EQ(post(part + "name\r\n\r\nbea\r\n" + part + "csrf\r\n\r\n" + first.text() + "\r\n--b--",
                 "multipart/form-data; boundary=b")
                .text(),
            "bea");
}

TEST(CsrfOrigins, DecideWhereTheBrowserTells) {
  App app;
  app.use(csrf({.trusted_origins = {"https://app.example"}}));
  app.any("/change", [] { return "done"; });
  const auto status = [&](const Lines& lines) {
    Lines all = lines;
    all.emplace_back("Host", "a.example");
    return ask(app, http::Method::Post, "/change", all).status();
  };
  EXPECT_EQ(status({{"Sec-Fetch-Site", "same-origin"}}), 200);
  EXPECT_EQ(status({{"Sec-Fetch-Site", "none"}}), 200);
  EXPECT_EQ(status({{"Sec-Fetch-Site", "same-site"}}), 403);
  EXPECT_EQ(status({{"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(status({{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://app.example"}}), 200);
  EXPECT_EQ(status({{"Origin", "http://a.example"}}), 200);
  EXPECT_EQ(status({{"Origin", "https://a.example"}}), 403);
  EXPECT_EQ(status({{"Origin", "http://b.example"}}), 403);
  EXPECT_EQ(status({{"Origin", "null"}}), 403);
  EXPECT_EQ(status({}), 200);
  EXPECT_EQ(status({{"Cookie", "a=b"}}), 403);
  EXPECT_EQ(ask(app, http::Method::Get, "/change", {{"Sec-Fetch-Site", "cross-site"}}).status(), 200);
  EXPECT_EQ(ask(app, http::Method::Delete, "/change", {{"Sec-Fetch-Site", "cross-site"}}).status(), 403);
}

}  // namespace
}  // namespace violet
