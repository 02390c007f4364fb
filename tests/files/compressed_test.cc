// Files behind middleware that encodes them: what is said of the whole holds for its parts, for HEAD and for 304.

#include "tests/files/serving.h"
#include "violet/features/compress/compress.h"

namespace violet::files {
namespace {

class Compressed : public Serving {
 protected:
  // In memory, and sent from its descriptor.
  void SetUp() override {
    for (int i = 0; i < 1000; ++i) whole += "hello world, this is text. ";
    tree.write("b.txt", whole);
    tree.write("small.txt", "small");
    Group group = app.group("/z");
    group.use(compress);
    cached = serve_files(group, "/cached", tree.path());
    large = serve_files(group, "/large", tree.path(), {.cached_file_bytes = 1000});
  }

  std::string whole;
  std::unique_ptr<Files> cached;
  std::unique_ptr<Files> large;
  const std::vector<std::string> targets = {"/z/cached/b.txt", "/z/large/b.txt", "/z/cached/small.txt"};
};

// RFC 9110 §15.4.5
TEST_F(Compressed, ANotModifiedSaysWhatTheWholeWould) {
  for (const std::string& target : targets) {
    for (const std::string accept : {"gzip", "br", "", "identity", "identity;q=0, gzip"}) {
      const TestReply full = get(target, {{"Accept-Encoding", accept}});
      ASSERT_EQ(full.status(), 200) << target << " " << accept;
      const std::string tag(full.header("ETag"));
      // Whoever has another form has the same content.
      for (const std::string& known : {tag, tag.starts_with("W/") ? tag.substr(2) : "W/" + tag}) {
        const TestReply reply = get(target, {{"Accept-Encoding", accept}, {"If-None-Match", known}});
        EXPECT_EQ(reply.status(), 304) << target << " " << accept;
        EXPECT_EQ(reply.header("ETag"), tag) << target << " " << accept;
        EXPECT_EQ(reply.header("Vary"), full.header("Vary")) << target << " " << accept;
      }
    }
  }
}

// RFC 9110 §15.3.7
TEST_F(Compressed, PartsAreThoseOfTheFileAndVaryAsItDoes) {
  for (const std::string& target : targets) {
    const std::string tag(get(target).header("ETag"));
    for (const std::string accept : {"gzip", ""}) {
      const TestReply reply = get(target, {{"Accept-Encoding", accept}, {"Range", "bytes=1-3"}});
      EXPECT_EQ(reply.status(), 206);
      EXPECT_EQ(reply.text(), target.contains("small") ? "mal" : "ell");
      EXPECT_EQ(reply.header("Content-Encoding"), "");
      EXPECT_EQ(reply.header("ETag"), tag);
      EXPECT_EQ(reply.header("Vary"), get(target, {{"Accept-Encoding", accept}}).header("Vary")) << target << accept;
    }
  }
}

// RFC 9110 §9.3.2
TEST_F(Compressed, HeadSaysWhatGetDoes) {
  for (const std::string& target : targets) {
    for (const std::string accept : {"gzip", "br", "", "identity;q=0", "*;q=0", "identity;q=0, gzip"}) {
      const TestReply got = get(target, {{"Accept-Encoding", accept}});
      const TestReply asked = head(target, {{"Accept-Encoding", accept}});
      EXPECT_EQ(asked.status(), got.status()) << target << " " << accept;
      for (const char* name : {"ETag", "Vary", "Content-Encoding", "Accept-Ranges", "Content-Type", "Last-Modified"}) {
        EXPECT_EQ(asked.header(name), got.header(name)) << target << " " << accept << " " << name;
      }
    }
  }
}

TEST_F(Compressed, FilesLargerThanTheCacheArriveWhole) {
  const TestReply reply = get("/z/large/b.txt", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(reply.header("Content-Encoding"), "gzip");
  EXPECT_LT(reply.text().size(), whole.size() / 4);
  EXPECT_EQ(get("/z/large/b.txt").text(), whole);
}

}  // namespace
}  // namespace violet::files
