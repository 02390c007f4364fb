// A tree that changes all the time under requests from all sides, over real sockets: never a byte from outside the
// root, never a mixture of two versions, and when it comes to rest the truth.

#include "tests/files/serving.h"
#include "tests/support/client.h"

#include <atomic>
#include <random>
#include <sys/stat.h>
#include <thread>

namespace violet::files {
namespace {

constexpr int kOperations = 3'400;  // for each of three
constexpr int kNames = 12;
constexpr int kCachedBytes = 4'000;
constexpr char kOutside = '#';  // every byte that lies outside the root

std::string name_of(std::uint32_t i) { return (i % 3 == 0 ? "sub/f" : "f") + std::to_string(i); }

// Every version is one letter over and over: small ones are kept in memory, the others are sent from their descriptor.
std::string version(std::mt19937& random) {
  const std::size_t size = random() % 4 == 0 ? 20'000 + random() % 100'000 : 1 + random() % 3'000;
  return std::string(size, static_cast<char>('a' + random() % 26));
}

class Mutator {
 public:
  // `spares_large`: files that are sent from their descriptor are replaced, never written into.
  Mutator(const Tree& tree, const Tree& outside, std::uint32_t seed, bool spares_large)
      : tree_(tree), outside_(outside), random_(seed), spares_large_(spares_large) {}

  void step() {
    const std::string name = name_of(random_() % kNames);
    switch (random_() % 9) {
      case 0:
      case 1:
      case 2: tree_.replace(name, version(random_)); break;
      case 3: write_in_place(name); break;
      case 4: shrink(name); break;
      case 5: ::unlink(tree_.path(name).c_str()); break;
      case 6: point(name, outside_.path("secret")); break;
      case 7: point(name, tree_.path(name_of(random_() % kNames))); break;
      default: ::chmod(tree_.path(name).c_str(), random_() % 2 == 0 ? 0644 : 0); break;
    }
    if (random_() % 50 == 0) swap_folder();
  }
  // Everything is a file again.
  void settle() {
    for (std::uint32_t i = 0; i < kNames; ++i) tree_.replace(name_of(i), version(random_));
  }

 private:
  // Never longer than before: that could be a log that grows.
  void write_in_place(const std::string& name) {
    struct stat seen;
    if (!may_write(name, seen)) return;
    const auto size = static_cast<std::size_t>(seen.st_size);
    tree_.write(name, std::string(random_() % 2 == 0 ? size : size / 2, static_cast<char>('a' + random_() % 26)));
  }
  void shrink(const std::string& name) {
    struct stat seen;
    if (may_write(name, seen)) static_cast<void>(::truncate(tree_.path(name).c_str(), seen.st_size / 2));
  }
  bool may_write(const std::string& name, struct stat& seen) const {
    if (::lstat(tree_.path(name).c_str(), &seen) != 0 || !S_ISREG(seen.st_mode)) return false;
    return !spares_large_ || seen.st_size <= kCachedBytes;
  }
  void point(const std::string& name, const std::string& target) {
    const std::string next = tree_.path(name) + ".link";
    if (::symlink(target.c_str(), next.c_str()) == 0) ::rename(next.c_str(), tree_.path(name).c_str());
  }
  // The folder is somewhere else for a moment, and a link to the outside stands in its place.
  void swap_folder() {
    const std::string folder = tree_.path("sub");
    const std::string away = tree_.path("away");
    if (::rename(folder.c_str(), away.c_str()) != 0) return;
    static_cast<void>(::symlink(outside_.path().c_str(), folder.c_str()));
    std::this_thread::yield();
    ::unlink(folder.c_str());
    ::rename(away.c_str(), folder.c_str());
  }

  const Tree& tree_;
  const Tree& outside_;
  std::mt19937 random_;
  bool spares_large_;
};

struct Seen {
  std::atomic<int> whole = 0;
  std::atomic<int> cut = 0;
  std::atomic<int> missing = 0;
};

void ask_all_the_time(const net::Endpoint& endpoint, const std::atomic<bool>& is_over, std::uint32_t seed, Seen& seen) {
  std::mt19937 random(seed);
  test::Client client(endpoint);
  while (!is_over) {
    const std::string name = name_of(random() % kNames);
    const std::string extra = random() % 4 == 0   ? "Range: bytes=0-9\r\n"
                              : random() % 3 == 0 ? "Accept-Encoding: br\r\n"
                                                  : "";
    const test::Reply reply = client.ask("GET /static/" + name + " HTTP/1.1\r\nHost: a\r\n" + extra + "\r\n");
    if (reply.status == 0) {
      // It changed while it was being sent: cut off, never completed with something else.
      ++seen.cut;
      client = test::Client(endpoint);
      continue;
    }
    ASSERT_TRUE(reply.status == 200 || reply.status == 206 || reply.status == 403 || reply.status == 404 ||
                reply.status == 416 || reply.status == 503)
        << reply.status;
    if (reply.status >= 300) {
      ++seen.missing;
      continue;
    }
    ++seen.whole;
    ASSERT_EQ(reply.body.find(kOutside), std::string::npos) << "bytes from outside the root";
    if (!reply.body.empty()) {
      ASSERT_EQ(reply.body.find_first_not_of(reply.body[0]), std::string::npos) << "a mixture of two versions";
    }
  }
}

struct RaceCase {
  Revalidate mode;
  bool sendfile;
};
class Race : public Serving, public testing::WithParamInterface<RaceCase> {};
INSTANTIATE_TEST_SUITE_P(Modes, Race,
                         testing::Values(RaceCase{Revalidate::OnLoop, false}, RaceCase{Revalidate::OnWorker, false},
                                         RaceCase{Revalidate::ByEvents, true}),
                         [](const auto& info) {
                           return info.param.mode == Revalidate::OnLoop     ? "OnLoop"
                                  : info.param.mode == Revalidate::OnWorker ? "OnWorker"
                                                                            : "ByEvents";
                         });

TEST_P(Race, ThousandsOfChangesUnderRequests) {
  const auto [mode, sendfile] = GetParam();
  Tree outside;
  for (std::uint32_t i = 0; i < kNames; ++i) outside.write("f" + std::to_string(i), std::string(5'000, kOutside));
  outside.write("secret", std::string(5'000, kOutside));
  tree.folder("sub");
  Mutator mutator(tree, outside, 7, sendfile);
  mutator.settle();
  mount({.symlinks = Symlinks::Inside,
         .revalidate = mode,
         .cache_bytes = 30'000,
         .cached_file_bytes = kCachedBytes,
         .sendfile = sendfile});
  app.loops(2).listen("http://127.0.0.1:0");
  ASSERT_TRUE(app.start());
  const auto endpoint = net::Endpoint::parse(app.urls().front());
  ASSERT_TRUE(endpoint);

  std::atomic<bool> is_over = false;
  Seen seen;
  std::vector<std::thread> clients;
  for (std::uint32_t i = 0; i < 4; ++i) {
    clients.emplace_back([&, i] { ask_all_the_time(*endpoint, is_over, i + 1, seen); });
  }
  for (int i = 0; i < kOperations; ++i) mutator.step();
  is_over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_GT(seen.whole, 100);

  mutator.settle();
  test::Client client(*endpoint);
  for (std::uint32_t i = 0; i < kNames; ++i) {
    const std::string wanted = tree.read(name_of(i));
    const auto is_there = [&] {
      const test::Reply reply = client.ask("GET /static/" + name_of(i) + " HTTP/1.1\r\nHost: a\r\n\r\n");
      return reply.status == 200 && reply.body == wanted;
    };
    // By events it may take a moment.
    EXPECT_TRUE(mode == Revalidate::ByEvents ? test::eventually(is_there) : is_there()) << name_of(i);
  }
  client.close();
  app.stop();
  app.wait();
}

}  // namespace
}  // namespace violet::files
