// Answers on their way out: sources, slow readers, a wire without room at any byte.

#include "tests/support/h1_wire.h"
#include "tests/support/reply.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace violet::test {
namespace {

const std::string kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

// A file of pattern() bytes that is gone when closed.
FileBuffer* pattern_file(std::size_t size) {
  char path[] = "/tmp/violet_h1_test_XXXXXX";
  const int descriptor = ::mkstemp(path);
  ::unlink(path);
  const std::string text = pattern(size);
  EXPECT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(size));
  return FileBuffer::make(descriptor);
}
Slice file_slice(std::size_t size, std::size_t from, std::size_t length) {
  FileBuffer* file = pattern_file(size);
  Slice slice = Slice::file(*file, from, length);
  file->release();
  return slice;
}

// Every kind of answer, over a wire that takes `room` bytes at a time.
void answer_kind(Exchange& exchange, int kind) {
  switch (kind) {
    case 0: exchange.reply(Slice::literal("hello")); break;
    case 1: exchange.reply(Slice::of(pattern(3000))); break;
    case 2: {
      Chain chain;
      chain.append(Slice::literal("small"));
      chain.append(Slice::of(pattern(2000)));
      chain.append(Slice::literal("end"));
      exchange.reply(Body(std::move(chain)));
      break;
    }
    case 3: exchange.reply(Body(SourcePtr(new PatternSource(4000, 700)))); break;
    case 4: exchange.reply(Body(SourcePtr(new PatternSource(4000, 1500)), 4000)); break;
    case 5: exchange.reply(file_slice(5000, 100, 3000)); break;
    case 6: {
      const std::string gone = pattern(2500);
      exchange.reply(Slice::borrowed(gone));
      break;
    }
    default: exchange.reply(Body(SourcePtr(new PatternSource(0, 1)))); break;
  }
}

TEST(H1Write, TheSameBytesLeaveWhateverRoomTheWireHas) {
  std::string expected;
  const auto run = [&](std::size_t first, std::size_t step) {
    H1Wire wire;
    int kind = 0;
    wire.service.handler = [&](Exchange& exchange) {
      ASSERT_TRUE(exchange.response().fields.add("Date", "x"));
      answer_kind(exchange, kind++);
    };
    wire.wire->set_room(first);
    std::string requests;
    for (int i = 0; i < 8; ++i) requests += kGet;
    wire.send(requests);
    for (int turn = 0; turn < 100'000 && wire.wire->written().size() != expected.size(); ++turn) {
      const std::size_t before = wire.wire->written().size();
      wire.wire->add_room(step);
      wire.settle();
      if (wire.wire->written().size() == before && turn > 100) break;
    }
    EXPECT_FALSE(wire.is_closed());
    return wire.wire->take();
  };
  {
    H1Wire wire;
    int kind = 0;
    wire.service.handler = [&](Exchange& exchange) {
      ASSERT_TRUE(exchange.response().fields.add("Date", "x"));
      answer_kind(exchange, kind++);
    };
    std::string requests;
    for (int i = 0; i < 8; ++i) requests += kGet;
    expected = wire.ask(requests);
  }
  const auto replies = replies_of(expected);
  ASSERT_EQ(replies.size(), 8u);
  EXPECT_EQ(replies[0].body, "hello");
  EXPECT_TRUE(replies[1].body == pattern(3000));
  EXPECT_TRUE(replies[2].body == "small" + pattern(2000) + "end");
  EXPECT_TRUE(replies[3].body == pattern(4000));
  EXPECT_TRUE(replies[3].is_chunked);
  EXPECT_TRUE(replies[4].body == pattern(4000));
  EXPECT_EQ(replies[4].field("content-length"), "4000");
  EXPECT_TRUE(replies[5].body == pattern(3000, 100));
  EXPECT_TRUE(replies[6].body == pattern(2500));
  EXPECT_EQ(replies[7].body, "");
  ASSERT_TRUE(run(1, 1) == expected) << "byte by byte";
  // Blocked once, at every byte; then as much as there is.
  for (std::size_t cut = 0; cut < expected.size(); ++cut) ASSERT_TRUE(run(cut, 1'000'000) == expected) << cut;
}

TEST(H1Write, AsksASourceOnlyWhileThereIsRoom) {
  Limits limits;
  limits.flush_bytes_max = 10'000;
  H1Wire wire(limits);
  wire.wire->set_room(5000);
  PatternSource::pulled_bytes = 0;
  wire.service.handler = [](Exchange& exchange) {
    exchange.reply(Body(SourcePtr(new PatternSource(10'000'000, 3000)), 10'000'000));
  };
  wire.send(kGet);
  EXPECT_LE(PatternSource::pulled_bytes, 5000u + 2 * 10'000) << "memory depends on the mark, not on the body";
  ReplyReader reader;
  std::optional<Reply> reply;
  std::size_t sent = 0;
  for (int turn = 0; turn < 100'000 && !reply; ++turn) {
    wire.wire->add_room(50'000);
    wire.settle();
    const std::string bytes = wire.wire->take();
    sent += bytes.size();
    ASSERT_LE(PatternSource::pulled_bytes, sent + 2 * 10'000);
    reader.add(bytes);
    if (sent > 10'000'000) reply = reader.next();
  }
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->body == pattern(10'000'000));
}

TEST(H1Write, AsksAWaitingSourceOnlyAfterItWoke) {
  H1Wire wire;
  PushSource::Watch watch;
  wire.service.handler = [&](Exchange& exchange) { exchange.reply(Body(SourcePtr(new PushSource(watch)))); };
  wire.send(kGet);
  EXPECT_EQ(watch.attach_count, 1);
  EXPECT_EQ(watch.pull_count, 1u);
  wire.settle();
  EXPECT_EQ(watch.pull_count, 1u);
  watch.source->push("one");
  wire.settle();
  EXPECT_EQ(watch.pull_count, 1u) << "data alone wakes nobody";
  watch.source->wake();
  watch.stream->wake();  // twice is once
  wire.settle();
  EXPECT_EQ(watch.pull_count, 2u);
  EXPECT_NE(wire.wire->written().find("3\r\none\r\n"), std::string::npos) << "what is there leaves at once";
  watch.source->push("two");
  watch.source->end();
  watch.source->wake();
  wire.settle();
  EXPECT_EQ(reply_of(wire.wire->take()).body, "onetwo");
  EXPECT_EQ(watch.detach_count, 1);
  EXPECT_EQ(watch.death_count, 1);
  EXPECT_FALSE(watch.was_asked_while_waiting);
}

TEST(H1Write, SendsTrailersOfASource) {
  H1Wire wire;
  PushSource::Watch watch;
  Arena arena;
  http::Fields trailers(arena);
  ASSERT_TRUE(trailers.add("X-Sum", "42"));
  ASSERT_TRUE(trailers.add("Content-Length", "1"));
  ASSERT_TRUE(trailers.add("Transfer-Encoding", "gzip"));
  wire.service.handler = [&](Exchange& exchange) {
    auto* source = new PushSource(watch);
    source->trailer_fields = &trailers;
    source->push("data");
    source->end();
    exchange.reply(Body(SourcePtr(source)));
  };
  const Reply reply = reply_of(wire.ask(kGet));
  EXPECT_EQ(reply.body, "data");
  ASSERT_EQ(reply.trailers.size(), 1u);
  EXPECT_EQ(reply.trailers[0].second, "42");
}

TEST(H1Write, APromisedLengthIsKeptOrTheConnectionEnds) {
  struct Case {
    std::uint64_t given, promised;
    bool is_good;
  };
  for (const Case& c : {Case{1000, 1000, true}, Case{999, 1000, false}, Case{1001, 1000, false}, Case{0, 1, false},
                        Case{1, 0, false}, Case{0, 0, true}}) {
    H1Wire wire;
    wire.service.handler = [&](Exchange& exchange) {
      exchange.reply(Body(SourcePtr(new PatternSource(c.given, 400)), c.promised));
    };
    const std::string bytes = wire.ask(kGet);
    EXPECT_EQ(wire.is_closed(), !c.is_good) << c.given << " of " << c.promised;
    if (c.is_good) {
      EXPECT_EQ(reply_of(bytes).body.size(), c.promised);
    } else {
      ReplyReader reader;
      reader.add(bytes);
      const auto reply = reader.next({.is_ended = true});
      EXPECT_TRUE(!reply || (c.given > c.promised && reply->body.size() == c.promised))
          << "a short answer must not look whole";
    }
  }
}

TEST(H1Write, AFailedSourceLeavesNoWholeAnswer) {
  for (std::size_t size : {0u, 1u, 5000u, 200'000u}) {
    H1Wire wire;
    wire.service.handler = [&](Exchange& exchange) {
      if (wire.service.call_count == 1) {
        exchange.reply(Slice::literal("before"));
      } else {
        exchange.reply(Body(SourcePtr(new PatternSource(size, 3000, Pull::Failed))));
      }
    };
    const std::string bytes = wire.ask(kGet + kGet + kGet);
    EXPECT_TRUE(wire.is_gone());
    ReplyReader reader;
    reader.add(bytes);
    const auto first = reader.next();
    ASSERT_TRUE(first) << "answers before the failed one are still owed";
    EXPECT_EQ(first->body, "before");
    EXPECT_FALSE(reader.next({.is_ended = true}));
  }
}

TEST(H1Write, AFileThatHasShrunkEndsTheConnection) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.reply(file_slice(1000, 0, 2000)); };
  const std::string bytes = wire.ask(kGet);
  EXPECT_TRUE(wire.is_gone());
  ReplyReader reader;
  reader.add(bytes);
  EXPECT_FALSE(reader.next());
}

TEST(H1Write, SendsFilesOfAnySize) {
  for (std::size_t size : {1u, 65'536u, 65'537u, 1'000'000u}) {
    H1Wire wire;
    wire.service.handler = [&](Exchange& exchange) {
      Chain chain;
      chain.append(Slice::literal("<"));
      chain.append(file_slice(size + 10, 10, size));
      chain.append(Slice::literal(">"));
      exchange.reply(Body(std::move(chain)));
    };
    EXPECT_TRUE(reply_of(wire.ask(kGet)).body == "<" + pattern(size, 10) + ">") << size;
  }
}

TEST(H1Write, SizesAroundABlocksBorder) {
  for (std::size_t size : {0u, 1u, 1023u, 1024u, 1025u, 4096u, 16'190u, 16'191u, 16'192u, 16'193u, 16'383u, 16'384u,
                           16'385u, 32'768u, 1'048'576u}) {
    for (int kind = 0; kind < 4; ++kind) {
      H1Wire wire;
      wire.service.handler = [&](Exchange& exchange) {
        const std::string body = pattern(size);
        switch (kind) {
          case 0: exchange.reply(Slice::of(body)); break;
          case 1: exchange.reply(Slice::borrowed(body)); break;
          case 2: exchange.reply(Slice::shared(body)); break;
          default: exchange.reply(Body(SourcePtr(new PatternSource(size, 1'000'000)))); break;
        }
      };
      const auto replies = replies_of(wire.ask(kGet + kGet));
      ASSERT_EQ(replies.size(), 2u);
      EXPECT_TRUE(replies[0].body == pattern(size)) << size << " kind " << kind;
      EXPECT_TRUE(replies[1].body == pattern(size)) << size << " kind " << kind;
    }
  }
}

// Fields that fill and overflow the output block, beside a second answer.
TEST(H1Write, HeadsAroundABlocksBorder) {
  for (std::size_t size = 15'000; size < 16'600; size += 7) {
    H1Wire wire;
    wire.service.handler = [&](Exchange& exchange) {
      ASSERT_TRUE(exchange.response().fields.add("X-Long", std::string(size, 'v')));
      exchange.reply(Slice::literal("body"));
    };
    const auto replies = replies_of(wire.ask(kGet + kGet));
    ASSERT_EQ(replies.size(), 2u);
    EXPECT_EQ(replies[1].field("x-long").size(), size);
    EXPECT_EQ(replies[1].body, "body");
  }
}

TEST(H1Write, KeepsNothingOfWhatItHasSent) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::of(pattern(1'000'000))); };
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(reply_of(wire.ask(kGet)).body.size() == 1'000'000);
  EXPECT_LE(wire.site.exchanges.used_count(), 1u);
  EXPECT_LE(wire.shared.streams.used_count(), 1u);
  EXPECT_LE(wire.shared.blocks.used_count(), 2u);
}

}  // namespace
}  // namespace violet::test
