#include "violet/features/compress/codec/encoder.h"

#include "tests/compress/decode.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace violet::encoding {
namespace {

using http::Coding;

constexpr Coding kCodings[] = {Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd};

// Everything that one flush gives, `room` bytes at a time.
std::string steps(Encoder& encoder, std::string_view in, Flush flush, std::size_t room) {
  std::string out;
  std::string piece(room, 0);
  for (Step step; !step.is_done;) {
    step = encoder.step(in, flush, piece.data(), room);
    EXPECT_FALSE(step.has_failed);
    if (step.has_failed) break;
    in.remove_prefix(step.read_bytes);
    out.append(piece, 0, step.written_bytes);
  }
  return out;
}

TEST(Encoder, EncodesWholeBodiesOfAnySize) {
  for (const Coding coding : kCodings) {
    const auto encoder = make_encoder(coding, 5);
    for (const std::size_t size : {1u, 2u, 100u, 4096u, 16384u, 70000u, 1u << 20}) {
      const std::string text = sample(size);
      std::string out(size + 1024, 0);
      const std::size_t written = encoder->encode(text, out.data(), out.size());
      ASSERT_GT(written, 0u) << http::name(coding) << " " << size;
      EXPECT_EQ(decode(coding, {out.data(), written}), text) << http::name(coding) << " " << size;
    }
  }
}

TEST(Encoder, SaysThatThereWasNoRoom) {
  const std::string text = sample(5000);
  for (const Coding coding : kCodings) {
    const auto encoder = make_encoder(coding, 5);
    std::string out(5000, 0);
    EXPECT_EQ(encoder->encode(text, out.data(), 100), 0u) << http::name(coding);
    // And is as good as new afterwards.
    const std::size_t written = encoder->encode(text, out.data(), out.size());
    EXPECT_EQ(decode(coding, {out.data(), written}), text) << http::name(coding);
  }
}

TEST(Encoder, GivesTheSameTextHoweverItIsCut) {
  const std::string text = sample(40000);
  for (const Coding coding : kCodings) {
    const auto encoder = make_encoder(coding, 4);
    for (const std::size_t piece : {1u, 7u, 1000u, 30000u}) {
      for (const std::size_t room : {Encoder::kRoomMin, std::size_t{100}, std::size_t{65536}}) {
        ASSERT_TRUE(encoder->begin(Encoder::kUnknown));
        std::string out;
        std::string_view rest = text;
        for (; rest.size() > piece; rest.remove_prefix(piece)) {
          out += steps(*encoder, rest.substr(0, piece), Flush::None, room);
        }
        out += steps(*encoder, rest, Flush::End, room);
        ASSERT_EQ(decode(coding, out), text) << http::name(coding) << " " << piece << " " << room;
      }
    }
  }
}

TEST(Encoder, LetsTheClientReadAllThatIsFlushed) {
  const auto encoder = make_encoder(Coding::Gzip, 6);
  ASSERT_TRUE(encoder->begin(Encoder::kUnknown));
  std::string out = steps(*encoder, "event 1\n", Flush::Sync, 1000);
  EXPECT_EQ(decode_part(out), "event 1\n");
  out += steps(*encoder, "event 2\n", Flush::Sync, Encoder::kRoomMin);
  EXPECT_EQ(decode_part(out), "event 1\nevent 2\n");
  out += steps(*encoder, {}, Flush::End, 1000);
  EXPECT_EQ(decode(Coding::Gzip, out), "event 1\nevent 2\n");
}

TEST(Encoder, TakesLevelsBeyondTheLibrarysAsItsLast) {
  const std::string text = sample(3000);
  for (const Coding coding : kCodings) {
    for (const int level : {-100, 100}) {
      const auto encoder = make_encoder(coding, level);
      std::string out(5000, 0);
      EXPECT_EQ(decode(coding, {out.data(), encoder->encode(text, out.data(), out.size())}), text);
    }
  }
}

}  // namespace
}  // namespace violet::encoding
