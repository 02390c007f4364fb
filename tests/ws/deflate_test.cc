// permessage-deflate: what is agreed upon, and messages that pass through it.

#include "violet/ws/deflate/deflate.h"

#include "violet/event/loop.h"
#include "violet/ws/pool/shared.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <zlib.h>

namespace violet::ws {
namespace {

struct Agreed {
  DeflateParams params;
  std::string answer;
};

Agreed agree(std::string_view offer, Compression wanted = {}) {
  Arena arena;
  http::Fields fields(arena);
  EXPECT_TRUE(fields.add("Sec-WebSocket-Extensions", offer));
  wanted.is_on = true;
  Agreed agreed;
  agreed.params = choose_deflate(fields, wanted, agreed.answer);
  return agreed;
}

constexpr Compression kKeeps{.keeps_own_context = true, .lets_peer_keep_context = true};

// Each parameter alone and together (RFC 7692 §7.1).
TEST(WsDeflateParams, AnOfferIsTakenWithinItsBounds) {
  EXPECT_EQ(agree("permessage-deflate", kKeeps).answer, "permessage-deflate");
  EXPECT_EQ(agree("permessage-deflate").answer,
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover");
  EXPECT_EQ(agree("permessage-deflate; server_no_context_takeover", kKeeps).answer,
            "permessage-deflate; server_no_context_takeover");
  EXPECT_FALSE(agree("permessage-deflate; server_no_context_takeover", kKeeps).params.keeps_own);
  EXPECT_EQ(agree("permessage-deflate; client_no_context_takeover", kKeeps).answer,
            "permessage-deflate; client_no_context_takeover");
  EXPECT_EQ(agree("permessage-deflate; server_max_window_bits=10", kKeeps).answer,
            "permessage-deflate; server_max_window_bits=10");
  EXPECT_EQ(agree("permessage-deflate; server_max_window_bits=10", kKeeps).params.own_bits, 10);
  EXPECT_EQ(agree("permessage-deflate; server_max_window_bits=\"10\"", kKeeps).params.own_bits, 10);
  EXPECT_EQ(agree("permessage-deflate; client_max_window_bits", kKeeps).answer, "permessage-deflate");
  EXPECT_EQ(agree("permessage-deflate; client_max_window_bits=9", kKeeps).answer,
            "permessage-deflate; client_max_window_bits=9");
  EXPECT_EQ(agree("permessage-deflate; client_max_window_bits=8", kKeeps).params.peer_bits, 8);
  Compression narrow = kKeeps;
  narrow.peer_window_bits = 11;
  narrow.own_window_bits = 12;
  EXPECT_EQ(agree("permessage-deflate; client_max_window_bits", narrow).answer,
            "permessage-deflate; server_max_window_bits=12; client_max_window_bits=11");
  // Without the client's word its window stays as it is.
  EXPECT_EQ(agree("permessage-deflate", narrow).answer, "permessage-deflate; server_max_window_bits=12");
  EXPECT_EQ(agree("permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
                  "server_max_window_bits=9; client_max_window_bits=15",
                  kKeeps)
                .answer,
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=9");
}

TEST(WsDeflateParams, AnOfferThatCannotBeKeptToIsPassedOver) {
  for (const char* offer :
       {"permessage-deflate; server_max_window_bits=8", "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits=7", "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=010", "permessage-deflate; client_max_window_bits=16",
        "permessage-deflate; client_max_window_bits=", "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; client_max_window_bits; client_max_window_bits", "permessage-deflate; unknown",
        "permessage-deflate;", "x-webkit-deflate-frame", "permessage-bzip2"}) {
    EXPECT_FALSE(agree(offer).params.is_on) << offer;
    EXPECT_EQ(agree(offer).answer, "") << offer;
  }
  EXPECT_EQ(agree("permessage-deflate; server_max_window_bits=8, permessage-deflate; server_max_window_bits=9", kKeeps)
                .answer,
            "permessage-deflate; server_max_window_bits=9");
}

std::optional<DeflateParams> answered(std::string_view answer, Compression wanted = kKeeps) {
  Arena arena;
  http::Fields fields(arena);
  if (!answer.empty()) EXPECT_TRUE(fields.add("Sec-WebSocket-Extensions", answer));
  wanted.is_on = true;
  return read_deflate_answer(fields, wanted);
}

TEST(WsDeflateParams, AClientTakesOnlyWhatItHasOffered) {
  EXPECT_FALSE(answered("")->is_on);
  EXPECT_TRUE(answered("permessage-deflate")->is_on);
  EXPECT_EQ(answered("permessage-deflate; client_max_window_bits=10")->own_bits, 10);
  EXPECT_EQ(answered("permessage-deflate; server_max_window_bits=10")->peer_bits, 10);
  EXPECT_FALSE(answered("permessage-deflate; client_no_context_takeover")->keeps_own);
  for (const char* wrong :
       {"permessage-deflate, permessage-deflate", "permessage-bzip2", "permessage-deflate; client_max_window_bits",
        "permessage-deflate; client_max_window_bits=8", "permessage-deflate; more",
        "permessage-deflate; server_max_window_bits=16"}) {
    EXPECT_FALSE(answered(wrong)) << wrong;
  }
  Compression strict = kKeeps;
  strict.lets_peer_keep_context = false;
  EXPECT_FALSE(answered("permessage-deflate", strict)) << "the server keeps a window it was asked to forget";
  EXPECT_TRUE(answered("permessage-deflate; server_no_context_takeover", strict));
}

class WsDeflate : public testing::Test {
 protected:
  std::string deflate(Deflater& deflater, std::string_view text, std::size_t piece = ~std::size_t{0}) {
    Assembly out;
    for (std::size_t at = 0;; at += piece) {
      const bool is_last = piece >= text.size() - at;
      deflater.add(text.substr(at, piece), is_last, shared_, out);
      if (is_last) break;
    }
    return {out.buffer->data(), out.size};
  }
  std::optional<std::string> inflate(Inflater& inflater, std::string_view bytes, std::size_t piece = ~std::size_t{0}) {
    Assembly out;
    const Inflater::Caps caps{.bytes_max = bytes_max_, .ratio_max = ratio_max_};
    verdict_ = Inflater::Verdict::Good;
    for (std::size_t at = 0; at < bytes.size() && verdict_ == Inflater::Verdict::Good;) {
      verdict_ = inflater.add(bytes.substr(at, piece), caps, shared_, out);
      at += std::min(piece, bytes.size() - at);
    }
    if (verdict_ == Inflater::Verdict::Good) verdict_ = inflater.finish(caps, shared_, out);
    inflated_bytes_ = out.size;
    if (verdict_ != Inflater::Verdict::Good) return std::nullopt;
    return std::string(out.buffer->data(), out.size);
  }

  Loop loop_;
  Shared& shared_ = loop_.local<Shared>();
  std::uint64_t bytes_max_ = 1 << 20;
  std::uint64_t ratio_max_ = 0;
  Inflater::Verdict verdict_ = Inflater::Verdict::Good;
  std::size_t inflated_bytes_ = 0;
};

TEST_F(WsDeflate, InflateUndoesDeflateInAnyPiecesAndWindows) {
  std::mt19937 random(4);
  for (int bits = 9; bits <= 15; ++bits) {
    Deflater deflater(bits, 6);
    Inflater inflater(bits);
    for (int round = 0; round < 40; ++round) {
      std::string text;
      for (std::size_t count = random() % 400; count > 0; --count)
        text += random() % 3 == 0 ? "hello world " : std::to_string(random());
      const std::string bytes = deflate(deflater, text, 1 + random() % 1000);
      EXPECT_EQ(inflate(inflater, bytes, 1 + random() % 100), text);
    }
  }
}

// RFC 7692 §7.2.3.
TEST_F(WsDeflate, TheExamplesOfTheRfc) {
  Inflater inflater(15);
  EXPECT_EQ(inflate(inflater, "\xf2\x48\xcd\xc9\xc9\x07\x00"), std::nullopt) << "a literal ends at its zero";
  inflater.reset();
  const std::string first("\xf2\x48\xcd\xc9\xc9\x07\x00", 7);
  EXPECT_EQ(inflate(inflater, first), "Hello");
  EXPECT_EQ(inflate(inflater, std::string("\xf2\x00\x11\x00\x00", 5)), "Hello") << "with the window of the first";
  EXPECT_EQ(inflate(inflater, std::string("\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", 11)), "Hello") << "stored";
  EXPECT_EQ(inflate(inflater, std::string("\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 8)), "Hello") << "a final block";
  EXPECT_EQ(inflate(inflater, std::string("\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", 13)), "Hello")
      << "two blocks";
  EXPECT_EQ(inflate(inflater, std::string("\x00", 1)), "");
}

// A raw stream of its own that ends with a final block, and may refer to what stood before it.
std::string final_stream(std::string_view text, std::string_view window) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  if (!window.empty()) {
    deflateSetDictionary(&z, reinterpret_cast<const Bytef*>(window.data()), static_cast<uInt>(window.size()));
  }
  std::string out(text.size() + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

TEST_F(WsDeflate, FinalBlocksKeepTheWindow) {
  const std::string text = "0f8a 77c1 bb02 9e4d 31e6 c85f";
  const std::string behind = final_stream(text, text);
  ASSERT_LT(behind.size(), text.size() / 2);  // it refers to the window
  std::string many;
  for (int i = 0; i < 1000; ++i) many.append("\x03\x00", 2);  // empty final blocks
  Inflater inflater(15);
  EXPECT_EQ(inflate(inflater, final_stream(text, "") + many + behind + std::string(1, '\0')), text + text);
}

TEST_F(WsDeflate, EmptyMessagesAreOneByteEverAgain) {
  Deflater deflater(15, 6);
  Inflater inflater(15);
  for (int i = 0; i < 3; ++i) {
    const std::string bytes = deflate(deflater, "");
    EXPECT_EQ(bytes, std::string(1, '\0'));
    EXPECT_EQ(inflate(inflater, bytes), "");
    EXPECT_EQ(inflate(inflater, deflate(deflater, "text")), "text");
  }
}

TEST_F(WsDeflate, ACutMessageIsFoundWhereverItIsCut) {
  Deflater deflater(15, 6);
  std::string text;
  for (int i = 0; i < 200; ++i) text += std::to_string(i * 7919) + " ";
  const std::string bytes = deflate(deflater, text);
  int found = 0;
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    Inflater inflater(15);
    const auto seen = inflate(inflater, std::string_view(bytes).substr(0, cut));
    found += !seen;
    EXPECT_NE(seen, text);
  }
  EXPECT_EQ(found, static_cast<int>(bytes.size()) - 1);
}

TEST_F(WsDeflate, ABombEndsAtTheCap) {
  Deflater deflater(15, 9);
  const std::string bytes = deflate(deflater, std::string(16 << 20, 'x'));
  EXPECT_LT(bytes.size(), 20'000u);
  Inflater inflater(15);
  EXPECT_EQ(inflate(inflater, bytes), std::nullopt);
  EXPECT_EQ(verdict_, Inflater::Verdict::TooLarge);
  EXPECT_EQ(inflated_bytes_, bytes_max_ + 1) << "no more was inflated than it took to see";
  inflater.reset();
  bytes_max_ = 1 << 30;
  ratio_max_ = 100;
  EXPECT_EQ(inflate(inflater, bytes), std::nullopt);
  EXPECT_EQ(verdict_, Inflater::Verdict::TooLarge);
  EXPECT_LE(inflated_bytes_, 100u * 20'000 + (64 << 10));
}

TEST_F(WsDeflate, WhatIsNoDeflateStreamIsBad) {
  Inflater inflater(15);
  EXPECT_EQ(inflate(inflater, "\xff\xff\xff"), std::nullopt);
  EXPECT_EQ(verdict_, Inflater::Verdict::Bad);
}

TEST_F(WsDeflate, ThePoolGivesThemBackAsNew) {
  DeflatePool pool;
  auto deflater = pool.take_deflater(15, 1);
  const std::string first = deflate(*deflater, "some text, some text");
  pool.give(std::move(deflater));
  deflater = pool.take_deflater(15, 1);
  EXPECT_EQ(deflate(*deflater, "some text, some text"), first) << "nothing of the first message is known";
  EXPECT_FALSE(pool.take_deflater(10, 1)->is_like(15, 1));
}

}  // namespace
}  // namespace violet::ws
