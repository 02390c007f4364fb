// What the encoder chooses to write, and that the decoder reads it back.

#include "tests/hpack/blocks.h"
#include "violet/hpack/integer.h"

#include <gtest/gtest.h>

namespace violet::test {
namespace {

using hpack::Decoder;
using hpack::Encoder;
using hpack::Pseudo;
using hpack::Verdict;
using http::FieldId;
using Lines = std::vector<std::string>;

// Both ends of a connection.
struct Pair {
  Encoder encoder;
  Decoder decoder;
  std::string block;  // the last one

  template <class Put>
  Lines send(Put put, std::size_t room = 8192) {
    // Exactly what bound() promises is enough, so that a sanitizer sees more.
    const auto out = std::make_unique<char[]>(room);
    char* p = encoder.begin(out.get());
    p = put(p);
    block.assign(out.get(), p);
    const Decoded decoded = decode(decoder, block);
    EXPECT_EQ(decoded.verdict, Verdict::Done);
    EXPECT_EQ(encoder.table().size(), decoder.table().size());
    EXPECT_EQ(encoder.table().count(), decoder.table().count());
    return decoded.lines();
  }
  Lines send(const http::Field& field) {
    return send([&](char* p) { return encoder.field(p, field); },
                Encoder::kBeginBytesMax + Encoder::bound(field.name.size(), field.value.size()));
  }
  Lines send(FieldId id, std::string_view value) {
    return send([&](char* p) { return encoder.field(p, id, value); },
                Encoder::kBeginBytesMax + Encoder::bound(http::name(id).size(), value.size()));
  }
  Lines send_answer() {
    return send([&](char* p) {
      p = encoder.status(p, 200);
      p = encoder.field(p, FieldId::Date, "Mon, 30 Nov 2026 18:00:00 GMT");
      p = encoder.field(p, FieldId::ContentType, "text/plain; charset=utf-8");
      return encoder.field(p, FieldId::ContentLength, "2");
    });
  }
};

TEST(HpackEncoder, WritesARepeatedAnswerInOneByteALine) {
  Pair pair;
  const Lines lines = pair.send_answer();
  EXPECT_EQ(lines, (Lines{":status: 200", "date: Mon, 30 Nov 2026 18:00:00 GMT",
                          "content-type: text/plain; charset=utf-8", "content-length: 2"}));
  pair.send_answer();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pair.send_answer(), lines);
    EXPECT_EQ(pair.block.size(), 4u);
  }
}

TEST(HpackEncoder, WritesEveryStatus) {
  Pair pair;
  for (int round = 0; round < 2; ++round) {
    for (int code = 100; code <= 999; ++code) {
      EXPECT_EQ(pair.send([&](char* p) { return pair.encoder.status(p, code); }),
                Lines{":status: " + std::to_string(code)});
    }
  }
  for (const int code : {200, 204, 206, 304, 400, 404, 500}) {
    pair.send([&](char* p) { return pair.encoder.status(p, code); });
    EXPECT_EQ(pair.block.size(), 1u) << code;
  }
}

TEST(HpackEncoder, KeepsValuesThatChangeOutOfTheTableUntilTheyComeTwice) {
  Pair pair;
  for (int i = 0; i < 10; ++i) {
    const std::string length = std::to_string(1000 + i);
    EXPECT_EQ(pair.send(FieldId::ContentLength, length), Lines{"content-length: " + length});
  }
  EXPECT_EQ(pair.encoder.table().count(), 0u);
  pair.send(FieldId::ContentLength, "1009");
  EXPECT_EQ(pair.encoder.table().count(), 1u);
  pair.send(FieldId::ContentLength, "1009");
  EXPECT_EQ(pair.block, "\xbe");
  EXPECT_EQ(pair.send([&](char* p) { return pair.encoder.pseudo(p, Pseudo::Path, "/one"); }), Lines{":path: /one"});
  EXPECT_EQ(pair.encoder.table().count(), 1u);
}

TEST(HpackEncoder, NeverPutsASecretIntoTheTable) {
  const std::string long_cookie = "session=0123456789abcdef";
  for (const http::Field& field : {
           http::Field{.name = "Authorization", .value = "Basic QWxhZGRpbg==", .id = FieldId::Authorization},
           http::Field{.name = "Proxy-Authorization", .value = "Basic QQ==", .id = FieldId::ProxyAuthorization},
           http::Field{.name = "Set-Cookie", .value = long_cookie, .id = FieldId::SetCookie},
           http::Field{.name = "Cookie", .value = "short=1", .id = FieldId::Cookie},
           http::Field{.name = "X-Token", .value = "t", .is_sensitive = true},
           http::Field{.name = "ETag", .value = "\"1\"", .id = FieldId::ETag, .is_sensitive = true},
           http::Field{.name = "Accept-Encoding",
                       .value = "gzip, deflate",
                       .id = FieldId::AcceptEncoding,
                       .is_sensitive = true},
       }) {
    Pair pair;
    std::string name(field.name);
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(pair.send(field), Lines{name + ": " + std::string(field.value) + " (never)"});
      EXPECT_EQ(pair.encoder.table().count(), 0u);
    }
  }
  // Also a value that was none before.
  Pair pair;
  pair.send({.name = "X-Token", .value = "t"});
  EXPECT_EQ(pair.send({.name = "X-Token", .value = "t", .is_sensitive = true}), Lines{"x-token: t (never)"});
  pair.send(FieldId::Server, "violet");
  EXPECT_EQ(pair.send({.name = "Server", .value = "violet", .id = FieldId::Server, .is_sensitive = true}),
            Lines{"server: violet (never)"});
  EXPECT_EQ(pair.send([&](char* p) { return pair.encoder.pseudo(p, Pseudo::Method, "GET", true); }),
            Lines{":method: GET (never)"});
  // A cookie that cannot be guessed byte by byte may be.
  pair.send(FieldId::Cookie, long_cookie);
  pair.send(FieldId::Cookie, long_cookie);
  EXPECT_EQ(pair.block.size(), 1u);
}

TEST(HpackEncoder, WritesNamesInLowerCase) {
  Pair pair;
  EXPECT_EQ(pair.send({.name = "X-OWN-Name", .value = "V"}), Lines{"x-own-name: V"});
  EXPECT_EQ(pair.send({.name = "x-Own-name", .value = "V"}), Lines{"x-own-name: V"});
  EXPECT_EQ(pair.block.size(), 1u) << "the same name";
  EXPECT_EQ(pair.send({.name = "X-Own-Name", .value = "other"}), Lines{"x-own-name: other"});
  EXPECT_LT(pair.block.size(), 8u) << "the name by its index";
  const std::string name(1000, 'N');
  for (const bool is_sensitive : {false, true}) {
    EXPECT_EQ(pair.send({.name = name, .value = "v", .is_sensitive = is_sensitive}),
              Lines{std::string(1000, 'n') + (is_sensitive ? ": v (never)" : ": v")});
  }
}

TEST(HpackEncoder, CodesOnlyWhatGetsShorter) {
  Pair pair;
  const auto size = [&pair](std::string_view value) {
    pair.send(FieldId::ETag, value);
    return pair.block.size() - 3;  // a name index of two bytes, a length
  };
  EXPECT_EQ(size("0123456789"), 8u);
  EXPECT_EQ(size("{{{{{{{{{{"), 10u);
  EXPECT_EQ(size("1"), 1u);
  EXPECT_EQ(size(""), 0u);
  EXPECT_EQ(size("\xff\xff\xff\xff"), 4u);
}

TEST(HpackEncoder, LeavesLargeLinesOutOfTheTable) {
  Pair pair;
  pair.send(FieldId::Server, "violet");
  for (int i = 0; i < 3; ++i) pair.send(FieldId::Link, std::string(3500, 'l'));
  EXPECT_EQ(pair.encoder.table().count(), 1u);
  pair.send(FieldId::Link, std::string(2000, 'l'));
  EXPECT_EQ(pair.encoder.table().count(), 2u);
}

TEST(HpackEncoder, FindsAnOlderValueOfAName) {
  Pair pair;
  const auto type = [](int i) { return "text/" + std::to_string(i); };
  for (int i = 0; i < 5; ++i) pair.send(FieldId::ContentType, type(i));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(pair.send(FieldId::ContentType, type(i)), Lines{"content-type: " + type(i)});
    EXPECT_EQ(pair.block.size(), 1u);
  }
}

TEST(HpackEncoder, SignalsWhatItMakesOfThePeersTableSize) {
  Pair pair;
  const auto next = [&pair](std::vector<std::uint32_t> settings) {
    for (const std::uint32_t bytes : settings) {
      pair.encoder.set_peer_table_bytes_max(bytes);
      pair.decoder.set_table_bytes_max(std::min(bytes, hpack::DynamicTable::kCapacityMax));
    }
    EXPECT_EQ(pair.send(FieldId::Server, "violet"), Lines{"server: violet"});
    // What stands before the line.
    std::string updates;
    for (const char* p = pair.block.data(); (*p & 0xe0) == 0x20;) {
      std::uint32_t size;
      EXPECT_TRUE(hpack::read_integer(p, pair.block.data() + pair.block.size(), 5, size));
      updates += std::to_string(size) + " ";
    }
    return updates;
  };
  EXPECT_EQ(next({}), "");
  EXPECT_EQ(next({65'536}), "") << "more than we want";
  EXPECT_EQ(next({0xffffffff}), "");
  EXPECT_EQ(next({4096}), "");
  EXPECT_EQ(next({100}), "100 ");
  EXPECT_EQ(next({}), "");
  EXPECT_EQ(next({100}), "");
  EXPECT_EQ(next({4096}), "4096 ");
  EXPECT_EQ(next({0, 4096}), "0 4096 ") << "it was empty in between";
  EXPECT_EQ(next({200, 100}), "100 ");
  EXPECT_EQ(next({50, 200}), "50 200 ");
  EXPECT_EQ(next({1000, 300}), "300 ");
  EXPECT_EQ(next({0}), "0 ");
  EXPECT_EQ(next({}), "");
  EXPECT_EQ(pair.encoder.table().count(), 0u);
  EXPECT_EQ(next({10'000}), "4096 ");
}

// --- values that numbers stand for, and lines that are made once

TEST(HpackEncoder, WritesAKnownLengthAndDateInOneByte) {
  Pair pair;
  const auto send = [&](std::int64_t second, std::string_view date, std::uint64_t length) {
    return pair.send([&](char* p) { return pair.encoder.length(pair.encoder.date(p, second, date), length); });
  };
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(send(7, "the seventh", 16'384), (Lines{"date: the seventh", "content-length: 16384"}));
  }
  EXPECT_EQ(pair.block.size(), 2u);
  // Another number is another text, and the first one comes back.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(send(8, "the eighth", 0), (Lines{"date: the eighth", "content-length: 0"}));
  }
  EXPECT_EQ(pair.block.size(), 2u);
  EXPECT_EQ(send(7, "the seventh", 16'384), (Lines{"date: the seventh", "content-length: 16384"}));
}

TEST(HpackEncoder, ForgetsAKnownValueWithItsEntry) {
  Pair pair;
  const auto send = [&](std::uint64_t length) {
    return pair.send([&](char* p) { return pair.encoder.length(p, length); });
  };
  for (int i = 0; i < 3; ++i) send(5);
  // As many entries as it takes for the 16 bits by which the encoder knows its own to come round.
  for (int i = 0; i < 65'536; ++i) pair.send(FieldId::UserAgent, "agent " + std::to_string(i));
  EXPECT_EQ(send(5), Lines{"content-length: 5"});
  pair.encoder.set_peer_table_bytes_max(0);
  EXPECT_EQ(send(5), Lines{"content-length: 5"});
}

Ref<http::PreparedFields> prepared_of(const std::string& tag) {
  const http::PreparedFields::Line lines[] = {
      {FieldId::ContentType, "text/css"}, {FieldId::ETag, tag}, {FieldId::AcceptRanges, "bytes"}};
  return http::PreparedFields::make(lines);
}

TEST(HpackEncoder, WritesPreparedLinesAsAnyOthers) {
  Pair pair;
  std::vector<Ref<http::PreparedFields>> sets;
  for (int i = 0; i < 20; ++i) sets.push_back(prepared_of("tag " + std::to_string(i)));
  const auto send = [&](std::size_t i) {
    return pair.send([&](char* p) { return pair.encoder.prepared(p, *sets[i]); },
                     Encoder::kBeginBytesMax + Encoder::bound(*sets[i]));
  };
  const auto lines = [](std::size_t i) {
    return Lines{"content-type: text/css", "etag: tag " + std::to_string(i), "accept-ranges: bytes"};
  };
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(send(3), lines(3));
  }
  EXPECT_EQ(pair.block.size(), 3u) << "three indices";
  // Many in turn, with a table that changes in between, is emptied, and is as large as before.
  for (std::size_t i = 0; i < 2'000; ++i) {
    const std::size_t set = i * i % 20;
    EXPECT_EQ(send(set), lines(set));
    if (i % 3 == 0) pair.send(FieldId::UserAgent, "agent " + std::to_string(i / 9));
    if (i % 500 == 250) {
      pair.encoder.set_peer_table_bytes_max(0);
      pair.encoder.set_peer_table_bytes_max(4096);
    }
    if (i % 700 == 0) sets[set] = prepared_of("tag " + std::to_string(set));
  }
}

}  // namespace
}  // namespace violet::test
