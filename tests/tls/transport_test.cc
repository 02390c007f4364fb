// tls::Transport as a transport: bytes in any pieces, over wires that are slow or full, and how it ends.

#include "violet/tls/transport.h"

#include "tests/support/script.h"
#include "tests/support/tls_wire.h"
#include "violet/tls/error.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <string>
#include <unistd.h>
#include <vector>

namespace violet::test {
namespace {

constexpr std::size_t kSizes[] = {1, 15, 16, 4095, 4096, 4097, 16'383, 16'384, 16'385, 65'536, 65'537, 1'048'576};

TEST(TlsTransport, ShakesHandsAndCarriesBytesBothWays) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  EXPECT_EQ(wire.server.transport->version(), "TLSv1.3");
  EXPECT_EQ(wire.server.transport->cipher(), "TLS_AES_128_GCM_SHA256");
  EXPECT_EQ(wire.server.server_name, "a.example");
  EXPECT_TRUE(wire.server.transport->is_secure());
  EXPECT_FALSE(wire.server.is_resumed);
  wire.client.send("ping");
  wire.run();
  wire.server.send("pong");
  wire.run();
  EXPECT_EQ(wire.server.received, "ping");
  EXPECT_EQ(wire.client.received, "pong");
}

// TL-D08: what TCP does to the pieces is nobody's business.
TEST(TlsTransport, ShakesHandsInPiecesOfAnySize) {
  for (const std::size_t piece : {1, 2, 3, 5, 7, 100, 1000}) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      TlsWire wire(usual_settings());
      SSL_set_max_proto_version(wire.client.transport->ssl(), version);
      wire.run(piece);
      ASSERT_EQ(wire.server.secure_count, 1) << piece;
      wire.client.send("ping");
      wire.run(piece);
      wire.server.send(pattern(40'000));
      wire.run(piece * 100);
      EXPECT_EQ(wire.server.received, "ping") << piece;
      EXPECT_EQ(wire.client.received, pattern(40'000)) << piece;
    }
  }
}

TEST(TlsTransport, CarriesEverySizeExactly) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  for (const std::size_t size : kSizes) {
    wire.server.received.clear();
    wire.client.received.clear();
    wire.client.send(pattern(size));
    wire.server.send(pattern(size, 7));
    wire.run();
    EXPECT_TRUE(wire.server.received == pattern(size)) << size;
    EXPECT_TRUE(wire.client.received == pattern(size, 7)) << size;
  }
}

TEST(TlsTransport, CarriesEverySizeThroughAWireThatTakesLittle) {
  for (const std::size_t size : kSizes) {
    for (const std::size_t room : {std::size_t{1000}, std::size_t{20'000}}) {
      TlsWire wire(usual_settings());
      ASSERT_TRUE(wire.shake());
      wire.server.below->set_room(room);
      wire.server.send(pattern(size));
      for (int i = 0; i < 3000 && wire.client.received.size() < size; ++i) {
        wire.run();
        wire.server.below->add_room(room);
      }
      EXPECT_TRUE(wire.client.received == pattern(size)) << size << " by " << room;
    }
  }
}

TEST(TlsTransport, TakesNoMoreThanTheWireBelow) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.server.below->set_room(10'000);
  const std::string bytes = pattern(300'000);
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  const ssize_t first = wire.server.transport->write(&piece, 1);
  EXPECT_GT(first, 8'000);
  EXPECT_LE(first, 10'000) << "what is not below is not told as taken";
  std::size_t taken = static_cast<std::size_t>(first);
  const auto write_rest = [&] {
    piece = {const_cast<char*>(bytes.data()) + taken, bytes.size() - taken};
    return wire.server.transport->write(&piece, 1);
  };
  EXPECT_EQ(write_rest(), -EAGAIN);
  wire.server.below->add_room(1'000);
  const ssize_t second = write_rest();
  EXPECT_GT(second, 800) << "progress is told in small steps, so that a slow client is not taken for a dead one";
  EXPECT_LE(second, 1'000);
  taken += static_cast<std::size_t>(second);
  wire.server.below->add_room(10'000'000);
  while (taken < bytes.size()) {
    const ssize_t n = write_rest();
    ASSERT_GT(n, 0);
    taken += static_cast<std::size_t>(n);
  }
  wire.run();
  EXPECT_TRUE(wire.client.received == bytes);
}

TEST(TlsTransport, JoinsPiecesAndWritesATurnAtOnce) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  const std::string bytes = pattern(60'000);
  std::vector<iovec> pieces;
  for (std::size_t at = 0; at < bytes.size(); at += 2'000) {
    pieces.push_back({const_cast<char*>(bytes.data()) + at, 2'000});
    pieces.push_back({nullptr, 0});
  }
  for (int i = 0; i < 2; ++i) {
    const std::size_t writes = wire.server.below->write_count();
    wire.client.received.clear();
    EXPECT_EQ(wire.server.transport->write(pieces.data(), static_cast<int>(pieces.size())), 60'000);
    EXPECT_EQ(wire.server.below->write_count() - writes, 1u);
    const std::size_t sealed = wire.server.below->written().size();
    // 22 bytes a record: four small ones at first, then full ones (RFC 8446 §5.2).
    EXPECT_EQ(sealed, 60'000 + 22 * (i == 0 ? 4 + 3 : 4)) << i;
    wire.run();
    EXPECT_TRUE(wire.client.received == bytes);
  }
}

TEST(TlsTransport, ReadsAllRecordsOfATurnInOneRead) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  for (int i = 0; i < 10; ++i) wire.client.send("record " + std::to_string(i) + "\n");
  const std::size_t reads = wire.server.below->read_count();
  wire.run();
  EXPECT_EQ(wire.server.read_count, 1u);
  EXPECT_EQ(wire.server.below->read_count() - reads, 1u) << "and asks below no second time";
  EXPECT_EQ(wire.server.received.size(), 90u);
}

TEST(TlsTransport, HandsUpWhatDidNotFitWithoutNewBytes) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.server.read_bytes_max = 1'000;
  wire.client.send(pattern(30'000));
  wire.run();
  EXPECT_TRUE(wire.server.received == pattern(30'000));
}

TEST(TlsTransport, HoldsBackWhileNobodyReads) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.server.read_bytes_max = 10;
  wire.server.then = [&] { wire.server.set_reading(false); };
  wire.client.send(pattern(20'000));
  wire.run();
  EXPECT_EQ(wire.server.received.size(), 10u);
  EXPECT_FALSE(wire.server.below->wants_to_read());
  wire.server.then = nullptr;
  wire.server.read_bytes_max = 65'536;
  wire.server.set_reading(true);
  wire.run();
  EXPECT_TRUE(wire.server.received == pattern(20'000));
}

TEST(TlsTransport, DoesNotSpinOverPartOfARecord) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  int event_count = 0;
  wire.server.then = [&] {
    ++event_count;
    wire.server.set_reading(true);
  };
  wire.client.send("hello");
  const std::string record = wire.client.below->take();
  wire.server.below->feed(record.substr(0, 20));
  for (int i = 0; i < 20; ++i) wire.loop.step();
  EXPECT_LE(event_count, 2);
  wire.server.below->feed(record.substr(20));
  wire.settle();
  EXPECT_EQ(wire.server.received, "hello");
}

TEST(TlsTransport, LooksWithoutTaking) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  char bytes[16];
  EXPECT_EQ(wire.server.transport->peek(bytes, sizeof bytes), -EAGAIN);
  std::string seen;
  wire.server.set_reading(false);
  wire.client.send("hello");
  wire.run();
  const ssize_t n = wire.server.transport->peek(bytes, sizeof bytes);
  EXPECT_EQ(std::string(bytes, static_cast<std::size_t>(n)), "hello");
  wire.server.set_reading(true);
  wire.run();
  EXPECT_EQ(wire.server.received, "hello");
}

TEST(TlsTransport, SendsRangesOfFiles) {
  char name[] = "/tmp/violet_tls_XXXXXX";
  const int file = ::mkstemp(name);
  ::unlink(name);
  const std::string bytes = pattern(200'000);
  ASSERT_EQ(::write(file, bytes.data(), bytes.size()), 200'000);
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.server.below->set_room(50'000);
  std::size_t at = 1'000;
  while (at < bytes.size()) {
    const ssize_t n = wire.server.transport->send_file(file, at, bytes.size() - at);
    if (n == -EAGAIN) {
      wire.server.below->add_room(50'000);
      continue;
    }
    ASSERT_GT(n, 0);
    at += static_cast<std::size_t>(n);
  }
  EXPECT_EQ(wire.server.transport->send_file(file, at, 1), 0) << "the file ends there";
  EXPECT_EQ(wire.server.transport->send_file(-1, 0, 1), -EBADF);
  wire.server.below->add_room(1'000'000);
  wire.run();
  EXPECT_TRUE(wire.client.received == bytes.substr(1'000));
  ::close(file);
}

// --- leaving OpenSSL

void set_suite(TlsEnd& client, const char* suite) { SSL_set_ciphersuites(client.transport->ssl(), suite); }

// Everything above runs on both ways of it; this says who goes which way.
TEST(TlsTransport, LeavesOpenSslWithTls13AndStaysWithWhatItDoesNotKnow) {
  for (const char* const suite : {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}) {
    TlsWire wire(usual_settings());
    set_suite(wire.client, suite);
    ASSERT_TRUE(wire.shake());
    EXPECT_EQ(wire.server.transport->ssl(), nullptr) << suite;
    EXPECT_EQ(wire.server.transport->cipher(), suite);
    EXPECT_EQ(wire.server.transport->version(), "TLSv1.3");
    EXPECT_NE(wire.client.transport->ssl(), nullptr) << "a client stays";
    wire.client.send(pattern(70'000));
    wire.server.send(pattern(70'000, 3));
    wire.run();
    EXPECT_TRUE(wire.server.received == pattern(70'000)) << suite;
    EXPECT_TRUE(wire.client.received == pattern(70'000, 3)) << suite;
    wire.client.close();
    wire.run();
    EXPECT_EQ(wire.server.end, 0) << suite;
  }
  {
    TlsWire wire(usual_settings());
    SSL_set_max_proto_version(wire.client.transport->ssl(), TLS1_2_VERSION);
    ASSERT_TRUE(wire.shake());
    EXPECT_NE(wire.server.transport->ssl(), nullptr);
  }
  // RFC 6066 §4: OpenSSL agrees to it, and keeps to it.
  TlsWire wire(usual_settings());
  SSL_set_tlsext_max_fragment_length(wire.client.transport->ssl(), TLSEXT_max_fragment_length_512);
  ASSERT_TRUE(wire.shake());
  EXPECT_NE(wire.server.transport->ssl(), nullptr);
  wire.client.send(pattern(5'000));
  wire.server.send(pattern(5'000, 3));
  wire.run();
  EXPECT_TRUE(wire.server.received == pattern(5'000));
  EXPECT_TRUE(wire.client.received == pattern(5'000, 3));
}

// How many records of ours OpenSSL has sealed before, the tickets, differs; the next one has to have the right number.
TEST(TlsTransport, GoesOnBehindAnyNumberOfTickets) {
  for (const bool is_resuming : {false, true}) {
    for (const bool wants_tickets : {true, false}) {
      TlsWire wire(usual_settings());
      SSL_SESSION* session = nullptr;
      if (is_resuming) {
        ASSERT_TRUE(wire.shake());
        wire.server.send("x");
        wire.run();
        session = SSL_get1_session(wire.client.transport->ssl());
        wire.connect();
        SSL_set_session(wire.client.transport->ssl(), session);
      }
      if (!wants_tickets) SSL_set_options(wire.client.transport->ssl(), SSL_OP_NO_TICKET);
      ASSERT_TRUE(wire.shake());
      ASSERT_EQ(wire.server.transport->ssl(), nullptr);
      wire.server.send("answer");
      wire.client.send("question");
      wire.run();
      EXPECT_EQ(wire.client.received, "answer") << is_resuming << wants_tickets;
      EXPECT_EQ(wire.server.received, "question") << is_resuming << wants_tickets;
      SSL_SESSION_free(session);
    }
  }
}

// A client need not wait for our tickets: its request follows its Finished in the same piece.
TEST(TlsTransport, TakesWhatComesWithTheEndOfTheHandshake) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const std::size_t size : {std::size_t{5}, std::size_t{10'000}, std::size_t{100'000}}) {
      TlsWire wire(usual_settings());
      SSL_set_max_proto_version(wire.client.transport->ssl(), version);
      const auto carry = [&] {
        wire.settle();
        wire.server.below->feed(wire.client.below->take());
        wire.settle();
        wire.client.below->feed(wire.server.below->take());
      };
      while (wire.client.secure_count == 0) carry();
      wire.settle();
      wire.client.send(pattern(size));
      carry();
      wire.run();
      EXPECT_TRUE(wire.server.received == pattern(size)) << version << ' ' << size;
      wire.server.send("answer");
      wire.run();
      EXPECT_EQ(wire.client.received, "answer") << version << ' ' << size;
    }
  }
}

TEST(TlsTransport, CarriesBytesCutAtEachByte) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  for (std::size_t at = 1; at < 100; ++at) {
    wire.server.received.clear();
    wire.client.send("one");
    wire.client.send("two");
    const std::string records = wire.client.below->take();
    wire.server.below->feed(records.substr(0, at));
    wire.settle();
    if (at < records.size()) wire.server.below->feed(records.substr(at));
    wire.settle();
    EXPECT_EQ(wire.server.received, "onetwo") << at;
  }
}

TEST(TlsTransport, TellsThePeerWhatIsWrong) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.server.below->feed(std::string("\x14\3\3\0\1\1", 6));  // change_cipher_spec, after the handshake
  wire.run();
  EXPECT_EQ(wire.server.end, -EPROTO);
  EXPECT_EQ(tls::reason(wire.server.error), "bad record type");
  EXPECT_EQ(tls::reason(wire.client.error), "sslv3 alert unexpected message");
  const std::size_t written = wire.server.below->written().size();
  auto below = wire.server.below;
  wire.server.close();
  EXPECT_EQ(below->written().size(), written) << "no close_notify behind an alert (RFC 8446 §6.2)";
}

TEST(TlsTransport, HearsOfThePeersAlert) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.server.send("x");
  wire.run();
  wire.server.send("y");
  std::string record = wire.server.below->take();
  record.back() ^= 1;
  wire.client.below->feed(record);
  wire.run();
  EXPECT_EQ(wire.server.end, -EPROTO);
  EXPECT_EQ(tls::reason(wire.server.error), "sslv3 alert bad record mac");
}

TEST(TlsTransport, WritesNothingBehindItsGoodbye) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.server.transport->shutdown();
  const std::size_t written = wire.server.below->written().size();
  const iovec piece{const_cast<char*>("x"), 1};
  EXPECT_EQ(wire.server.transport->write(&piece, 1), -EPIPE);
  ASSERT_EQ(SSL_key_update(wire.client.transport->ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
  ASSERT_EQ(SSL_do_handshake(wire.client.transport->ssl()), 1);
  wire.server.below->feed(wire.client.below->take());
  wire.settle();
  EXPECT_EQ(wire.server.below->written().size(), written) << "not even an answer to a key update";
}

// --- how it ends

// TL-D06 (RFC 8446 §6.1).
TEST(TlsTransport, SaysGoodbyeBeforeItCloses) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.server.send("bye");
  wire.server.close();
  wire.run();
  EXPECT_EQ(wire.client.received, "bye");
  EXPECT_EQ(wire.client.end, 0) << "the end is an end, not a cut";
  EXPECT_FALSE(wire.client.error);
}

TEST(TlsTransport, SaysGoodbyeOnceAndReadsOn) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.server.finish();
  EXPECT_TRUE(wire.server.below->is_shut_down());
  wire.run();
  EXPECT_EQ(wire.client.end, 0);
  wire.client.send("still here");
  wire.run();
  EXPECT_EQ(wire.server.received, "still here");
  const std::size_t written = wire.server.below->written().size();
  auto below = wire.server.below;
  wire.server.close();
  EXPECT_EQ(below->written().size(), written);
}

TEST(TlsTransport, EndsItsDirectionBehindWhatIsPending) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.server.below->set_room(0);
  wire.server.finish();
  wire.run();
  EXPECT_FALSE(wire.server.below->is_shut_down()) << "close_notify has not left";
  wire.server.below->add_room(1'000);
  wire.run();
  EXPECT_TRUE(wire.server.below->is_shut_down());
  EXPECT_EQ(wire.client.end, 0);
}

TEST(TlsTransport, NoticesACut) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.client.send("half a mess");
  wire.run();
  wire.server.below->feed_end();
  wire.settle();
  EXPECT_EQ(wire.server.received, "half a mess");
  EXPECT_EQ(wire.server.end, -ECONNRESET) << "no close_notify: what came may not be all";
  EXPECT_TRUE(tls::is_truncation(wire.server.error)) << tls::reason(wire.server.error);
}

TEST(TlsTransport, ReadsTheEndBehindTheLastBytes) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.client.send("last words");
  wire.client.close();
  wire.run();
  EXPECT_EQ(wire.server.received, "last words");
  EXPECT_EQ(wire.server.end, 0);
}

TEST(TlsTransport, ResetsWithoutAGoodbye) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  auto below = wire.server.below;
  static_cast<void>(below->take());
  wire.server.drop();
  EXPECT_TRUE(below->is_closed());
  EXPECT_EQ(below->written(), "");
}

TEST(TlsTransport, RefusesRecordsThatWereTouched) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.client.send("hello");
  std::string record = wire.client.below->take();
  record.back() ^= 1;
  wire.server.below->feed(record);
  wire.settle();
  EXPECT_EQ(wire.server.received, "");
  EXPECT_EQ(wire.server.end, -EPROTO);
  EXPECT_EQ(tls::reason(wire.server.error), "decryption failed or bad record mac");
  EXPECT_NE(wire.server.below->written(), "") << "an alert leaves";
  EXPECT_EQ(wire.server.transport->write(nullptr, 0), -EPROTO);
}

void ask_for_new_keys(TlsEnd& end) {
  ASSERT_EQ(SSL_key_update(end.transport->ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
  ASSERT_EQ(SSL_do_handshake(end.transport->ssl()), 1);
  end.send("x");
}

TEST(TlsTransport, ChangesKeysNowAndThenButNotWithoutEnd) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  SSL_set_info_callback(wire.client.transport->ssl(), nullptr);  // this end has no measure
  for (int i = 0; i < 10; ++i) {
    ask_for_new_keys(wire.client);
    wire.run();
    wire.server.send("y");
    wire.run();
  }
  EXPECT_EQ(wire.server.received, std::string(10, 'x'));
  EXPECT_EQ(wire.client.received, std::string(10, 'y'));
  // A peer that reads nothing: what answers it is bounded.
  const std::size_t before = wire.server.below->written().size();
  wire.server.below->set_room(0);
  for (int i = 0; i < 200; ++i) {
    ask_for_new_keys(wire.client);
    wire.server.below->feed(wire.client.below->take());
    wire.settle();
  }
  EXPECT_EQ(wire.server.end, -EPROTO);
  EXPECT_LE(wire.server.received.size(), 60u);
  wire.server.below->set_room(1 << 20);
  wire.settle();
  EXPECT_LE(wire.server.below->written().size() - before, 4096u);
}

TEST(TlsTransport, TellsThatTheWireBroke) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  wire.server.below->break_off();
  wire.settle();
  EXPECT_EQ(wire.server.broken_count, 1);
  const iovec piece{const_cast<char*>("x"), 1};
  EXPECT_EQ(wire.server.transport->write(&piece, 1), -ECONNRESET);
}

TEST(TlsTransport, MayBeClosedInsideItsEvents) {
  {
    TlsWire wire(usual_settings());
    ASSERT_TRUE(wire.shake());
    wire.server.then = [&] { wire.server.close(); };
    wire.client.send("close yourself");
    wire.run();
    EXPECT_EQ(wire.server.transport, nullptr);
    EXPECT_EQ(wire.client.end, 0);
  }
  TlsWire wire(usual_settings());
  wire.client.below->break_off();  // inside the handshake: the end closes it as it hears
  wire.settle();
  EXPECT_EQ(wire.client.refused_count, 1);
  EXPECT_EQ(wire.client.transport, nullptr);
}

TEST(TlsTransport, IsNotDisturbedByErrorsThatOthersLeave) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  SSL_CTX_use_certificate_file(nullptr, "/nonexistent", SSL_FILETYPE_PEM);  // leaves errors on this thread
  wire.client.send(pattern(50'000));
  wire.run(100);
  EXPECT_TRUE(wire.server.received == pattern(50'000));
  wire.client.close();
  wire.run();
  EXPECT_EQ(wire.server.end, 0);
}

}  // namespace
}  // namespace violet::test
