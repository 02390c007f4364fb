// Nothing but what lies below the root is ever sent. Each test runs twice: with the kernel resolving beneath the root,
// and with the walk that stands in where it cannot.

#include "tests/files/serving.h"
#include "violet/features/files/disk/path.h"
#include "violet/features/files/disk/root.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace violet::files {
namespace {

constexpr std::string_view kSecret = "nobody may read this";

class SafeServing : public Serving {
 protected:
  SafeServing() {
    outside.write("secret.txt", kSecret);
    outside.write("folder/secret.txt", kSecret);
    tree.write("a.txt", "a");
    tree.write("sub/b.txt", "b");
    // A neighbour whose name begins like the root's.
    neighbour = tree.path() + "-neighbour";
    ::mkdir(neighbour.c_str(), 0755);
    const int file = ::open((neighbour + "/secret.txt").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    EXPECT_EQ(::write(file, kSecret.data(), kSecret.size()), static_cast<ssize_t>(kSecret.size()));
    ::close(file);
  }
  ~SafeServing() override {
    ::unlink((neighbour + "/secret.txt").c_str());
    ::rmdir(neighbour.c_str());
  }

  Tree outside;
  std::string neighbour;
};

// ST-D08, ST-D09
TEST_F(SafeServing, PathsThatLeadOutAre404) {
  mount();
  const std::string deep = "../../../../../../../../..";
  const std::string name = outside.path().substr(1) + "/secret.txt";
  for (const std::string& path :
       std::vector<std::string>{"/static/../secret.txt",
                                std::string("/static/..%2fsecret.txt"),
                                std::string("/static/%2e%2e/secret.txt"),
                                std::string("/static/%2E%2E%2Fsecret.txt"),
                                std::string("/static/.%2e/secret.txt"),
                                std::string("/static/sub/../../secret.txt"),
                                std::string("/static/sub/..%5c..%5csecret.txt"),
                                std::string("/static/..\\secret.txt"),
                                std::string("/static/%5c..%5csecret.txt"),
                                "/static/" + deep + "/" + name,
                                "/static//" + name,
                                "/static/%2f" + name,
                                "/static/sub//" + name,
                                std::string("/static/%252e%252e/secret.txt"),
                                std::string("/static/%25%32%65%25%32%65/secret.txt"),
                                std::string("/static/..%c0%afsecret.txt"),
                                std::string("/static/%c0%ae%c0%ae/secret.txt"),
                                std::string("/static/a.txt%00.png"),
                                std::string("/static/%00"),
                                std::string("/static/a.txt%00"),
                                std::string("/static/./a.txt"),
                                std::string("/static/sub/./b.txt"),
                                std::string("/static/sub/.."),
                                "/static/..-neighbour/secret.txt",
                                "/static/../" + neighbour.substr(neighbour.rfind('/') + 1) + "/secret.txt",
                                std::string("/static/a.txt/"),
                                std::string("/static/a.txt/b"),
                                std::string("/static/sub//b.txt")}) {
    const TestReply reply = get(path);
    EXPECT_EQ(reply.status(), 404) << path;
    EXPECT_FALSE(reply.text().contains(kSecret)) << path;
  }
  EXPECT_EQ(get("/static/%zz").status(), 400);
  EXPECT_EQ(text("/static/sub/b.txt"), "b");
  EXPECT_EQ(text("/static/s%75b/%62.txt"), "b");
}

// ST-D12
TEST_F(SafeServing, LinksAreNotFollowedUnlessWanted) {
  tree.link("inner.txt", "a.txt");
  tree.link("inner", "sub");
  mount();
  EXPECT_EQ(get("/static/inner.txt").status(), 404);
  EXPECT_EQ(get("/static/inner/b.txt").status(), 404);
}

TEST_F(SafeServing, LinksThatStayInsideAreFollowedByOption) {
  tree.link("inner.txt", "a.txt");
  tree.link("inner", "sub");
  tree.link("sub/up.txt", "../a.txt");
  tree.link("chain", "inner.txt");
  tree.link("out.txt", "../" + outside.path().substr(outside.path().rfind('/') + 1) + "/secret.txt");
  tree.link("absolute.txt", outside.path("secret.txt"));
  tree.link("absolute_inside.txt", tree.path("a.txt"));
  tree.link("out", outside.path("folder"));
  tree.link("loop", "loop");
  tree.link("gone.txt", "nothing");
  mount({.symlinks = Symlinks::Inside});
  EXPECT_EQ(text("/static/inner.txt"), "a");
  EXPECT_EQ(text("/static/inner/b.txt"), "b");
  EXPECT_EQ(text("/static/sub/up.txt"), "a");
  EXPECT_EQ(text("/static/chain"), "a");
  for (const char* name : {"out.txt", "absolute.txt", "absolute_inside.txt", "out/secret.txt", "loop", "gone.txt"}) {
    EXPECT_EQ(text("/static/" + std::string(name)), "404") << name;
  }
}

TEST_F(SafeServing, ALinkThatIsPointedOutsideLaterSendsNothing) {
  tree.link("it.txt", "a.txt");
  tree.folder("one");
  tree.write("one/secret.txt", "inside");
  tree.link("dir", "one");
  mount({.symlinks = Symlinks::Inside});
  EXPECT_EQ(text("/static/it.txt"), "a");
  EXPECT_EQ(text("/static/dir/secret.txt"), "inside");
  const std::string out = "../" + outside.path().substr(outside.path().rfind('/') + 1);
  tree.link("it.txt", out + "/secret.txt");
  tree.link("dir", out + "/folder");
  EXPECT_EQ(text("/static/it.txt"), "404");
  EXPECT_EQ(text("/static/dir/secret.txt"), "404");
  tree.link("it.txt", "sub/b.txt");
  EXPECT_EQ(text("/static/it.txt"), "b");
}

TEST_F(SafeServing, AFolderThatBecomesALinkOutsideSendsNothing) {
  tree.write("dir/secret.txt", "inside");
  mount();
  EXPECT_EQ(text("/static/dir/secret.txt"), "inside");
  tree.rename("dir", "old");
  tree.link("dir", outside.path("folder"));
  EXPECT_EQ(text("/static/dir/secret.txt"), "404");
  EXPECT_EQ(text("/static/old/secret.txt"), "inside");
}

TEST_F(SafeServing, DotfilesAreHidden) {
  tree.write(".env", "secret");
  tree.write(".git/config", "secret");
  tree.write("sub/.hidden", "secret");
  mount();
  for (const char* path : {".env", ".git/config", "sub/.hidden", "%2eenv", ".git", ".git/", ".none"}) {
    EXPECT_EQ(text("/static/" + std::string(path)), "404") << path;
  }
}

TEST_F(SafeServing, DotfilesCanBeRefusedOrShown) {
  tree.write(".env", "shown");
  app.files("/refuse", tree.path(), {.dotfiles = Dotfiles::Refuse});
  app.files("/show", tree.path(), {.dotfiles = Dotfiles::Show});
  EXPECT_EQ(text("/refuse/.env"), "403");
  EXPECT_EQ(text("/refuse/.none"), "403");
  EXPECT_EQ(text("/show/.env"), "shown");
  EXPECT_EQ(text("/show/.none"), "404");
  EXPECT_EQ(text("/show/../a.txt"), "404");
}

TEST_F(SafeServing, WhatIsNoFileIsRefusedWithoutWaiting) {
  tree.fifo("pipe");
  tree.socket("socket");
  tree.link("null", "/dev/null");
  mount({.symlinks = Symlinks::Inside});
  client = std::make_unique<TestClient>(app.test());
  client->timeout_ms(2'000);
  for (const char* name : {"pipe", "socket", "null"}) EXPECT_EQ(text("/static/" + std::string(name)), "404") << name;
  // A writer that waits for a reader is not let go: nobody has opened its FIFO.
  EXPECT_EQ(::open(tree.path("pipe").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC), -1);
}

TEST_F(SafeServing, NamesThatAreTooLongAre404) {
  mount();
  EXPECT_EQ(get("/static/" + std::string(300, 'a')).status(), 404);
  std::string deep = "/static";
  for (int i = 0; i < 1200; ++i) deep += "/abc";
  EXPECT_EQ(get(deep).status(), 404);
}

// Root may read everything: this process is nobody meanwhile.
class Unprivileged {
 public:
  Unprivileged() {
    if (was_ == 0) EXPECT_EQ(::seteuid(65'534), 0);
  }
  ~Unprivileged() { EXPECT_EQ(::seteuid(was_), 0); }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  uid_t was_ = ::geteuid();
};

TEST_F(SafeServing, AFileThatMayNotBeReadIs403) {
  tree.write("closed.txt", "x");
  ::chmod(tree.path("closed.txt").c_str(), 0);
  ::chmod(tree.path().c_str(), 0755);
  mount();
  const Unprivileged nobody;
  EXPECT_EQ(get("/static/a.txt").status(), 200);
  EXPECT_EQ(get("/static/closed.txt").status(), 403);
}

// ST-D13
TEST_F(SafeServing, OtherMethodsAre405) {
  mount();
  for (const http::Method method : {http::Method::Post, http::Method::Put, http::Method::Delete, http::Method::Patch}) {
    const TestReply reply = ask(method, "/static/a.txt");
    EXPECT_EQ(reply.status(), 405);
    EXPECT_EQ(reply.header("Allow"), "GET, HEAD, OPTIONS");
  }
}

TEST_F(SafeServing, ARootThatIsNotThereIsAnErrorAtTheStart) {
  app.files("/static", tree.path("none"));
  EXPECT_TRUE(get("/static/a").text().contains("/none cannot be served"));
  App other;
  other.files("/static", tree.path("a.txt"));
  TestClient asked = other.test();
  EXPECT_TRUE(asked.get("/static/a").text().contains("/a.txt cannot be served"));
}

TEST_F(SafeServing, ARuleWithAMalformedValueIsAnErrorAtTheStart) {
  for (const char* value : {"no-cache\r\nX: y", "", " x", "a\nb"}) {
    App other;
    other.files("/static", tree.path(), {.cache_control = {{"*", value}}});
    TestClient asked = other.test();
    EXPECT_TRUE(asked.get("/static/a.txt").text().contains("that no field can have")) << value;
  }
}

class RootWay : public testing::TestWithParam<Root::Way> {
 protected:
  [[nodiscard]] int error_of(const Root& root, std::string_view path) const {
    const Result<Opened> opened = root.open(path);
    return opened ? 0 : opened.error().detail();
  }
  [[nodiscard]] std::string read(const Root& root, std::string_view path) const {
    const Result<Opened> opened = root.open(path);
    if (!opened || opened->status.kind != FileKind::Regular) return "<none>";
    char text[100];
    const ssize_t n = ::read(opened->descriptor.get(), text, sizeof text);
    return {text, static_cast<std::size_t>(n > 0 ? n : 0)};
  }
  Tree tree;
};
INSTANTIATE_TEST_SUITE_P(Ways, RootWay, testing::Values(Root::Way::Kernel, Root::Way::Walk),
                         [](const auto& info) { return info.param == Root::Way::Kernel ? "Kernel" : "Walk"; });

TEST_P(RootWay, OpensBeneathAndNowhereElse) {
  tree.write("root/a.txt", "a");
  tree.write("root/sub/b.txt", "b");
  tree.write("secret.txt", "secret");
  tree.link("root/up", "..");
  tree.link("root/sub/out.txt", "../../secret.txt");
  tree.link("root/absolute", tree.path("root/a.txt"));
  tree.link("root/inner", "sub");
  tree.link("root/sub/back.txt", "../sub/./../a.txt");
  tree.link("root/loop", "loop");
  tree.fifo("root/pipe");
  const Root none(tree.path("root"), Symlinks::None, GetParam());
  const Root inside(tree.path("root") + "///", Symlinks::Inside, GetParam());
  for (const Root* root : {&none, &inside}) {
    EXPECT_EQ(root->path(), tree.path("root"));
    EXPECT_EQ(read(*root, "a.txt"), "a");
    EXPECT_EQ(read(*root, "sub/b.txt"), "b");
    EXPECT_EQ(root->open("")->status.kind, FileKind::Folder);
    EXPECT_EQ(root->open("sub")->status.kind, FileKind::Folder);
    EXPECT_EQ(root->open("pipe")->status.kind, FileKind::Other);
    EXPECT_FALSE(root->open("pipe")->descriptor);
    EXPECT_EQ(error_of(*root, "none"), ENOENT);
    EXPECT_EQ(error_of(*root, "none/a.txt"), ENOENT);
    EXPECT_EQ(error_of(*root, "a.txt/b"), ENOTDIR);
    EXPECT_EQ(error_of(*root, "../secret.txt"), EXDEV);
    EXPECT_EQ(error_of(*root, "sub/../../secret.txt"), EXDEV);
    EXPECT_EQ(error_of(*root, "loop"), ELOOP);
  }
  for (const char* path : {"up/secret.txt", "sub/out.txt", "absolute", "inner/b.txt", "sub/back.txt"}) {
    EXPECT_EQ(error_of(none, path), ELOOP) << path;
  }
  EXPECT_EQ(error_of(inside, "up/secret.txt"), EXDEV);
  EXPECT_EQ(error_of(inside, "sub/out.txt"), EXDEV);
  EXPECT_EQ(error_of(inside, "absolute"), EXDEV);
  EXPECT_EQ(read(inside, "inner/b.txt"), "b");
  EXPECT_EQ(read(inside, "sub/back.txt"), "a");
}

TEST_P(RootWay, FollowsTheRootItself) {
  tree.write("one/a.txt", "one");
  tree.write("two/a.txt", "two");
  tree.link("current", "one");
  const Root root(tree.path("current"), Symlinks::None, GetParam());
  EXPECT_EQ(read(root, "a.txt"), "one");
  tree.link("current", "two");
  EXPECT_EQ(read(root, "a.txt"), "two");
}

TEST(FilePath, IsCheckedBySegments) {
  using enum PathVerdict;
  for (const char* good : {"", "a", "a/b.txt", "a/", "a/b/", "a b", "...a", "..a/b", "\xff\xfe", "a:b", "CON"}) {
    EXPECT_NE(check_path(good), Never) << good;
  }
  EXPECT_EQ(check_path("a/b.txt"), Good);
  EXPECT_EQ(check_path("..a"), Hidden);
  EXPECT_EQ(check_path(".a"), Hidden);
  EXPECT_EQ(check_path("a/.b/c"), Hidden);
  for (const char* never : {".", "..", "/", "//", "a//b", "/a", "a/..", "../a", "a/./b", "a\\b", ".git/..", "a//"}) {
    EXPECT_EQ(check_path(never), Never) << never;
  }
  EXPECT_EQ(check_path(std::string_view("a\0b", 3)), Never);
}

TEST(FilePath, MatchesPatterns) {
  EXPECT_TRUE(matches("*.css", "a/b.css"));
  EXPECT_FALSE(matches("*.css", "a/b.css.map"));
  EXPECT_TRUE(matches("a/*.css", "a/b.css"));
  EXPECT_FALSE(matches("a/*.css", "b/b.css"));
  EXPECT_TRUE(matches("a/*", "a/b/c"));
  EXPECT_TRUE(matches("a?.txt", "ab.txt"));
  EXPECT_FALSE(matches("a?.txt", "a.txt"));
  EXPECT_TRUE(matches("*", "x"));
  EXPECT_TRUE(matches("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(matches("*a*b", "xxaxxbxx"));
  EXPECT_FALSE(matches("", "x"));
  // Not exponential.
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

TEST(FilePath, KnowsNamesWithAHash) {
  for (const char* name :
       {"app.3f9a1c07.js", "a/index-BX3kQ9fa.css", "main.0123456789abcdef.chunk.js", "x-9F8E7D6C.png"}) {
    EXPECT_TRUE(is_hashed_name(name)) << name;
  }
  for (const char* name :
       {"app.js", "bootstrap-datetimepicker.js", "report-20240101.pdf", "jquery.deadbeef", "3f9a1c07.js",
        "photo-facade.jpg", "a.min.js", "defaced-accessed.js", "3f9a1c07/app.js", "index-bx3kq9fa.css"}) {
    EXPECT_FALSE(is_hashed_name(name)) << name;
  }
}

}  // namespace
}  // namespace violet::files
