// Files that are not kept in memory: what is sent, what is held meanwhile, and what happens when they change.

#include "tests/files/serving.h"
#include "tests/support/h1_wire.h"
#include "tests/support/reply.h"
#include "tests/web/fake_wire.h"

#include <fcntl.h>
#include <unistd.h>

namespace violet::files {
namespace {

const std::string kGet = "GET /s/big HTTP/1.1\r\nHost: a\r\n\r\n";

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('!' + i * 7 % 89);
  return text;
}

// HTTP/1.1 on a plain connection: ranges of the descriptor.
class Sent : public testing::Test {
 protected:
  void SetUp() override { serve({.cached_file_bytes = 1000}); }
  void serve(FileOptions options) {
    files = serve_files(router, "/s", tree.path(), std::move(options));
    ASSERT_TRUE(router.freeze().empty());
    wire.service.handler = [this](Exchange& exchange) { router.serve(exchange); };
  }
  // Everything that comes, piece by piece, with `between` called after each, until `replies` are whole.
  std::string drain(std::size_t piece, const std::function<void(std::size_t)>& between = {}, std::size_t replies = 1) {
    std::string all;
    while (!wire.is_closed() && !has_replies(all, replies)) {
      wire.wire->add_room(piece);
      wire.settle();
      const auto has_come = [this] { return !wire.wire->written().empty() || wire.is_closed(); };
      if (!has_come() && !wire.until(has_come, 2'000)) break;
      all += wire.wire->take();
      if (between) between(all.size());
    }
    return all;
  }
  static bool has_replies(const std::string& bytes, std::size_t count) {
    test::ReplyReader reader;
    reader.add(bytes);
    for (; count > 0; --count) {
      if (!reader.next()) return false;
    }
    return true;
  }
  void ask() {
    wire.wire->set_room(0);
    wire.send(kGet);
  }

  Tree tree;
  Router router;
  std::unique_ptr<Files> files;
  test::H1Wire wire;
};

TEST_F(Sent, WholeAndInAnyPieces) {
  for (const std::size_t size :
       {std::size_t{1001}, std::size_t{4096}, std::size_t{4097}, std::size_t{70'000}, std::size_t{3'000'000}}) {
    tree.replace("big", pattern(size));
    for (const std::size_t piece : {std::size_t{1} << 30, std::size_t{50'000}}) {
      wire.connect();
      ask();
      const test::Reply reply = test::reply_of(drain(piece));
      EXPECT_EQ(reply.status, 200);
      EXPECT_EQ(reply.field("Content-Length"), std::to_string(size));
      EXPECT_TRUE(reply.body == pattern(size)) << size;
    }
  }
}

TEST_F(Sent, AFileThatShrinksEndsTheAnswerAsAnError) {
  tree.write("big", pattern(500'000));
  for (const std::size_t left : {std::size_t{0}, std::size_t{10}, std::size_t{300'000}, std::size_t{499'999}}) {
    tree.replace("big", pattern(500'000));
    wire.connect();
    ask();
    bool is_cut = false;
    const std::string all = drain(20'000, [&](std::size_t got) {
      if (got < 100'000 || is_cut) return;
      is_cut = true;
      tree.truncate("big", left);
    });
    EXPECT_TRUE(wire.is_closed());
    const std::size_t body = all.find("\r\n\r\n") + 4;
    EXPECT_LT(all.size() - body, 500'000u) << left;
    EXPECT_TRUE(pattern(500'000).starts_with(all.substr(body))) << "wrong bytes";
  }
}

TEST_F(Sent, AFileThatIsWrittenMeanwhileNeverArrivesWhole) {
  tree.write("big", std::string(500'000, 'a'));
  ask();
  bool is_written = false;
  const std::string all = drain(20'000, [&](std::size_t got) {
    if (got < 100'000 || is_written) return;
    is_written = true;
    tree.write("big", std::string(500'000, 'b'));
  });
  EXPECT_TRUE(wire.is_closed());
  EXPECT_LT(all.size() - all.find("\r\n\r\n") - 4, 500'000u);
}

TEST_F(Sent, AFileThatIsReplacedOrDeletedMeanwhileArrivesAsItWas) {
  for (const bool is_deleted : {false, true}) {
    tree.replace("big", std::string(500'000, 'a'));
    wire.connect();
    ask();
    bool is_done = false;
    const std::string all = drain(20'000, [&](std::size_t got) {
      if (got < 100'000 || is_done) return;
      is_done = true;
      is_deleted ? tree.remove("big") : tree.replace("big", std::string(500'000, 'b'));
    });
    EXPECT_TRUE(test::reply_of(all).body == std::string(500'000, 'a'));
  }
}

TEST_F(Sent, AFileThatOnlyGrowsArrivesAsItWas) {
  tree.write("big", std::string(500'000, 'a'));
  ask();
  bool is_done = false;
  const std::string all = drain(20'000, [&](std::size_t got) {
    if (got < 100'000 || is_done) return;
    is_done = true;
    const int file = ::open(tree.path("big").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    EXPECT_EQ(::write(file, "bbb", 3), 3);
    ::close(file);
  });
  EXPECT_TRUE(test::reply_of(all).body == std::string(500'000, 'a'));
}

TEST_F(Sent, PipelinedBehindAndBeforeOthers) {
  tree.write("big", pattern(300'000));
  tree.write("small", "small");
  const std::string small = "GET /s/small HTTP/1.1\r\nHost: a\r\n\r\n";
  wire.wire->set_room(0);
  wire.send(small + kGet + kGet + small);
  const std::vector<test::Reply> replies = test::replies_of(drain(1 << 20, {}, 4));
  ASSERT_EQ(replies.size(), 4u);
  EXPECT_EQ(replies[0].body, "small");
  EXPECT_TRUE(replies[1].body == pattern(300'000) && replies[2].body == pattern(300'000));
  EXPECT_EQ(replies[3].body, "small");
}

// The same, read and checked.
class Copied : public Sent {
 protected:
  void SetUp() override { serve({.cached_file_bytes = 1000, .sendfile = false}); }
};

TEST_F(Copied, NothingLeavesThatWasNotInTheFile) {
  for (const std::size_t left : {std::size_t{0}, std::size_t{150'000}, std::size_t{499'999}}) {
    tree.replace("big", pattern(500'000));
    wire.connect();
    ask();
    bool is_cut = false;
    const std::string all = drain(20'000, [&](std::size_t got) {
      if (got < 100'000 || is_cut) return;
      is_cut = true;
      tree.truncate("big", left);
      tree.truncate("big", 500'000);  // zeros from there on
    });
    EXPECT_TRUE(wire.is_closed());
    const std::string body = all.substr(all.find("\r\n\r\n") + 4);
    EXPECT_LT(body.size(), 500'000u);
    EXPECT_TRUE(pattern(500'000).starts_with(body)) << left;
  }
}

// Elsewhere: read piece by piece, when asked.
class Read : public testing::Test {
 protected:
  Read() {
    server.connection.is_secure = true;
    files = serve_files(server.router, "/s", tree.path(), {.cached_file_bytes = 1000});
  }
  static void hold(web::FakeStream& stream) {
    stream.is_held = true;
    stream.pull_max = 50'000;
  }
  void begin(web::FakeCall& call) {
    for (int i = 0; i < 500 && call.stream.answer.status == 0; ++i) server.loop.step(10);
  }
  // One pull, and a worker's read if it takes one.
  static void pull(web::FakeServer& server, web::FakeCall& call) {
    const std::size_t before = call.stream.answer.body.size();
    for (int i = 0; i < 500 && call.stream.answer.body.size() == before && !call.is_done(); ++i) {
      call.stream.pull();
      server.loop.step(1);
    }
  }

  Tree tree;
  web::FakeServer server;
  const Loop::Scope scope{server.loop};
  std::unique_ptr<Files> files;
};

TEST_F(Read, OnePieceForEachTimeItIsAsked) {
  tree.write("big", pattern(500'000));
  web::FakeCall call(server.site(), server.connection, {.target = "/s/big"}, &hold);
  begin(call);
  EXPECT_EQ(call.stream.answer.header("Content-Length"), "");
  std::size_t last = call.stream.answer.body.size();
  EXPECT_LE(last, 50'000u);
  for (int i = 0; i < 5; ++i) server.loop.step(1);
  EXPECT_EQ(call.stream.answer.body.size(), last) << "nobody asked";
  while (!call.is_done()) {
    pull(server, call);
    EXPECT_LE(call.stream.answer.body.size(), last + 50'000);
    last = call.stream.answer.body.size();
  }
  EXPECT_TRUE(call.stream.answer.body == pattern(500'000));
}

TEST_F(Read, MemoryIsOnePieceHoweverLargeTheFile) {
  // 4 GiB, of which the disk has nothing.
  tree.write("big", "");
  tree.truncate("big", std::uint64_t{4} << 30);
  web::FakeCall call(server.site(), server.connection, {.target = "/s/big"}, [](web::FakeStream& stream) {
    hold(stream);
    stream.keeps_answer = true;
  });
  begin(call);
  EXPECT_EQ(call.stream.answer.status, 200);
  for (int i = 0; i < 3; ++i) pull(server, call);
  EXPECT_EQ(files->stats().resident_bytes, 0u);
  EXPECT_LE(call.stream.answer.body.size(), 4 * 50'000u);
  call.close(Error(ErrorKind::Closed));
}

TEST_F(Read, AFileThatShrinksOrIsWrittenFails) {
  for (const bool shrinks : {true, false}) {
    tree.replace("big", std::string(500'000, 'a'));
    web::FakeCall call(server.site(), server.connection, {.target = "/s/big"}, &hold);
    begin(call);
    pull(server, call);
    shrinks ? tree.truncate("big", 200'000) : tree.write("big", std::string(500'000, 'b'));
    while (!call.is_done()) pull(server, call);
    EXPECT_TRUE(call.stream.answer.reset);
    EXPECT_FALSE(call.stream.answer.is_whole);
    EXPECT_FALSE(call.stream.answer.body.contains('b'));
  }
}

TEST_F(Read, AClientThatLeavesEndsIt) {
  tree.write("big", pattern(500'000));
  for (int pulls = 0; pulls < 3; ++pulls) {
    web::FakeCall call(server.site(), server.connection, {.target = "/s/big"}, &hold);
    begin(call);
    for (int i = 0; i < pulls; ++i) call.stream.pull();
    call.close(Error(ErrorKind::Closed));
  }
}

TEST_F(Read, RangesAndParts) {
  const std::string text = pattern(500'000);
  tree.write("big", text);
  EXPECT_TRUE(server.get("/s/big", {{"Range", "bytes=100000-299999"}}).body == text.substr(100'000, 200'000));
  const web::FakeAnswer parts = server.get("/s/big", {{"Range", "bytes=0-9,400000-"}});
  EXPECT_EQ(parts.status, 206);
  EXPECT_TRUE(parts.body.contains(text.substr(0, 10)) && parts.body.contains(text.substr(400'000)));
  EXPECT_TRUE(parts.is_whole);
}

}  // namespace
}  // namespace violet::files
