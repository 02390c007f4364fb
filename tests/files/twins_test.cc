// Files that lie there compressed: which one is sent, and that none is sent that holds something else.

#include "tests/files/serving.h"
#include "violet/features/files/disk/version.h"

#include <chrono>
#include <thread>

namespace violet::files {
namespace {

constexpr std::int64_t kTime = 1'700'000'000;

class Twins : public Serving {
 protected:
  void SetUp() override {
    for (const char* name : {"a.js", "a.js.br", "a.js.gz", "a.js.zst"}) {
      tree.write(name, name);
      tree.set_time(name, kTime);
    }
    tree.write("plain.js", "plain");
    mount();
  }
  std::string chosen(std::string_view accept, std::string_view path = "/static/a.js") {
    const TestReply reply = get(path, {{"Accept-Encoding", std::string(accept)}});
    if (reply.status() != 200) return std::to_string(reply.status());
    const std::string coding(reply.header("Content-Encoding"));
    const std::string ending = coding == "br" ? ".br" : coding == "gzip" ? ".gz" : coding == "zstd" ? ".zst" : "";
    EXPECT_EQ(reply.text(), "a.js" + ending);
    EXPECT_EQ(reply.header("Content-Type"), "text/javascript; charset=utf-8");
    EXPECT_EQ(reply.header("Vary"), "Accept-Encoding");
    return coding.empty() ? "identity" : coding;
  }
};

// ST-D11
TEST_F(Twins, AreChosenByWeightAndThenByOrder) {
  EXPECT_EQ(chosen("br, gzip"), "br");
  EXPECT_EQ(chosen("gzip, br, zstd"), "zstd");
  EXPECT_EQ(chosen("br;q=0.5, gzip;q=0.8"), "gzip");
  EXPECT_EQ(chosen("br;q=1, gzip;q=0.8"), "br");
  EXPECT_EQ(chosen("gzip;q=0"), "identity");
  EXPECT_EQ(chosen("deflate"), "identity");
  EXPECT_EQ(chosen("gzip;q=0.5, identity"), "identity");
  EXPECT_EQ(chosen("*"), "zstd");
  EXPECT_EQ(chosen("identity;q=0, gzip;q=0.1"), "gzip");
  EXPECT_EQ(chosen(""), "identity");
  const TestReply plain = get("/static/a.js");
  EXPECT_EQ(plain.text(), "a.js");
  EXPECT_EQ(plain.header("Vary"), "Accept-Encoding");
  EXPECT_EQ(get("/static/plain.js", {{"Accept-Encoding", "br"}}).header("Vary"), "");
}

TEST_F(Twins, NothingAcceptableIs406) {
  for (const char* path : {"/static/a.js", "/static/plain.js"}) {
    const TestReply reply = get(path, {{"Accept-Encoding", "*;q=0"}});
    EXPECT_EQ(reply.status(), 406);
    EXPECT_EQ(reply.header("Vary"), "Accept-Encoding");
  }
  EXPECT_EQ(chosen("identity;q=0"), "406");
  EXPECT_EQ(get("/static/plain.js", {{"Accept-Encoding", "identity;q=0, br"}}).status(), 406);
  EXPECT_EQ(get("/static/none.js", {{"Accept-Encoding", "*;q=0"}}).status(), 404);
}

TEST_F(Twins, TheOrderCanBeSet) {
  app.files("/other", tree.path(), {.twins = {http::Coding::Gzip, http::Coding::Brotli}});
  app.files("/none", tree.path(), {.twins = {}});
  EXPECT_EQ(chosen("gzip, br, zstd", "/other/a.js"), "gzip");
  EXPECT_EQ(chosen("br, zstd", "/other/a.js"), "br");
  const TestReply reply = get("/none/a.js", {{"Accept-Encoding", "br"}});
  EXPECT_EQ(reply.text(), "a.js");
  EXPECT_EQ(reply.header("Vary"), "");
}

TEST_F(Twins, HaveATagOfTheirOwn) {
  const TestReply plain = get("/static/a.js");
  const TestReply twin = get("/static/a.js", {{"Accept-Encoding", "br"}});
  EXPECT_NE(plain.header("ETag"), twin.header("ETag"));
  const std::string plain_tag(plain.header("ETag"));
  const std::string twin_tag(twin.header("ETag"));
  EXPECT_EQ(get("/static/a.js", {{"Accept-Encoding", "br"}, {"If-None-Match", twin_tag}}).status(), 304);
  EXPECT_EQ(get("/static/a.js", {{"Accept-Encoding", "br"}, {"If-None-Match", plain_tag}}).status(), 200);
  EXPECT_EQ(get("/static/a.js", {{"If-None-Match", twin_tag}}).status(), 200);
  // Also where two twins are one file: their bytes mean different things.
  tree.remove("a.js.gz");
  ASSERT_EQ(::link(tree.path("a.js.br").c_str(), tree.path("a.js.gz").c_str()), 0);
  EXPECT_NE(get("/static/a.js", {{"Accept-Encoding", "gzip"}}).header("ETag"),
            get("/static/a.js", {{"Accept-Encoding", "br"}}).header("ETag"));
}

TEST_F(Twins, RangesAreThoseOfTheChosenForm) {
  const std::string plain_tag(get("/static/a.js").header("ETag"));
  const std::string twin_tag(get("/static/a.js", {{"Accept-Encoding", "br"}}).header("ETag"));
  const Lines br = {{"Accept-Encoding", "br"}, {"Range", "bytes=5-"}};
  const TestReply twin = get("/static/a.js", br);
  EXPECT_EQ(twin.status(), 206);
  EXPECT_EQ(twin.text(), "br");
  EXPECT_EQ(twin.header("Content-Range"), "bytes 5-6/7");
  EXPECT_EQ(twin.header("Content-Encoding"), "br");
  EXPECT_EQ(twin.header("ETag"), twin_tag);
  const TestReply plain = get("/static/a.js", {{"Range", "bytes=2-"}});
  EXPECT_EQ(plain.header("Content-Range"), "bytes 2-3/4");
  EXPECT_EQ(plain.header("Content-Encoding"), "");
  // A part of one form is never joined with the rest of another.
  EXPECT_EQ(get("/static/a.js", {br[0], br[1], {"If-Range", plain_tag}}).text(), "a.js.br");
  EXPECT_EQ(get("/static/a.js", {br[0], br[1], {"If-Range", twin_tag}}).text(), "br");
}

TEST_F(Twins, OlderOnesAreNotSent) {
  EXPECT_EQ(chosen("br, gzip"), "br");
  tree.set_time("a.js.br", kTime, 1);
  tree.set_time("a.js", kTime + 1, 1);
  const Lines all = {{"Accept-Encoding", "br, gzip, zstd"}};
  EXPECT_EQ(get("/static/a.js", all).text(), "a.js");
  tree.set_time("a.js.gz", kTime + 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // new twins are looked for once a second
  EXPECT_EQ(get("/static/a.js", all).text(), "a.js.gz");
}

// As brotli makes them.
TEST_F(Twins, TimesCutToWholeSecondsAreAsNewAsTheirFiles) {
  tree.set_time("a.js", kTime, 999'999'999);
  EXPECT_EQ(chosen("br"), "br");
  EXPECT_EQ(chosen("gzip"), "gzip");
  tree.set_time("a.js", kTime + 1);
  EXPECT_EQ(text("/static/a.js", {{"Accept-Encoding", "br"}}), "a.js");
  tree.set_time("a.js.gz", kTime + 1, 499'999'999);
  tree.set_time("a.js", kTime + 1, 500'000'000);
  EXPECT_EQ(text("/static/a.js", {{"Accept-Encoding", "gzip"}}), "a.js") << "not cut, and older";
}

TEST(TwinVersions, ACutTimeHidesNoFileThatWasWrittenLater) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const Version file{.modified_ns = kTime * kSecond + 500, .changed_ns = kTime * kSecond + 500};
  Version twin{.modified_ns = kTime * kSecond, .changed_ns = kTime * kSecond + 700};
  EXPECT_TRUE(is_made_after(twin, file));
  Version later = file;
  later.modified_ns = later.changed_ns = kTime * kSecond + 900;
  EXPECT_FALSE(is_made_after(twin, later));
  twin.modified_ns -= kSecond;
  EXPECT_FALSE(is_made_after(twin, file));
}

TEST_F(Twins, FollowTheDisk) {
  EXPECT_EQ(chosen("br"), "br");
  EXPECT_EQ(chosen("gzip"), "gzip");
  tree.replace("a.js.br", "a.js.BR");
  EXPECT_EQ(text("/static/a.js", {{"Accept-Encoding", "br"}}), "a.js.BR");
  tree.remove("a.js.br");
  EXPECT_EQ(text("/static/a.js", {{"Accept-Encoding", "br"}}), "a.js");
  tree.remove("a.js.gz");
  tree.folder("a.js.gz");
  EXPECT_EQ(text("/static/a.js", {{"Accept-Encoding", "gzip"}}), "a.js");
  // The file is another one: what its twins hold is not it.
  tree.replace("a.js", "A.JS");
  EXPECT_EQ(text("/static/a.js", {{"Accept-Encoding", "zstd"}}), "A.JS");
}

TEST_F(Twins, AreFilesOfTheirOwnToo) {
  const TestReply reply = get("/static/a.js.gz", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(reply.text(), "a.js.gz");
  EXPECT_EQ(reply.header("Content-Type"), "application/gzip");
  EXPECT_EQ(reply.header("Content-Encoding"), "");
}

TEST_F(Twins, OfAnIndexAndOfThePageOfA404) {
  tree.write("index.html", "index");
  tree.write("index.html.br", "index br");
  app.files("/other", tree.path(), {.not_found = "index.html"});
  EXPECT_EQ(text("/other/", {{"Accept-Encoding", "br"}}), "index br");
  const TestReply reply = get("/other/none", {{"Accept-Encoding", "br"}});
  EXPECT_EQ(reply.status(), 404);
  EXPECT_EQ(reply.text(), "index br");
  EXPECT_EQ(reply.header("Content-Encoding"), "br");
}

TEST_F(Twins, ALinkedTwinLeadsNowhere) {
  Tree outside;
  outside.write("secret", "secret");
  tree.remove("a.js.br");
  tree.link("a.js.br", outside.path("secret"));
  EXPECT_EQ(text("/static/a.js", {{"Accept-Encoding", "br"}}), "a.js");
}

// A middleware that encodes may still do what no twin does.
struct Encoder {
  void on_reply(Exchange&, http::Head& head, Body&) const { head.fields.push(http::FieldId::ContentEncoding, "gzip"); }
};
TEST_F(Twins, WhatStandsBehindMayStillEncode) {
  app.use(Encoder{});
  const TestReply reply = get("/static/plain.js", {{"Accept-Encoding", "identity;q=0, gzip"}});
  EXPECT_EQ(reply.status(), 200);
  EXPECT_EQ(reply.header("Content-Encoding"), "gzip");
}

}  // namespace
}  // namespace violet::files
