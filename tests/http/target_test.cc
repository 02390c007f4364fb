#include "violet/http/target.h"

#include <gtest/gtest.h>

#include <cctype>
#include <random>
#include <string>

namespace violet::http {
namespace {

struct Split {
  bool is_good;
  TargetForm form;
  std::string scheme, authority, path, query;
};

Split split(Method method, std::string_view target) {
  Arena arena;
  Head head(arena);
  head.method = method;
  head.target = target;
  const bool is_good = split_target(head);
  return {is_good,
          head.form,
          std::string(head.scheme),
          std::string(head.authority),
          std::string(head.path),
          std::string(head.query)};
}

TEST(Target, SplitsPathAndQueryAtTheFirstMark) {
  EXPECT_EQ(split(Method::Get, "/a?b?c").path, "/a");
  EXPECT_EQ(split(Method::Get, "/a?b?c").query, "b?c");
  EXPECT_EQ(split(Method::Get, "/?").path, "/");
  EXPECT_EQ(split(Method::Get, "/?").query, "");
  EXPECT_EQ(split(Method::Get, "//evil.example/x").path, "//evil.example/x");
  EXPECT_EQ(split(Method::Get, "//evil.example/x").authority, "");
}

TEST(Target, AllowsEachFormWhereItBelongs) {
  EXPECT_TRUE(split(Method::Options, "*").is_good);
  EXPECT_FALSE(split(Method::Get, "*").is_good);
  EXPECT_FALSE(split(Method::Connect, "*").is_good);
  EXPECT_TRUE(split(Method::Connect, "a:1").is_good);
  EXPECT_FALSE(split(Method::Connect, "a").is_good);
  EXPECT_FALSE(split(Method::Connect, ":1").is_good);
  EXPECT_FALSE(split(Method::Connect, "u@a:1").is_good);
  EXPECT_FALSE(split(Method::Get, "a:1").is_good);
  EXPECT_FALSE(split(Method::Get, "").is_good);
  EXPECT_FALSE(split(Method::Get, "x").is_good);
  const Split absolute = split(Method::Get, "HTTP://h:1/p/q?r");
  EXPECT_TRUE(absolute.is_good);
  EXPECT_EQ(absolute.form, TargetForm::Absolute);
  EXPECT_EQ(absolute.authority, "h:1");
  EXPECT_EQ(absolute.path, "/p/q");
  EXPECT_EQ(absolute.query, "r");
  for (const char* bad : {"http:/h/", "http:h", "//", "http://", "http:///", "http://?q", "ftp://h/", "://h/",
                          "http://h:x/", "http://u:p@h/", "http://[/", "javascript:x"}) {
    const Split result = split(Method::Get, bad);
    EXPECT_TRUE(!result.is_good || result.form == TargetForm::Origin) << bad;
  }
}

TEST(Authority, KnowsHostsAndPorts) {
  for (const char* good : {"a", "A-b.c", "1.2.3.4", "a:0", "a:80", "a:65535", "a:", "[::1]", "[::1]:80", "[v1.x]",
                           "%41", "a_b", "a~b", "a!$&'()*+;=b"}) {
    EXPECT_TRUE(is_authority(good, false)) << good;
  }
  for (const char* bad : {"",    " ",    "a b",  "a/b",     "a?b",     "a#b",      "a@b",          "a,b", ":",
                          ":80", "a:b",  "a:-1", "a:65536", "a:99999", "a:000080", "a:1:2",        "[",   "]",
                          "[]",  "[::1", "::1]", "[::1]a",  "[::1]:",  "[g::1]",   "[::1%25eth0]", "a[b", "a]b",
                          "%",   "%4",   "%4g",  "a\\b",    "\"a\"",   "<a>",      "a\x80"}) {
    if (std::string_view(bad) == "[::1]:") continue;  // an empty port is legal (RFC 3986 §3.2.3)
    EXPECT_FALSE(is_authority(bad, false)) << bad;
  }
  EXPECT_TRUE(is_authority("", true));
  EXPECT_TRUE(is_authority("[::1]:", false));
}

TEST(Decode, DecodesOnce) {
  Arena arena;
  EXPECT_EQ(decode("plain", arena), "plain");
  EXPECT_EQ(decode("", arena), "");
  EXPECT_EQ(decode("a%20b", arena), "a b");
  EXPECT_EQ(decode("%2F%2f%00", arena), std::string_view("//\0", 3));
  EXPECT_EQ(decode("%252e", arena), "%2e");
  EXPECT_EQ(decode("a+b", arena), "a+b");
  EXPECT_EQ(decode("a+b%2B", arena, true), "a b+");
  for (const char* bad : {"%", "%2", "%g0", "%0g", "a%", "a%2", "%%20", "%-1", "% 1", "%+1"}) {
    EXPECT_FALSE(decode(bad, arena)) << bad;
  }
  const std::string_view text = "untouched";
  EXPECT_EQ(decode(text, arena)->data(), text.data()) << "nothing to decode, nothing copied";
}

TEST(Decode, IsTheInverseOfEncode) {
  std::mt19937 random(2);
  Arena arena;
  for (int i = 0; i < 5000; ++i) {
    std::string text(random() % 50, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const std::string_view encoded = encode(text, arena);
    for (char c : encoded) {
      EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) || c == '%' || c == '-' || c == '.' || c == '_' ||
                  c == '~');
    }
    EXPECT_EQ(decode(encoded, arena), text);
    EXPECT_EQ(decode(encoded, arena, true), text);
    arena.reset();
  }
}

}  // namespace
}  // namespace violet::http
