// What is remembered follows the disk, in every mode: the first request after a change gets what is there then.

#include "tests/files/serving.h"
#include "violet/features/files/disk/version.h"

#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace violet::files {
namespace {

class Follow : public Serving, public testing::WithParamInterface<Revalidate> {
 protected:
  Files& mount_in_mode(FileOptions options = {}) {
    options.revalidate = GetParam();
    return mount(std::move(options));
  }
  // By events the news takes a moment: milliseconds, where the machine has time for the thread that reads them.
  std::string changed(std::string_view target, std::string_view from, const Lines& fields = {}) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(GetParam() == Revalidate::ByEvents ? 10 : 0);
    std::string seen = text(target, fields);
    while (seen == from && Clock::now() < end) seen = text(target, fields);
    return seen;
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, Follow, testing::Values(Revalidate::OnLoop, Revalidate::OnWorker, Revalidate::ByEvents),
                         [](const auto& info) {
                           return info.param == Revalidate::OnLoop     ? "OnLoop"
                                  : info.param == Revalidate::OnWorker ? "OnWorker"
                                                                       : "ByEvents";
                         });

TEST_P(Follow, AReplacedFileShowsOnTheNextRequest) {
  tree.write("a.txt", "one");
  mount_in_mode();
  EXPECT_EQ(text("/static/a.txt"), "one");
  EXPECT_EQ(text("/static/a.txt"), "one");
  std::string last = "one";
  for (const std::string next : {"two", "six", "ten", "longer than before", "s"}) {
    tree.replace("a.txt", next);
    EXPECT_EQ(changed("/static/a.txt", last), next);
    last = next;
  }
}

TEST_P(Follow, AFileThatIsWrittenInPlaceShowsToo) {
  tree.write("a.txt", "one");
  mount_in_mode();
  std::string last = "one";
  EXPECT_EQ(text("/static/a.txt"), last);
  // Same length, same inode, one after the other as fast as it goes.
  for (const std::string next : {"two", "six", "ten", "one", "two", "six"}) {
    tree.write("a.txt", next);
    EXPECT_EQ(changed("/static/a.txt", last), next);
    last = next;
  }
}

TEST_P(Follow, ATimeThatIsSetBackHidesNothing) {
  tree.write("a.txt", "one");
  tree.set_time("a.txt", 1'000'000'000);
  mount_in_mode();
  EXPECT_EQ(text("/static/a.txt"), "one");
  tree.write("a.txt", "two");
  tree.set_time("a.txt", 1'000'000'000);
  EXPECT_EQ(changed("/static/a.txt", "one"), "two");
}

// A strong tag stands for these very bytes (RFC 9110 §8.8.1): whoever has it must not be told that others are the same.
TEST_P(Follow, ATagIsNotThatOfOtherBytesOfTheSameLengthAndTime) {
  tree.write("a.txt", "version one");
  tree.set_time("a.txt", 1'000'000'000);
  mount_in_mode();
  const std::string tag(get("/static/a.txt").header("ETag"));
  for (const bool is_new_file : {false, true}) {
    const std::string before = tree.read("a.txt");
    const std::string after = is_new_file ? "version TRI" : "version TWO";
    if (is_new_file) tree.remove("a.txt");
    tree.write("a.txt", after);
    tree.set_time("a.txt", 1'000'000'000);
    EXPECT_EQ(changed("/static/a.txt", before), after);
    EXPECT_EQ(get("/static/a.txt", {{"If-None-Match", tag}}).status(), 200);
    EXPECT_EQ(get("/static/a.txt", {{"Range", "bytes=8-"}, {"If-Range", tag}}).text(), after);
  }
}

TEST_P(Follow, FilesThatComeAndGo) {
  tree.folder("dir");
  mount_in_mode();
  EXPECT_EQ(text("/static/a.txt"), "404");
  EXPECT_EQ(text("/static/a.txt"), "404");
  EXPECT_EQ(text("/static/dir/"), "404");
  tree.write("a.txt", "here");
  EXPECT_EQ(changed("/static/a.txt", "404"), "here");
  tree.remove("a.txt");
  EXPECT_EQ(changed("/static/a.txt", "here"), "404");
  tree.folder("a.txt");
  EXPECT_EQ(changed("/static/a.txt", "404"), "301");
  tree.remove("a.txt");
  tree.write("a.txt", "again");
  EXPECT_EQ(changed("/static/a.txt", "301"), "again");
  tree.write("dir/index.html", "index");
  EXPECT_EQ(changed("/static/dir/", "404"), "index");
  tree.replace("dir/index.html", "other");
  EXPECT_EQ(changed("/static/dir/", "index"), "other");
  tree.remove("dir/index.html");
  EXPECT_EQ(changed("/static/dir/", "other"), "404");
}

TEST_P(Follow, WholeFoldersThatMove) {
  tree.write("one/deep/a.txt", "one");
  tree.write("two/deep/a.txt", "two");
  mount_in_mode();
  EXPECT_EQ(text("/static/one/deep/a.txt"), "one");
  EXPECT_EQ(text("/static/two/deep/a.txt"), "two");
  tree.rename("one", "old");
  tree.rename("two", "one");
  EXPECT_EQ(changed("/static/one/deep/a.txt", "one"), "two");
  EXPECT_EQ(changed("/static/two/deep/a.txt", "two"), "404");
  // The new folder is followed like the old one.
  tree.replace("one/deep/a.txt", "new");
  EXPECT_EQ(changed("/static/one/deep/a.txt", "two"), "new");
}

TEST_P(Follow, ARootThatIsExchanged) {
  tree.write("releases/1/a.txt", "one");
  tree.write("releases/2/a.txt", "two");
  tree.link("current", "releases/1");
  FileOptions options;
  options.revalidate = GetParam();
  app.files("/static", tree.path("current"), std::move(options));
  EXPECT_EQ(text("/static/a.txt"), "one");
  tree.link("current", "releases/2");
  EXPECT_EQ(changed("/static/a.txt", "one"), "two");
  tree.replace("releases/2/a.txt", "new");
  EXPECT_EQ(changed("/static/a.txt", "two"), "new");
}

TEST_P(Follow, ALinkAboveTheRootThatIsExchanged) {
  tree.write("releases/1/public/a.txt", "one");
  tree.write("releases/2/public/a.txt", "two");
  tree.write("releases/3/public/a.txt", "tri");
  tree.link("newest", "releases/1");
  tree.link("current", "newest");
  FileOptions options;
  options.revalidate = GetParam();
  app.files("/static", tree.path("current/public"), std::move(options));
  EXPECT_EQ(text("/static/a.txt"), "one");
  tree.link("newest", "releases/2");
  EXPECT_EQ(changed("/static/a.txt", "one"), "two");
  tree.link("current", tree.path("releases/3"));
  EXPECT_EQ(changed("/static/a.txt", "two"), "tri");
  tree.replace("releases/3/public/a.txt", "new");
  EXPECT_EQ(changed("/static/a.txt", "tri"), "new");
  tree.rename("releases", "old");
  EXPECT_EQ(changed("/static/a.txt", "new"), "404");
}

TEST_P(Follow, TwinsToo) {
  tree.write("a.js", "plain");
  tree.write("a.js.br", "br one");
  mount_in_mode();
  const Lines br = {{"Accept-Encoding", "br"}};
  EXPECT_EQ(text("/static/a.js", br), "br one");
  tree.replace("a.js", "PLAIN");
  tree.replace("a.js.br", "br two");
  EXPECT_EQ(changed("/static/a.js", "br one", br), "br two");
  tree.write("a.js.br", "br six");
  EXPECT_EQ(changed("/static/a.js", "br two", br), "br six");
  tree.replace("a.js", "newer");
  EXPECT_EQ(changed("/static/a.js", "br six", br), "newer");
  tree.remove("a.js.br");
  EXPECT_EQ(changed("/static/a.js", "br six", br), "newer");
  EXPECT_EQ(text("/static/a.js"), "newer");
}

TEST_P(Follow, LinksInsideToo) {
  tree.write("one.txt", "one");
  tree.write("two.txt", "two");
  tree.write("far/shared.txt", "shared");
  tree.folder("near");
  tree.link("it.txt", "one.txt");
  tree.link("near/it.txt", "../far/shared.txt");
  FileOptions options;
  options.symlinks = Symlinks::Inside;
  mount_in_mode(std::move(options));
  EXPECT_EQ(text("/static/it.txt"), "one");
  EXPECT_EQ(text("/static/near/it.txt"), "shared");
  tree.link("it.txt", "two.txt");
  EXPECT_EQ(changed("/static/it.txt", "one"), "two");
  tree.write("two.txt", "TWO");
  EXPECT_EQ(changed("/static/it.txt", "two"), "TWO");
  tree.replace("far/shared.txt", "SHARED");
  EXPECT_EQ(changed("/static/near/it.txt", "shared"), "SHARED");
}

TEST_P(Follow, LargeFilesToo) {
  tree.write("a.bin", std::string(100'000, 'a'));
  FileOptions options;
  options.cached_file_bytes = 1000;
  mount_in_mode(std::move(options));
  const std::string before = std::string(100'000, 'a');
  EXPECT_EQ(text("/static/a.bin"), before);
  tree.replace("a.bin", std::string(100'000, 'b'));
  EXPECT_EQ(changed("/static/a.bin", before), std::string(100'000, 'b'));
}

TEST_P(Follow, ClearForgetsEverything) {
  tree.write("a.txt", "one");
  Files& files = mount_in_mode();
  EXPECT_EQ(text("/static/a.txt"), "one");
  const std::uint64_t loads = files.stats().loads;
  files.clear();
  EXPECT_EQ(files.stats().cached_files, 0u);
  EXPECT_EQ(text("/static/a.txt"), "one");
  EXPECT_EQ(files.stats().loads, loads + 1);
  EXPECT_EQ(files.stats().cached_files, 1u);
}

TEST_F(Serving, NeverLooksAgainUntilCleared) {
  tree.write("a.txt", "one");
  Files& files = mount({.revalidate = Revalidate::Never});
  EXPECT_EQ(text("/static/a.txt"), "one");
  tree.replace("a.txt", "two");
  EXPECT_EQ(text("/static/a.txt"), "one");
  files.clear();
  EXPECT_EQ(text("/static/a.txt"), "two");
}

TEST_F(Serving, PrewarmReadsEverythingBeforeTheFirstRequest) {
  tree.write("a.txt", "a");
  tree.write("sub/b.js", "b");
  tree.write("sub/b.js.br", "br");
  tree.write(".hidden", "h");
  tree.fifo("pipe");
  tree.link("link", "a.txt");
  Files& files = mount();
  EXPECT_EQ(files.prewarm("pipe"), 0u);
  EXPECT_EQ(files.prewarm("none"), 0u);
  EXPECT_EQ(files.prewarm("../x"), 0u);
  EXPECT_EQ(files.prewarm("a.txt"), 1u);
  EXPECT_EQ(files.prewarm(""), 3u);
  EXPECT_EQ(files.prewarm("sub/"), 2u);
  EXPECT_EQ(files.stats().cached_files, 3u);
  const std::uint64_t reads = files.stats().reads;
  EXPECT_EQ(text("/static/a.txt"), "a");
  EXPECT_EQ(text("/static/sub/b.js", {{"Accept-Encoding", "br"}}), "br");
  EXPECT_EQ(files.stats().reads, reads);
}

#if defined(__linux__)
// The clock that files are stamped with ticks every few milliseconds: a change within the tick of the one before may
// bear the same time. So a version counts only when the clock has left the tick that the file is stamped with.
TEST(FollowVersion, IsSettledWhenItsTickIsOver) {
  const Tree tree;
  for (int i = 0; i < 8; ++i) {
    tree.write("a.txt", std::to_string(i));
    const int descriptor = ::open(tree.path("a.txt").c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(descriptor, 0);
    Status status;
    int error = 0;
    EXPECT_EQ(settled_version(descriptor, status, error), Settled::Yes);
    EXPECT_EQ(error, 0);
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    EXPECT_LT(status.version.changed_ns, now.tv_sec * 1'000'000'000 + now.tv_nsec);
    ::close(descriptor);
  }
}
#endif

}  // namespace
}  // namespace violet::files
