// permessage-deflate (RFC 7692): groups 12 and 13 of the Autobahn suite as cases of our own: messages of many sizes and
// kinds through every set of parameters, over each wire and to our client, against zlib by itself as the peer.

#include "tests/conformance/websocket/rig.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <zlib.h>

namespace violet::test {
namespace {

constexpr std::string_view kTail("\x00\x00\xff\xff", 4);  // RFC 7692 §7.2.1

// One direction of a peer.
class Deflate {
 public:
  Deflate(int bits, bool keeps) : keeps_(keeps) {
    EXPECT_EQ(deflateInit2(&stream_, 6, Z_DEFLATED, -bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  }
  Deflate(const Deflate&) = delete;
  Deflate& operator=(const Deflate&) = delete;
  ~Deflate() { deflateEnd(&stream_); }
  std::string operator()(std::string_view text) {
    if (text.empty()) return std::string(1, '\0');  // RFC 7692 §7.2.3.6
    std::string out(2 * text.size() + 200, '\0');
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream_, Z_SYNC_FLUSH), Z_OK);
    out.resize(out.size() - stream_.avail_out);
    EXPECT_TRUE(out.ends_with(kTail));
    out.resize(out.size() - kTail.size());
    if (!keeps_) deflateReset(&stream_);
    return out;
  }

 private:
  z_stream stream_{};
  bool keeps_;
};

class Inflate {
 public:
  Inflate(int bits, bool keeps) : keeps_(keeps) { EXPECT_EQ(inflateInit2(&stream_, -bits), Z_OK); }
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;
  ~Inflate() { inflateEnd(&stream_); }
  std::string operator()(std::string bytes, std::size_t size_max) {
    bytes += kTail;
    std::string out(size_max + 1, '\0');
    stream_.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int verdict = inflate(&stream_, Z_SYNC_FLUSH);
    EXPECT_TRUE(verdict == Z_OK || verdict == Z_BUF_ERROR) << verdict;
    EXPECT_EQ(stream_.avail_in, 0u);
    out.resize(out.size() - stream_.avail_out);
    if (!keeps_) inflateReset(&stream_);
    return out;
  }

 private:
  z_stream stream_{};
  bool keeps_;
};

// Parameters as a client offers them, and what they mean for who sends.
struct Parameters {
  std::string offer;
  int server_bits = 15;
  int client_bits = 15;
  bool server_keeps = true;
  bool client_keeps = true;
};
const Parameters kParameters[] = {
    {.offer = "permessage-deflate"},
    {.offer = "permessage-deflate; server_no_context_takeover", .server_keeps = false},
    {.offer = "permessage-deflate; client_no_context_takeover", .client_keeps = false},
    {.offer = "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
     .server_keeps = false,
     .client_keeps = false},
    {.offer = "permessage-deflate; server_max_window_bits=9", .server_bits = 9},
    {.offer = "permessage-deflate; client_max_window_bits=9", .client_bits = 9},
    {.offer = "permessage-deflate; server_max_window_bits=9; client_max_window_bits=9; server_no_context_takeover; "
              "client_no_context_takeover",
     .server_bits = 9,
     .client_bits = 9,
     .server_keeps = false,
     .client_keeps = false},
    {.offer = "permessage-deflate; server_max_window_bits=12; client_max_window_bits=11",
     .server_bits = 12,
     .client_bits = 11},
};

WebSocketOptions with_compression() {
  WebSocketOptions options;
  options.compression = {
      .is_on = true, .message_bytes_min = 0, .keeps_own_context = true, .lets_peer_keep_context = true};
  return options;
}

// A rig and its peer.
class Talk {
 public:
  Talk(Wire wire, const Parameters& with)
      : rig_(make_rig(wire, with_compression(), "Sec-WebSocket-Extensions: " + with.offer + "\r\n")),
        deflate_(wire == Wire::Client ? with.server_bits : with.client_bits,
                 wire == Wire::Client ? with.server_keeps : with.client_keeps),
        inflate_(wire == Wire::Client ? with.client_bits : with.server_bits,
                 wire == Wire::Client ? with.client_keeps : with.server_keeps) {}

  // Sends it compressed, in frames of `frame_bytes`, and expects it back.
  void expect_echo(std::uint8_t opcode, const std::string& message, std::size_t frame_bytes, const std::string& what) {
    const std::string bytes = deflate_(message);
    std::string frames;
    for (std::size_t at = 0; at < bytes.size(); at += frame_bytes) {
      const bool is_last = bytes.size() - at <= frame_bytes;
      const unsigned first = at == 0 ? opcode | ws::kRsv1 : unsigned{ws::kContinuation};
      frames += masked(static_cast<std::uint8_t>(first | (is_last ? ws::kFin : 0)), bytes.substr(at, frame_bytes));
    }
    rig_->send(frames);
    const Frames seen = rig_->frames();
    ASSERT_EQ(seen.size(), 1u) << what;
    // What does not shrink may go as it is.
    const bool is_compressed = (seen[0].first & ws::kRsv1) != 0;
    EXPECT_EQ(seen[0].first & ~ws::kRsv1, ws::kFin | opcode) << what;
    const std::string back = is_compressed ? inflate_(seen[0].payload, message.size()) : seen[0].payload;
    EXPECT_TRUE(back == message) << what << ": " << back.size() << " of " << message.size() << " bytes";
    compressed_count_ += is_compressed;
  }
  [[nodiscard]] int compressed_count() const { return compressed_count_; }
  Rig& rig() { return *rig_; }

 private:
  std::unique_ptr<Rig> rig_;
  Deflate deflate_;
  Inflate inflate_;
  int compressed_count_ = 0;
};

std::string sentences(std::size_t size, std::mt19937& random) {
  constexpr std::string_view kWords[] = {"frame ", "socket ", "gr\xc3\xbc\xc3\x9f", "\xe2\x82\xac ", "message ", "\n"};
  std::string text;
  while (text.size() < size) text += kWords[random() % std::size(kWords)];
  return text;
}
std::string noise(std::size_t size, std::mt19937& random) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(random());
  return bytes;
}

TEST(WsCompression, MessagesOfEverySizePassThroughEverySetOfParameters) {
  std::mt19937 random(12);
  for (const Wire wire : kWires) {
    for (const Parameters& with : kParameters) {
      Talk talk(wire, with);
      for (const std::size_t size : {0u, 1u, 16u, 64u, 256u, 1024u, 4096u, 8192u, 16384u, 32768u, 65536u, 131072u}) {
        const std::string what = std::string(name_of(wire)) + ", " + with.offer + ", " + std::to_string(size);
        for (int i = 0; i < 3; ++i) {
          talk.expect_echo(ws::kText, sentences(size, random), ~std::size_t{0}, what + ", text");
          talk.expect_echo(ws::kBinary, noise(size, random), ~std::size_t{0}, what + ", noise");
        }
        if (HasFailure()) return;
      }
      EXPECT_GT(talk.compressed_count(), 20) << "compression was at work";
    }
  }
}

TEST(WsCompression, CompressedMessagesMayComeInFragments) {
  std::mt19937 random(13);
  for (const Wire wire : kWires) {
    for (const Parameters& with : kParameters) {
      Talk talk(wire, with);
      for (const std::size_t frame_bytes : {1u, 7u, 256u, 4096u}) {
        const std::string what = std::string(name_of(wire)) + ", " + with.offer + ", by " + std::to_string(frame_bytes);
        talk.expect_echo(ws::kText, sentences(20'000, random), frame_bytes, what);
        talk.expect_echo(ws::kBinary, std::string(5000, 'x'), frame_bytes, what);
        talk.expect_echo(ws::kText, "", frame_bytes, what);
      }
    }
  }
}

TEST(WsCompression, WhatIsNotCompressedPassesToo) {
  for (const Wire wire : kWires) {
    Talk talk(wire, kParameters[0]);
    talk.rig().send(masked(kTextFrame, "plain") + masked(kPingFrame, "p"));
    const Frames seen = talk.rig().frames();
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[1], (SeenFrame{kPongFrame, "p"})) << "control frames are never compressed";
    talk.expect_echo(ws::kText, "compressed behind it", 1000, "mixed");
  }
}

// What has to come back for bytes that no peer may send.
int close_code_for(Wire wire, const std::string& bytes, WebSocketOptions options = with_compression()) {
  int code = 0;
  for (std::size_t cut = 0; cut < std::min<std::size_t>(bytes.size(), 60); ++cut) {
    const auto one = make_rig(wire, options, "Sec-WebSocket-Extensions: permessage-deflate\r\n");
    one->send_pieces({std::string_view(bytes).substr(0, cut), std::string_view(bytes).substr(cut)});
    const Frames seen = one->frames();
    const int found = seen.empty() ? 0 : close_code_of(seen.back());
    EXPECT_TRUE(cut == 0 || found == code) << "cut at " << cut;
    code = found;
  }
  return code;
}

TEST(WsCompression, Rsv1IsForTheFirstFrameOfAMessageOnly) {
  for (const Wire wire : kWires) {
    const std::string begun = masked(ws::kText | ws::kRsv1, "\xf2\x48");
    EXPECT_EQ(close_code_for(wire, begun + masked(0xc0, "\xcd\xc9")), 1002) << "continuation";
    EXPECT_EQ(close_code_for(wire, masked(kPingFrame | ws::kRsv1, "x")), 1002) << "ping";
    EXPECT_EQ(close_code_for(wire, masked(kPongFrame | ws::kRsv1, "x")), 1002) << "pong";
    EXPECT_EQ(close_code_for(wire, masked(kCloseFrame | ws::kRsv1, close_payload(1000))), 1002) << "close";
    EXPECT_EQ(close_code_for(wire, masked(kTextFrame | 0x20, "x")), 1002) << "RSV2";
    EXPECT_EQ(close_code_for(wire, masked(kTextFrame | 0x10, "x")), 1002) << "RSV3";
  }
}

TEST(WsCompression, WhatIsNoDeflateStreamOrEndsTooSoonIs1007) {
  const std::string hello("\xf2\x48\xcd\xc9\xc9\x07\x00", 7);
  for (const Wire wire : kWires) {
    EXPECT_EQ(close_code_for(wire, masked(kTextFrame | ws::kRsv1, "\xff\xff\xff\xff")), 1007) << "nonsense";
    for (std::size_t size = 0; size + 1 < hello.size(); ++size) {
      EXPECT_EQ(close_code_for(wire, masked(kTextFrame | ws::kRsv1, hello.substr(0, size))), 1007)
          << "cut after " << size;
    }
    Deflate deflate(15, false);
    EXPECT_EQ(close_code_for(wire, masked(kTextFrame | ws::kRsv1, deflate("\xed\xa0\x80"))), 1007) << "no UTF-8 inside";
  }
}

TEST(WsCompression, ABombIs1009BeforeItIsInflatedWhole) {
  Deflate deflate(15, false);
  const std::string bomb = deflate(std::string(32 << 20, '\0'));
  ASSERT_LT(bomb.size(), 40'000u);
  WebSocketOptions options = with_compression();
  options.message_bytes_max = 1 << 20;
  for (const Wire wire : kWires) {
    EXPECT_EQ(close_code_for(wire, masked(kBinaryFrame | ws::kRsv1, bomb), options), 1009);
    // In fragments, whose sum on the wire is small.
    std::string fragments;
    for (std::size_t at = 0; at < bomb.size(); at += 1000) {
      const unsigned first = at == 0 ? ws::kBinary | ws::kRsv1 : unsigned{ws::kContinuation};
      fragments += masked(static_cast<std::uint8_t>(first), bomb.substr(at, 1000));
    }
    EXPECT_EQ(close_code_for(wire, fragments, options), 1009) << name_of(wire);
  }
}

}  // namespace
}  // namespace violet::test
