// What answers tell browsers about the safety of pages.

#include "violet/features/browser/security_headers.h"

#include "tests/web/fake_wire.h"
#include "violet/web/output/reply.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace violet {
namespace {

TEST(SecurityHeaders, StandOnEveryAnswer) {
  web::FakeServer server;
  server.router.use(security_headers);
  server.router.get("/", [] { return "x"; });
  for (const char* path : {"/", "/none"}) {
    const web::FakeAnswer answer = server.get(path);
    EXPECT_EQ(answer.header("Content-Security-Policy"),
              "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'; object-src 'none'");
    EXPECT_EQ(answer.header("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer.header("X-Frame-Options"), "DENY");
    EXPECT_EQ(answer.header("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(answer.header("Cross-Origin-Opener-Policy"), "same-origin");
    EXPECT_EQ(answer.header("Cross-Origin-Resource-Policy"), "same-origin");
    EXPECT_EQ(answer.header("Permissions-Policy"), "");
    EXPECT_EQ(answer.header("Strict-Transport-Security"), "") << "nobody may say so without TLS";
  }
}

TEST(SecurityHeaders, StrictTransportSecurityIsForThoseWhoCameByTls) {
  web::FakeServer server;
  server.connection.is_secure = true;
  server.router.use(security_headers);
  server.router.get("/", [] { return "x"; });
  EXPECT_EQ(server.get("/").header("Strict-Transport-Security"), "max-age=31536000; includeSubDomains");

  web::FakeServer behind;
  behind.router.use([](Exchange& exchange) { exchange.set_client({.is_secure = true}); }, security_headers);
  behind.router.get("/", [] { return "x"; });
  EXPECT_NE(behind.get("/").header("Strict-Transport-Security"), "");
}

TEST(SecurityHeaders, EachCanBeSetAndLeftOut) {
  web::FakeServer server;
  server.connection.is_secure = true;
  server.router.use(security_headers({.content_security_policy = "default-src 'none'",
                                      .strict_transport_security = "",
                                      .content_type_options = "",
                                      .frame_options = "SAMEORIGIN",
                                      .referrer_policy = "",
                                      .cross_origin_opener_policy = "",
                                      .cross_origin_resource_policy = "",
                                      .permissions_policy = "camera=()"}));
  server.router.get("/", [] { return "x"; });
  const web::FakeAnswer answer = server.get("/");
  EXPECT_EQ(answer.header("Content-Security-Policy"), "default-src 'none'");
  EXPECT_EQ(answer.header("X-Frame-Options"), "SAMEORIGIN");
  EXPECT_EQ(answer.header("Permissions-Policy"), "camera=()");
  EXPECT_EQ(answer.fields.size(), 4u) << "and the type";
}

TEST(SecurityHeaders, AHandlersOwnFieldStays) {
  web::FakeServer server;
  server.router.use(security_headers);
  server.router.get(
      "/", [] { return Reply("x").field("content-security-policy", "own").field("Referrer-Policy", "origin"); });
  const web::FakeAnswer answer = server.get("/");
  int count = 0;
  for (const auto& [name, value] : answer.fields)
    count += value == "own" || value == "origin" || value == "no-referrer";
  EXPECT_EQ(count, 2);
  EXPECT_EQ(answer.header("Referrer-Policy"), "origin");
}

TEST(SecurityHeaders, AValueThatNoFieldCanHaveKeepsTheAppFromStarting) {
  web::FakeServer server;
  server.router.use(security_headers({.referrer_policy = "a\r\nX-Evil: 1"}));
  const auto errors = server.router.freeze();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("Referrer-Policy cannot have this value"), std::string::npos);
}

}  // namespace
}  // namespace violet
