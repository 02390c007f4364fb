#include "violet/net/io/output.h"

#include "tests/support/script.h"
#include "violet/event/loop.h"
#include "violet/net/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <string>
#include <unistd.h>

namespace violet::net {
namespace {

using test::pattern;

// Takes the session's place beside a transport in memory.
struct Wire {
  Wire() : transport(MemoryTransport::make(loop)) {}
  ~Wire() { transport->close(); }
  Output::Flushed flush() {
    std::uint64_t more = 0;
    const std::size_t before = transport->written().size();
    const auto result = output.flush(*transport, more);
    EXPECT_EQ(transport->written().size() - before, more) << "what was written is what is counted";
    written += more;
    return result;
  }
  Loop loop;
  BlockPool blocks;
  Output output{blocks};
  Ref<MemoryTransport> transport;
  std::uint64_t written = 0;
};

Slice file_of(const std::string& text, std::size_t from, std::size_t size) {
  char path[] = "/tmp/violet_output_test_XXXXXX";
  const int descriptor = ::mkstemp(path);
  ::unlink(path);
  EXPECT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  FileBuffer* file = FileBuffer::make(descriptor);
  Slice slice = Slice::file(*file, from, size);
  file->release();
  return slice;
}

// Random pieces of every kind; returns what has to come out.
std::string fill(Output& output, std::mt19937& random) {
  std::string expected;
  const auto count = 1 + random() % 12;
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t sizes[] = {0, 1, 10, 1023, 1024, 1025, 5000, 16'000, 20'000};
    const std::string text = pattern(sizes[random() % 9], random() % 251);
    switch (random() % 5) {
      case 0: output.copy(text); break;
      case 1: output.append(Slice::of(text)); break;
      case 2: output.append(Slice::borrowed(text)); break;
      case 3:
        if (text.empty()) break;
        output.append(file_of("xxxxx" + text + "y", 5, text.size()));
        break;
      default:
        if (text.size() > Block::capacity()) {
          output.copy(text);
        } else {
          std::memcpy(output.reserve(text.size()), text.data(), text.size());
          output.commit(text.size());
        }
    }
    expected += text;
  }
  return expected;
}

TEST(H1Output, WritesEveryMixOfPiecesInOrderWhateverTheRoom) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    Wire wire;
    std::string expected = fill(wire.output, random);
    EXPECT_EQ(wire.output.size(), expected.size());
    wire.transport->set_room(random() % 3000);
    for (int turn = 0; turn < 10'000; ++turn) {
      const auto result = wire.flush();
      ASSERT_NE(result, Output::Flushed::Failed);
      ASSERT_EQ(wire.output.size(), expected.size() - wire.written);
      if (result == Output::Flushed::All) break;
      // More may be added while the wire is full.
      if (turn < 100 && random() % 8 == 0) expected += fill(wire.output, random);
      wire.transport->set_room(1 + random() % (seed % 2 == 0 ? 100'000 : 2000));
    }
    ASSERT_TRUE(wire.output.is_empty());
    ASSERT_TRUE(wire.transport->written() == expected) << seed;
  }
}

TEST(H1Output, AShortWriteAtEveryByteLosesNothing) {
  for (std::size_t cut = 0; cut <= 5100; ++cut) {
    Wire wire;
    wire.output.copy(pattern(50));
    wire.output.append(Slice::of(pattern(2000, 50)));
    wire.output.append(file_of(pattern(3000), 50, 2000));
    wire.output.copy(pattern(1000, 40));
    const std::string expected = pattern(2050) + pattern(2000, 50) + pattern(1000, 40);
    wire.transport->set_room(cut);
    EXPECT_EQ(wire.flush(), cut >= expected.size() ? Output::Flushed::All : Output::Flushed::Blocked) << cut;
    ASSERT_EQ(wire.written, std::min(cut, expected.size()));
    wire.transport->set_room(1'000'000);
    while (wire.flush() == Output::Flushed::Blocked) {
    }
    ASSERT_TRUE(wire.transport->written() == expected) << cut;
  }
}

TEST(H1Output, ManySlicesLeaveInFewWrites) {
  Wire wire;
  std::string expected;
  for (std::size_t i = 0; i < 200; ++i) {
    wire.output.append(Slice::of(pattern(1100, i)));
    expected += pattern(1100, i);
  }
  EXPECT_EQ(wire.flush(), Output::Flushed::All);
  EXPECT_TRUE(wire.transport->written() == expected);
  EXPECT_LE(wire.transport->write_count(), 5u);
}

TEST(H1Output, AFileThatEndsEarlyFails) {
  Wire wire;
  wire.output.append(file_of("short", 0, 100));
  Output::Flushed result;
  while ((result = wire.flush()) == Output::Flushed::Blocked) {
  }
  EXPECT_EQ(result, Output::Flushed::Failed);
  EXPECT_EQ(wire.output.error().kind(), ErrorKind::Closed);
  wire.output.clear();
  EXPECT_TRUE(wire.output.is_empty());
}

TEST(H1Output, ABrokenWireFailsWithItsError) {
  Wire wire;
  wire.transport->shutdown();
  wire.output.copy("x");
  EXPECT_EQ(wire.flush(), Output::Flushed::Failed);
  EXPECT_EQ(wire.output.error().kind(), ErrorKind::System);
  wire.output.clear();
}

TEST(H1Output, MovesEverythingBehindAnother) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    Wire wire;
    std::string expected = fill(wire.output, random);
    {
      Output early(wire.blocks);
      expected += fill(early, random);
      early.move_to(wire.output);
      EXPECT_TRUE(early.is_empty());
    }
    while (wire.flush() == Output::Flushed::Blocked) {
    }
    ASSERT_TRUE(wire.transport->written() == expected) << seed;
  }
}

TEST(H1Output, ClearForgetsAndGivesBack) {
  Wire wire;
  std::mt19937 random(1);
  fill(wire.output, random);
  wire.output.clear();
  EXPECT_TRUE(wire.output.is_empty());
  EXPECT_EQ(wire.output.size(), 0u);
  wire.output.copy("after");
  EXPECT_EQ(wire.flush(), Output::Flushed::All);
  EXPECT_EQ(wire.transport->written(), "after");
}

}  // namespace
}  // namespace violet::net
