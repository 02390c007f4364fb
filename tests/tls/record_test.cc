// The record layer of TLS 1.3 (RFC 8446 §5): what it takes, what it refuses and with which alert, and that nothing
// depends on how bytes come.

#include "tests/support/script.h"
#include "tests/tls/records.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <list>
#include <memory>

namespace violet::test {
namespace {

using tls::CipherPool;
using tls::RecordLayer;
using tls::Suite;
using tls::TrafficKeys;
using Verdict = RecordLayer::Verdict;

constexpr Suite kSuites[] = {Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::ChaCha20Poly1305};

struct Pair {
  explicit Pair(Suite suite = Suite::Aes128Gcm, std::uint64_t sent = 0) : layer(pool, suite), peer(pool, suite, sent) {
    is_ready = peer.is_ready && layer.start(RecordPeer::client_secret(suite), RecordPeer::server_secret(suite), sent);
  }
  std::string seal(std::string_view content) {
    std::string record(content.size() + RecordLayer::kOverheadBytes + RecordLayer::kMessageBytesMax, '\0');
    record.resize(layer.seal(content, record.data()));
    return record;
  }
  std::string seal_keys() {
    std::string record(RecordLayer::kMessageBytesMax, '\0');
    record.resize(layer.seal_keys(record.data()));
    return record;
  }

  CipherPool pool;
  RecordLayer layer;
  RecordPeer peer;
  bool is_ready = false;
};

std::string from_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

// The simple handshake of RFC 8448 §3, from its traffic secrets on. The server has sent one ticket.
TEST(TlsRecord, SealsAndOpensWhatRfc8448Does) {
  CipherPool pool;
  RecordLayer layer(pool, Suite::Aes128Gcm);
  ASSERT_TRUE(layer.start(from_hex("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5"),
                          from_hex("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643"), 1));
  std::string content;
  for (char c = 0; c < 50; ++c) content += c;
  std::string sealed(200, '\0');
  sealed.resize(layer.seal(content, sealed.data()));
  EXPECT_EQ(to_hex(sealed),
            "17030300432e937e11ef4ac740e538ad36005fc4a46932fc3225d05f82aa1b36e30efaf97d90e6dffc602dcb501a59a8fcc49c4bf2"
            "e5f0a21c0047c2abf332540dd032e167c2955d");
  const std::string from_client = from_hex(
      "1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20441e2b62974e1f5a6292"
      "a2977014bd1e3deae63aeebb21694915e4"
      "1703030013c9872760655666b74d7ff1153efd6db6d0b0e3");
  EXPECT_EQ(read_records(layer, from_client), (RecordReading{Verdict::Closed, content}));
}

TEST(TlsRecord, CarriesEverySizeInEverySuite) {
  for (const Suite suite : kSuites) {
    Pair pair(suite);
    ASSERT_TRUE(pair.is_ready);
    for (const std::size_t size : {0, 1, 15, 16, 17, 255, 4096, 16'383, 16'384}) {
      const std::string content = pattern(size);
      EXPECT_EQ(read_records(pair.layer, pair.peer.seal(content)).content, content) << size;
      const auto records = pair.peer.open(pair.seal(content));
      ASSERT_EQ(records.size(), 1u);
      EXPECT_EQ(records[0], (RecordPeer::Record{RecordPeer::kData, content})) << size;
    }
  }
}

// Data, a change of keys in parts, padding, an empty record, and the end.
std::string conversation(RecordPeer& peer) {
  std::string bytes = peer.seal("one");
  bytes += peer.seal("two", RecordPeer::kData, 30);
  bytes += peer.key_update();
  bytes += peer.seal("");
  bytes += peer.seal(pattern(600));
  bytes += peer.key_update(true);
  bytes += peer.seal("three");
  return bytes + peer.seal({"\1\0", 2}, RecordPeer::kAlert);
}

TEST(TlsRecord, DoesNotDependOnHowBytesCome) {
  const RecordReading expected{Verdict::Closed, "onetwo" + pattern(600) + "three", 2};
  for (const std::size_t bite : {1, 7, 100, 16'384}) {
    for (const std::size_t piece : {1, 2, 5, 6, 22, 100, 100'000}) {
      Pair pair;
      EXPECT_EQ(read_records(pair.layer, conversation(pair.peer), piece, bite), expected) << piece << ' ' << bite;
      EXPECT_TRUE(pair.layer.owes_keys());
    }
  }
  Pair first;
  const std::size_t size = conversation(first.peer).size();
  for (std::size_t at = 1; at < size; ++at) {  // in two parts, split at each byte
    Pair pair;
    EXPECT_EQ(read_records(pair.layer, conversation(pair.peer), at), expected) << at;
  }
}

TEST(TlsRecord, RefusesARecordWhoseAnyByteWasTouched) {
  for (const Suite suite : kSuites) {
    Pair whole(suite);
    const std::string record = whole.peer.seal("hello");
    for (std::size_t at = 0; at < record.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        Pair pair(suite);
        std::string touched = record;
        touched[at] = static_cast<char>(touched[at] ^ 1 << bit);
        const RecordReading reading = read_records(pair.layer, touched + std::string(70'000, 'x'));
        ASSERT_EQ(reading.verdict, Verdict::Failed) << at << ' ' << bit;
        ASSERT_EQ(reading.content, "") << at << ' ' << bit;
      }
    }
  }
}

TEST(TlsRecord, LeavesNothingOfWhatIsNotAuthentic) {
  Pair pair;
  std::string record = pair.peer.seal("attack at dawn");
  record.back() ^= 1;
  tls::Input input;
  input.put(record);
  std::string to(100, '\0');
  std::size_t total = 0;
  EXPECT_EQ(pair.layer.open(input, to.data(), to.size(), total), Verdict::Failed);
  EXPECT_EQ(total, 0u);
  EXPECT_EQ(to, std::string(100, '\0'));
}

TEST(TlsRecord, RefusesRecordsThatAreMissingSwappedOrRepeated) {
  for (const auto& order : {std::vector{1}, std::vector{1, 0}, std::vector{0, 0}, std::vector{0, 2}}) {
    Pair pair;
    const std::string records[] = {pair.peer.seal("a"), pair.peer.seal("b"), pair.peer.seal("c")};
    std::string bytes;
    for (const int i : order) bytes += records[i];
    EXPECT_EQ(read_records(pair.layer, bytes).verdict, Verdict::Failed);
    EXPECT_EQ(pair.layer.alert(), SSL_AD_BAD_RECORD_MAC);
  }
}

TEST(TlsRecord, RefusesWhatMayNotComeWithTheAlertForIt) {
  using Make = std::string (*)(RecordPeer&);
  const struct {
    const char* what;
    int alert;
    Make make;
  } cases[] = {
      // RFC 8446 §5: after the handshake everything is protected.
      {"change_cipher_spec in the clear", SSL_AD_UNEXPECTED_MESSAGE,
       [](RecordPeer&) { return std::string("\x14\3\3\0\1\1", 6); }},
      {"an alert in the clear", SSL_AD_UNEXPECTED_MESSAGE,
       [](RecordPeer&) { return std::string("\x15\3\3\0\2\1\0", 7); }},
      {"a handshake in the clear", SSL_AD_UNEXPECTED_MESSAGE,
       [](RecordPeer&) { return std::string("\x16\3\3\0\5\x18\0\0\1\0", 10); }},
      {"HTTP", SSL_AD_UNEXPECTED_MESSAGE, [](RecordPeer&) { return std::string("GET / HTTP/1.1\r\n\r\n"); }},
      // §5.2
      {"a length over the limit, before its bytes", SSL_AD_RECORD_OVERFLOW,
       [](RecordPeer&) { return std::string("\x17\3\3\x41\1", 5); }},
      {"content over the limit", SSL_AD_RECORD_OVERFLOW,
       [](RecordPeer& peer) { return peer.seal(std::string(16'385, 'x')); }},
      {"content and padding over the limit", SSL_AD_RECORD_OVERFLOW,
       [](RecordPeer& peer) { return peer.seal(std::string(16'000, 'x'), RecordPeer::kData, 386); }},
      {"no tag", SSL_AD_BAD_RECORD_MAC,
       [](RecordPeer&) { return std::string("\x17\3\3\0\xf", 5) + std::string(15, 'x'); }},
      {"nothing at all", SSL_AD_BAD_RECORD_MAC, [](RecordPeer&) { return std::string("\x17\3\3\0\0", 5); }},
      // §5.4
      {"nothing but padding", SSL_AD_UNEXPECTED_MESSAGE,
       [](RecordPeer& peer) { return peer.seal_inner(std::string(10, '\0'), 0); }},
      {"change_cipher_spec inside", SSL_AD_UNEXPECTED_MESSAGE,
       [](RecordPeer& peer) { return peer.seal("\1", RecordPeer::kChangeCipherSpec); }},
      {"a type that nobody knows", SSL_AD_UNEXPECTED_MESSAGE, [](RecordPeer& peer) { return peer.seal("x", 99); }},
      // §6
      {"half an alert", SSL_AD_DECODE_ERROR, [](RecordPeer& peer) { return peer.seal("\1", RecordPeer::kAlert); }},
      {"no alert", SSL_AD_DECODE_ERROR, [](RecordPeer& peer) { return peer.seal("", RecordPeer::kAlert); }},
      {"two alerts", SSL_AD_DECODE_ERROR,
       [](RecordPeer& peer) { return peer.seal({"\1\x5a\1\0", 4}, RecordPeer::kAlert); }},
      // §4.6.3, §5.1
      {"no message", SSL_AD_UNEXPECTED_MESSAGE, [](RecordPeer& peer) { return peer.seal("", RecordPeer::kHandshake); }},
      {"a ticket", SSL_AD_UNEXPECTED_MESSAGE,
       [](RecordPeer& peer) { return peer.seal({"\4\0\0\1\0", 5}, RecordPeer::kHandshake); }},
      {"a hello", SSL_AD_UNEXPECTED_MESSAGE, [](RecordPeer& peer) { return peer.seal("\1", RecordPeer::kHandshake); }},
      {"a certificate that nobody asked for", SSL_AD_UNEXPECTED_MESSAGE,
       [](RecordPeer& peer) { return peer.seal({"\xb\0\0\4\0\0\0\0", 8}, RecordPeer::kHandshake); }},
      {"a key update of the wrong length", SSL_AD_DECODE_ERROR,
       [](RecordPeer& peer) { return peer.seal({"\x18\0\0\2\0\0", 6}, RecordPeer::kHandshake); }},
      {"an endless key update", SSL_AD_DECODE_ERROR,
       [](RecordPeer& peer) { return peer.seal({"\x18\xff", 2}, RecordPeer::kHandshake); }},
      {"a key update that asks for something else", SSL_AD_ILLEGAL_PARAMETER,
       [](RecordPeer& peer) { return peer.seal({"\x18\0\0\1\2", 5}, RecordPeer::kHandshake); }},
      {"a key update with something behind it", SSL_AD_UNEXPECTED_MESSAGE,
       [](RecordPeer& peer) { return peer.seal({"\x18\0\0\1\0\x18", 6}, RecordPeer::kHandshake); }},
      {"data between the parts of a key update", SSL_AD_UNEXPECTED_MESSAGE,
       [](RecordPeer& peer) { return peer.seal({"\x18\0", 2}, RecordPeer::kHandshake) + peer.seal("x"); }},
      {"an alert between them", SSL_AD_UNEXPECTED_MESSAGE,
       [](RecordPeer& peer) {
         return peer.seal({"\x18\0", 2}, RecordPeer::kHandshake) + peer.seal({"\1\0", 2}, RecordPeer::kAlert);
       }},
      {"the old keys after a key update", SSL_AD_BAD_RECORD_MAC,
       [](RecordPeer& peer) { return peer.seal({"\x18\0\0\1\0", 5}, RecordPeer::kHandshake) + peer.seal("x"); }},
      // What the peer says of itself is answered by nothing.
      {"a fatal alert", 0, [](RecordPeer& peer) { return peer.seal({"\2\x28", 2}, RecordPeer::kAlert); }},
      {"a fatal alert called a warning", 0,
       [](RecordPeer& peer) { return peer.seal({"\1\x28", 2}, RecordPeer::kAlert); }},
  };
  for (const auto& [what, alert, make] : cases) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{100'000}}) {
      Pair pair;
      const RecordReading reading = read_records(pair.layer, make(pair.peer), piece);
      EXPECT_EQ(reading.verdict, Verdict::Failed) << what;
      EXPECT_EQ(reading.content, "") << what;
      EXPECT_EQ(pair.layer.alert(), alert) << what;
      EXPECT_NE(pair.layer.reason(), 0) << what;
    }
  }
}

TEST(TlsRecord, TakesAKeyUpdateInParts) {
  Pair pair;
  std::string bytes;
  for (const char c : std::string_view("\x18\0\0\1\1", 5)) bytes += pair.peer.seal({&c, 1}, RecordPeer::kHandshake);
  const RecordReading reading = read_records(pair.layer, bytes);
  EXPECT_EQ(reading.verdict, Verdict::More);
  EXPECT_EQ(reading.upkeep_count, 5u) << "each part is counted";
  EXPECT_TRUE(pair.layer.owes_keys());
}

TEST(TlsRecord, ChangesItsKeysWhenAskedAndBothEndsGoOn) {
  for (const Suite suite : kSuites) {
    Pair pair(suite);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(read_records(pair.layer, pair.peer.key_update(true) + pair.peer.seal("x")).content, "x");
      ASSERT_TRUE(pair.layer.owes_keys());
      const auto records = pair.peer.open(pair.seal_keys() + pair.seal("y"));
      EXPECT_FALSE(pair.layer.owes_keys());
      ASSERT_EQ(records.size(), 2u);
      EXPECT_EQ(records[0], (RecordPeer::Record{RecordPeer::kHandshake, std::string("\x18\0\0\1\0", 5)}))
          << "which asks for nothing in return";
      EXPECT_EQ(records[1].content, "y");
    }
  }
}

// RFC 8446 §5.5.
TEST(TlsRecord, ChangesItsKeysBeforeTheyHaveSealedTooMuch) {
  Pair pair(Suite::Aes128Gcm, RecordLayer::kRecordsMax - 2);
  std::vector<unsigned char> types;
  for (int i = 0; i < 4; ++i) {
    for (const auto& record : pair.peer.open(pair.seal("x"))) types.push_back(record.type);
  }
  EXPECT_EQ(types, (std::vector<unsigned char>{23, 23, 22, 23, 23}));
}

// A nonce must not come twice (RFC 8446 §5.3).
TEST(TlsRecord, FailsWhereNumbersOfRecordsEnd) {
  CipherPool pool;
  TrafficKeys keys(pool, Suite::Aes128Gcm, TrafficKeys::Way::Seal);
  ASSERT_TRUE(keys.start(std::string(32, 's'), ~std::uint64_t{0} - 1));
  char to[64];
  EXPECT_TRUE(keys.seal("\x17\3\3\0\x12", "x", 23, to));
  EXPECT_FALSE(keys.seal("\x17\3\3\0\x12", "x", 23, to));
  EXPECT_FALSE(keys.seal("\x17\3\3\0\x12", "x", 23, to));
}

TEST(TlsRecord, TakesSomeEmptyRecordsAndNotAFlood) {
  Pair pair;
  std::string bytes;
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < RecordLayer::kEmptyMax; ++i) bytes += pair.peer.seal("", RecordPeer::kData, round);
    bytes += pair.peer.seal("x");
  }
  EXPECT_EQ(read_records(pair.layer, bytes), (RecordReading{Verdict::More, "xxx"}));
  bytes.clear();
  for (unsigned i = 0; i <= RecordLayer::kEmptyMax; ++i) bytes += pair.peer.seal("");
  EXPECT_EQ(read_records(pair.layer, bytes).verdict, Verdict::Failed);
  EXPECT_EQ(pair.layer.alert(), SSL_AD_UNEXPECTED_MESSAGE);
}

TEST(TlsRecord, PassesOverAWarningBeforeTheEnd) {
  Pair pair;
  const std::string bytes = pair.peer.seal("x") + pair.peer.seal({"\1\x5a", 2}, RecordPeer::kAlert) +
                            pair.peer.seal({"\1\0", 2}, RecordPeer::kAlert);
  EXPECT_EQ(read_records(pair.layer, bytes), (RecordReading{Verdict::Closed, "x", 1}));
}

TEST(TlsRecord, TakesNoSecretOfTheWrongSize) {
  CipherPool pool;
  for (const Suite suite : kSuites) {
    RecordLayer layer(pool, suite);
    const std::size_t size = TrafficKeys::secret_bytes(suite);
    EXPECT_FALSE(layer.start(std::string(size - 1, 'c'), std::string(size, 's'), 0));
    EXPECT_FALSE(layer.start(std::string(size, 'c'), std::string(size + 1, 's'), 0));
    EXPECT_FALSE(layer.start("", "", 0));
  }
}

// More connections than contexts, of all suites, each speaking in turn.
TEST(TlsCipherPool, LendsFewContextsToManyConnections) {
  CipherPool pool;
  struct End {
    End(CipherPool& contexts, CipherPool& of_peer, Suite suite) : layer(contexts, suite), peer(of_peer, suite) {
      EXPECT_TRUE(layer.start(RecordPeer::client_secret(suite), RecordPeer::server_secret(suite), 0));
    }
    RecordLayer layer;
    RecordPeer peer;
  };
  CipherPool of_peers;
  std::list<End> ends;
  for (std::size_t i = 0; i < CipherPool::kContextsMax; ++i) ends.emplace_back(pool, of_peers, kSuites[i % 3]);
  for (int round = 0; round < 5; ++round) {
    for (End& end : ends) {
      ASSERT_EQ(read_records(end.layer, end.peer.seal("ping")).content, "ping");
      std::string record(100, '\0');
      record.resize(end.layer.seal("pong", record.data()));
      const auto records = end.peer.open(record);
      ASSERT_EQ(records.size(), 1u);
      ASSERT_EQ(records[0].content, "pong");
      ASSERT_LE(pool.context_count(), CipherPool::kContextsMax);
    }
  }
  EXPECT_EQ(pool.context_count(), CipherPool::kContextsMax) << "the control: they were too few";
  while (ends.size() > 10) ends.pop_front();
  EXPECT_LE(pool.context_count(), 20u) << "a connection that is gone leaves no keys behind";
  ends.clear();
  EXPECT_EQ(pool.context_count(), 0u);
}

}  // namespace
}  // namespace violet::test
