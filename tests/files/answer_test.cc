// The answers for a file: fields, conditions, ranges, folders.

#include "tests/files/serving.h"
#include "violet/features/files/disk/version.h"
#include "violet/http/date.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <set>
#include <thread>

namespace violet::files {
namespace {

constexpr std::int64_t kTime = 784'111'777;  // Sun, 06 Nov 1994 08:49:37 GMT
constexpr std::string_view kDate = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view kText = "0123456789abcdefghij";

class Answers : public Serving {
 protected:
  // A file in memory, and the same one sent from its descriptor.
  void SetUp() override {
    tree.write("a.txt", kText);
    tree.write("empty.txt", "");
    tree.set_time("a.txt", kTime);
    mount();
    app.files("/large", tree.path(), {.cached_file_bytes = 0});
  }
};

// ST-D01
TEST_F(Answers, GetAndHeadSayTheSame) {
  for (const std::string path : {"/static/a.txt", "/large/a.txt"}) {
    for (int round = 0; round < 2; ++round) {
      const TestReply got = get(path);
      EXPECT_EQ(got.status(), 200);
      EXPECT_EQ(got.text(), kText);
      EXPECT_EQ(got.header("Content-Length"), "20");
      EXPECT_EQ(got.header("Content-Type"), "text/plain; charset=utf-8");
      EXPECT_EQ(got.header("Accept-Ranges"), "bytes");
      EXPECT_EQ(got.header("Last-Modified"), kDate);
      const std::string_view etag = got.header("ETag");
      EXPECT_TRUE(etag.size() > 10 && etag.starts_with('"') && etag.ends_with('"')) << etag;
      EXPECT_FALSE(got.header("Date").empty());
      const TestReply asked = head(path);
      EXPECT_EQ(asked.status(), 200);
      EXPECT_EQ(asked.text(), "");
      for (const char* name : {"Content-Length", "Content-Type", "Accept-Ranges", "ETag", "Last-Modified"}) {
        EXPECT_EQ(asked.header(name), got.header(name)) << name;
      }
    }
  }
  EXPECT_EQ(get("/static/a.txt").header("ETag"), get("/large/a.txt").header("ETag"));
  EXPECT_EQ(get("/static/empty.txt").header("Content-Length"), "0");
  EXPECT_EQ(get("/large/empty.txt").status(), 200);
  EXPECT_EQ(head("/large/empty.txt").header("Content-Length"), "0");
}

// RFC 9110 §8.8.2.1
TEST_F(Answers, NothingWasChangedAfterItWasSent) {
  const std::int64_t now = std::time(nullptr);
  tree.set_time("a.txt", now + 86'400);
  for (const char* path : {"/static/a.txt", "/large/a.txt"}) {
    const TestReply reply = get(path);
    const auto changed = http::parse_date(reply.header("Last-Modified"), now);
    const auto sent = http::parse_date(reply.header("Date"), now);
    ASSERT_TRUE(changed && sent);
    EXPECT_LE(*changed, *sent);
    EXPECT_GE(*changed, now - 1);
    EXPECT_EQ(get(path, {{"If-Modified-Since", std::string(reply.header("Last-Modified"))}}).status(), 304);
  }
}

// ST-D02
TEST_F(Answers, IfNoneMatch) {
  for (const std::string path : {"/static/a.txt", "/large/a.txt"}) {
    const std::string etag(get(path).header("ETag"));
    for (const std::string& list :
         {etag, "\"x\", " + etag, etag + ",\"x\"", "W/" + etag, std::string("*"), "\"a,b\" ,, \"c\\\"\t," + etag}) {
      for (const http::Method method : {http::Method::Get, http::Method::Head}) {
        const TestReply reply = ask(method, path, {{"If-None-Match", list}});
        EXPECT_EQ(reply.status(), 304) << list;
        EXPECT_EQ(reply.text(), "");
        EXPECT_EQ(reply.header("ETag"), etag);
        EXPECT_EQ(reply.header("Content-Type"), "");
      }
    }
    for (const std::string& list : {std::string("\"x\""), std::string(""), etag.substr(1, etag.size() - 2),
                                    std::string("\"x"), "x, " + etag, etag.substr(0, etag.size() - 1)}) {
      EXPECT_EQ(get(path, {{"If-None-Match", list}}).status(), 200) << list;
    }
    EXPECT_EQ(get(path, {{"If-None-Match", "\"x\""}, {"If-None-Match", etag}}).status(), 304);
  }
}

TEST_F(Answers, NotModifiedRepeatsWhatACacheGoesBy) {
  tree.write("b.css", "b");
  tree.write("b.css.gz", "zipped");
  app.files("/more", tree.path(), {.cache_control = {{"*.css", "max-age=60"}}});
  const TestReply full = get("/more/b.css", {{"Accept-Encoding", "gzip"}});
  ASSERT_EQ(full.header("Content-Encoding"), "gzip");
  const TestReply reply =
      get("/more/b.css", {{"Accept-Encoding", "gzip"}, {"If-None-Match", std::string(full.header("ETag"))}});
  EXPECT_EQ(reply.status(), 304);
  EXPECT_EQ(reply.header("ETag"), full.header("ETag"));
  EXPECT_EQ(reply.header("Vary"), "Accept-Encoding");
  EXPECT_EQ(reply.header("Cache-Control"), "max-age=60");
}

// ST-D03, in every time zone and form
TEST_F(Answers, IfModifiedSince) {
  const std::string before = ::getenv("TZ") != nullptr ? ::getenv("TZ") : "";
  for (const char* zone : {"UTC", "America/New_York", "Asia/Kolkata", "Pacific/Kiritimati", "CET-1CEST"}) {
    ::setenv("TZ", zone, 1);
    ::tzset();
    for (const char* same :
         {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
          "Sun, 06 Nov 1994 08:49:38 GMT", "Sunday, 06-Nov-94 09:00:00 GMT", "Mon Nov  7 00:00:00 1994"}) {
      EXPECT_EQ(get("/static/a.txt", {{"If-Modified-Since", same}}).status(), 304) << zone << " " << same;
    }
    for (const char* earlier :
         {"Sun, 06 Nov 1994 08:49:36 GMT", "Sunday, 06-Nov-94 08:49:36 GMT", "Sun Nov  6 08:49:36 1994"}) {
      EXPECT_EQ(get("/static/a.txt", {{"If-Modified-Since", earlier}}).status(), 200) << zone << " " << earlier;
    }
  }
  before.empty() ? ::unsetenv("TZ") : ::setenv("TZ", before.c_str(), 1);
  ::tzset();
  for (const char* wrong :
       {"", "yesterday", "784111777", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET"}) {
    EXPECT_EQ(get("/static/a.txt", {{"If-Modified-Since", wrong}}).status(), 200) << wrong;
  }
  const std::string date(kDate);
  EXPECT_EQ(get("/static/a.txt", {{"If-Modified-Since", date}, {"If-None-Match", "\"x\""}}).status(), 200);
  EXPECT_EQ(head("/static/a.txt", {{"If-Modified-Since", date}}).status(), 304);
}

TEST_F(Answers, IfMatchAndIfUnmodifiedSince) {
  const std::string etag(get("/static/a.txt").header("ETag"));
  const std::string date(kDate);
  EXPECT_EQ(get("/static/a.txt", {{"If-Match", etag}}).status(), 200);
  EXPECT_EQ(get("/static/a.txt", {{"If-Match", "*"}}).status(), 200);
  EXPECT_EQ(get("/static/a.txt", {{"If-Match", "\"x\", " + etag}}).status(), 200);
  EXPECT_EQ(get("/static/a.txt", {{"If-Match", "\"x\""}}).status(), 412);
  EXPECT_EQ(get("/static/a.txt", {{"If-Match", "W/" + etag}}).status(), 412);
  EXPECT_EQ(get("/static/a.txt", {{"If-Unmodified-Since", date}}).status(), 200);
  EXPECT_EQ(get("/static/a.txt", {{"If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:36 GMT"}}).status(), 412);
  EXPECT_EQ(get("/static/a.txt", {{"If-Unmodified-Since", "rubbish"}}).status(), 200);
  // The order of RFC 9110 §13.2.2: If-Match goes before If-Unmodified-Since, and both before the others.
  EXPECT_EQ(
      get("/static/a.txt", {{"If-Match", etag}, {"If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:36 GMT"}}).status(),
      200);
  EXPECT_EQ(get("/static/a.txt", {{"If-Match", "\"x\""}, {"If-None-Match", etag}}).status(), 412);
  EXPECT_EQ(get("/static/a.txt", {{"If-Match", etag}, {"If-None-Match", etag}}).status(), 304);
  EXPECT_EQ(get("/static/a.txt", {{"If-None-Match", etag}, {"Range", "bytes=0-1"}}).status(), 304);
  EXPECT_EQ(get("/static/none.txt", {{"If-Match", "*"}}).status(), 404);
  EXPECT_EQ(get("/static/none.txt", {{"If-None-Match", "*"}}).status(), 404);
}

// ST-D04
TEST_F(Answers, OneRange) {
  struct Case {
    const char* range;
    const char* content_range;
    std::string_view text;
  };
  for (const std::string path : {"/static/a.txt", "/large/a.txt"}) {
    for (const Case& each :
         {Case{"bytes=0-0", "bytes 0-0/20", "0"}, Case{"bytes=-1", "bytes 19-19/20", "j"},
          Case{"bytes=5-", "bytes 5-19/20", kText.substr(5)}, Case{"bytes=0-999999999", "bytes 0-19/20", kText},
          Case{"bytes=-999", "bytes 0-19/20", kText}, Case{"bytes=2-4", "bytes 2-4/20", "234"},
          Case{"Bytes=19-99999999999999999999999", "bytes 19-19/20", "j"}, Case{"bytes=2-4,", "bytes 2-4/20", "234"},
          Case{"bytes=2-4, 100-200", "bytes 2-4/20", "234"}}) {
      const TestReply reply = get(path, {{"Range", each.range}});
      EXPECT_EQ(reply.status(), 206) << each.range;
      EXPECT_EQ(reply.header("Content-Range"), each.content_range) << each.range;
      EXPECT_EQ(reply.text(), each.text) << each.range;
      EXPECT_EQ(reply.header("Content-Length"), std::to_string(each.text.size()));
      EXPECT_EQ(reply.header("ETag"), get(path).header("ETag"));
      EXPECT_EQ(reply.header("Content-Type"), "text/plain; charset=utf-8");
    }
    for (const char* beyond :
         {"bytes=20-", "bytes=20-30", "bytes=-0", "bytes=99999999999999999999-", "bytes=20-,30-40"}) {
      const TestReply reply = get(path, {{"Range", beyond}});
      EXPECT_EQ(reply.status(), 416) << beyond;
      EXPECT_EQ(reply.header("Content-Range"), "bytes */20") << beyond;
    }
    // ST-D05
    for (const char* ignored :
         {"bytes=5-2", "bytes=abc", "items=0-1", "bytes=", "bytes", "bytes=-", "bytes=1-2-3", "bytes=0x1-2",
          "bytes=+1-2", "bytes=1 - 2", "bytes=,", "bytes=0-1,a", "bytes=0-1;2-3", "bytes=--1", "=0-1"}) {
      const TestReply reply = get(path, {{"Range", ignored}});
      EXPECT_EQ(reply.status(), 200) << ignored;
      EXPECT_EQ(reply.text(), kText);
    }
  }
  EXPECT_EQ(head("/static/a.txt", {{"Range", "bytes=0-0"}}).status(), 200);
  for (const std::string path : {"/static/empty.txt", "/large/empty.txt"}) {
    for (const char* range : {"bytes=0-", "bytes=-5", "bytes=0-0"})
      EXPECT_EQ(get(path, {{"Range", range}}).status(), 200);
  }
}

// ST-D06
TEST_F(Answers, SeveralRanges) {
  std::string large;
  for (int i = 0; i < 1000; ++i) large += static_cast<char>('a' + i % 26);
  tree.write("b.txt", large);
  for (const std::string path : {"/static/b.txt", "/large/b.txt"}) {
    const TestReply reply = get(path, {{"Range", "bytes=500-509, 0-1,900-"}});
    EXPECT_EQ(reply.status(), 206);
    const std::string_view type = reply.header("Content-Type");
    ASSERT_TRUE(type.starts_with("multipart/byteranges; boundary=")) << type;
    const std::string boundary(type.substr(type.rfind('=') + 1));
    EXPECT_EQ(reply.header("Content-Range"), "");
    const std::string part = "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Range: bytes ";
    EXPECT_EQ(reply.text(), "--" + boundary + part + "500-509/1000\r\n\r\n" + large.substr(500, 10) + "\r\n--" +
                                boundary + part + "0-1/1000\r\n\r\n" + large.substr(0, 2) + "\r\n--" + boundary + part +
                                "900-999/1000\r\n\r\n" + large.substr(900) + "\r\n--" + boundary + "--\r\n");
    EXPECT_EQ(reply.header("Content-Length"), std::to_string(reply.text().size()));
    EXPECT_NE(get(path, {{"Range", "bytes=500-509, 0-1"}}).header("Content-Type"), type);
    // Joined: they overlap, touch, or nearly touch.
    for (const char* joined :
         {"bytes=0-10,5-20", "bytes=0-10,11-20", "bytes=11-20,0-10", "bytes=0-5,12-20", "bytes=0-2,18-20,3-17"}) {
      const TestReply one = get(path, {{"Range", joined}});
      EXPECT_EQ(one.header("Content-Range"), "bytes 0-20/1000") << joined;
      EXPECT_EQ(one.text(), large.substr(0, 21)) << joined;
    }
    // More than range_count_max: the whole.
    std::string many = "bytes=";
    for (int i = 0; i < 17; ++i) many += std::to_string(i * 50) + "-" + std::to_string(i * 50) + ",";
    EXPECT_EQ(get(path, {{"Range", many}}).status(), 200);
  }
}

// ST-D07
TEST_F(Answers, IfRange) {
  for (const std::string path : {"/static/a.txt", "/large/a.txt"}) {
    const std::string etag(get(path).header("ETag"));
    const auto status = [&](const std::string& condition) {
      return get(path, {{"Range", "bytes=0-1"}, {"If-Range", condition}}).status();
    };
    EXPECT_EQ(status(etag), 206);
    EXPECT_EQ(status(std::string(kDate)), 206);
    for (const std::string& other : {"W/" + etag, std::string("\"x\""), std::string("Sun, 06 Nov 1994 08:49:36 GMT"),
                                     std::string("Sun, 06 Nov 1994 08:49:38 GMT"), std::string("rubbish"),
                                     std::string("*"), etag + ", \"x\"", std::string("")}) {
      EXPECT_EQ(status(other), 200) << other;
    }
    EXPECT_EQ(get(path, {{"If-Range", "\"x\""}}).status(), 200);
    // Beyond the end of another file than the client thinks of: the whole one.
    EXPECT_EQ(get(path, {{"Range", "bytes=500-"}, {"If-Range", "\"x\""}}).status(), 200);
  }
}

// ST-D10
TEST_F(Answers, AFolderIsRedirectedToItsSlash) {
  tree.write("dir/index.html", "<p>index</p>");
  tree.write("with space/index.html", "x");
  app.files("/", tree.path());
  const TestReply reply = get("/static/dir?a=1&b=/x");
  EXPECT_EQ(reply.status(), 301);
  EXPECT_EQ(reply.header("Location"), "/static/dir/?a=1&b=/x");
  EXPECT_EQ(get("/static").header("Location"), "/static/");
  EXPECT_EQ(get("/static?x").header("Location"), "/static/?x");
  EXPECT_EQ(get("/static/with%20space").header("Location"), "/static/with%20space/");
  EXPECT_EQ(text("/static/dir/"), "<p>index</p>");
  EXPECT_EQ(get("/static/dir/").header("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(get("/dir").header("Location"), "/dir/");
  for (const char* path :
       {"//evil.example/%2e%2e", "//evil.example/..", "//dir", "/%2fevil.example/%2e%2e", "/\\evil.example", "//"}) {
    const TestReply other = get(path);
    EXPECT_EQ(other.header("Location"), "") << path;
    EXPECT_EQ(other.status(), 404) << path;
  }
}

TEST_F(Answers, AnIndexIsLookedForInOrder) {
  tree.write("dir/home.htm", "home");
  app.files("/more", tree.path(), {.index = {"index.html", "home.htm"}});
  EXPECT_EQ(text("/more/dir/"), "home");
  EXPECT_EQ(text("/static/dir/"), "404");
  tree.write("dir/index.html", "index");
  EXPECT_EQ(text("/static/dir/"), "index");
}

TEST_F(Answers, TypesCacheControlAndDownloadsByPattern) {
  tree.write("x.wasm", "w");
  tree.write("y.foo", "f");
  tree.write("Makefile", "m");
  tree.write("assets/app.3f9a1c07.js", "j");
  tree.write("assets/app.js", "j");
  tree.write("files/r\xc3\xa9sum\xc3\xa9 \"1\".pdf", "p");
  app.files("/more", tree.path(),
            {.media_types = {{"*.foo", "text/x-foo"}},
             .cache_control = {{"assets/*", "max-age=3600"}, {"*", "no-cache"}},
             .immutable_hashed = true,
             .download = {"*.pdf"}});
  EXPECT_EQ(get("/more/x.wasm").header("Content-Type"), "application/wasm");
  EXPECT_EQ(get("/more/y.foo").header("Content-Type"), "text/x-foo");
  EXPECT_EQ(get("/more/Makefile").header("Content-Type"), "application/octet-stream");
  EXPECT_EQ(get("/more/assets/app.js").header("Cache-Control"), "max-age=3600");
  EXPECT_EQ(get("/more/assets/app.3f9a1c07.js").header("Cache-Control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(get("/more/a.txt").header("Cache-Control"), "no-cache");
  EXPECT_EQ(get("/static/a.txt").header("Cache-Control"), "");
  EXPECT_EQ(get("/more/files/r%C3%A9sum%C3%A9%20%221%22.pdf").header("Content-Disposition"),
            "attachment; filename=\"r__sum__ _1_.pdf\"; filename*=UTF-8''r%C3%A9sum%C3%A9%20%221%22.pdf");
  EXPECT_EQ(get("/more/a.txt").header("Content-Disposition"), "");
}

TEST_F(Answers, TheSpaIsForNavigationAlone) {
  tree.write("index.html", "<p>app</p>");
  app.files("/spa", tree.path(), {.spa = "index.html"});
  const Lines html = {{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}};
  const TestReply reply = get("/spa/users/7", html);
  EXPECT_EQ(reply.status(), 200);
  EXPECT_EQ(reply.text(), "<p>app</p>");
  EXPECT_EQ(reply.header("Vary"), "Accept, Sec-Fetch-Mode");
  EXPECT_EQ(get("/spa/users/7", {{"Sec-Fetch-Mode", "navigate"}}).status(), 200);
  EXPECT_EQ(get("/spa/users/7", {{"If-None-Match", std::string(reply.header("ETag"))}, html[0]}).status(), 304);
  EXPECT_EQ(text("/spa/a.txt", html), kText);
  EXPECT_EQ(get("/spa/users/7").header("Vary"), reply.header("Vary"));
  EXPECT_EQ(get("/spa/app.js").header("Vary"), "");
  // What tries paths out, loads parts of a page, or asks for data.
  EXPECT_EQ(get("/spa/users/7").status(), 404);
  EXPECT_EQ(get("/spa/users/7", {{"Accept", "*/*"}}).status(), 404);
  EXPECT_EQ(get("/spa/users/7", {{"Accept", "text/html;q=0"}}).status(), 404);
  EXPECT_EQ(get("/spa/users/7", {{"Accept", "application/json"}}).status(), 404);
  EXPECT_EQ(get("/spa/users/7", {{"Sec-Fetch-Mode", "cors"}, html[0]}).status(), 404);
  for (const char* probe : {"/spa/wp-login.php", "/spa/.env", "/spa/.git/config", "/spa/app.js", "/spa/../a",
                            "/spa/a//b", "/spa/x\\y", "/spa/%00", "/spa/.git"}) {
    EXPECT_EQ(get(probe, html).status(), 404) << probe;
  }
}

TEST_F(Answers, ANotFoundPageOfItsOwn) {
  tree.write("404.html", "<p>not here</p>");
  app.files("/more", tree.path(), {.not_found = "404.html"});
  app.files("/lost", tree.path(), {.not_found = "lost.html"});
  const TestReply reply = get("/more/none", {{"Range", "bytes=0-1"}, {"If-None-Match", "*"}});
  EXPECT_EQ(reply.status(), 404);
  EXPECT_EQ(reply.text(), "<p>not here</p>");
  EXPECT_EQ(reply.header("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(reply.header("ETag"), "");
  EXPECT_EQ(get("/more/../x").text(), "<p>not here</p>");
  EXPECT_EQ(head("/more/none").status(), 404);
  EXPECT_EQ(get("/lost/none").status(), 404);
}

TEST_F(Answers, TwoMountsAndAGroupKeepApart) {
  Tree other;
  other.write("a.txt", "other");
  app.files("/static/deep", other.path());
  EXPECT_EQ(text("/static/deep/a.txt"), "other");
  EXPECT_EQ(text("/static/a.txt"), kText);
}

}  // namespace
}  // namespace violet::files
