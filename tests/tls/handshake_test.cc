// What a handshake agrees on, and what it refuses: the cases of TLS as a protocol, over memory.

#include "tests/support/tls_wire.h"
#include "violet/base/ascii.h"
#include "violet/tls/error.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

namespace violet::test {
namespace {

using Names = std::vector<std::string>;

// The last alert that a plaintext record of the server carries, -1 when there is none.
int alert_of(std::string_view bytes) {
  int alert = -1;
  while (bytes.size() >= 5) {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const std::size_t size = 5 + (at(3) << 8 | at(4));
    if (at(0) == 21 && bytes.size() >= 7) alert = at(6);
    bytes.remove_prefix(std::min(size, bytes.size()));
  }
  return alert;
}

// Carries what the client sends and gives back what the server answers.
std::string answer_to_client(TlsWire& wire) {
  wire.settle();
  wire.server.below->feed(wire.client.below->take());
  wire.settle();
  return wire.server.below->take();
}

// TL-D01.
TEST(TlsHandshake, ServesTls12AndTls13Alone) {
  for (const auto& [version, name] : {std::pair{TLS1_2_VERSION, "TLSv1.2"}, std::pair{TLS1_3_VERSION, "TLSv1.3"}}) {
    TlsWire wire(usual_settings());
    SSL_set_min_proto_version(wire.client.transport->ssl(), version);
    SSL_set_max_proto_version(wire.client.transport->ssl(), version);
    ASSERT_TRUE(wire.shake()) << name;
    EXPECT_EQ(wire.server.transport->version(), name);
  }
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    TlsWire wire(usual_settings());
    SSL* const ssl = wire.client.transport->ssl();
    SSL_set_security_level(ssl, 0);
    SSL_set_cipher_list(ssl, "ALL:@SECLEVEL=0");
    SSL_set_min_proto_version(ssl, version);
    SSL_set_max_proto_version(ssl, version);
    EXPECT_EQ(alert_of(answer_to_client(wire)), SSL_AD_PROTOCOL_VERSION);
    EXPECT_EQ(wire.server.refused_count, 1);
    EXPECT_EQ(tls::reason(wire.server.why), "unsupported protocol");
  }
}

TEST(TlsHandshake, HasNoWeakCipher) {
  for (const char* list : {"NULL:@SECLEVEL=0", "aNULL:@SECLEVEL=0", "AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA",
                           "DHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256", "AES256-SHA"}) {
    TlsWire wire(usual_settings());
    SSL* const ssl = wire.client.transport->ssl();
    SSL_set_max_proto_version(ssl, TLS1_2_VERSION);
    SSL_set_security_level(ssl, 0);
    ASSERT_EQ(SSL_set_cipher_list(ssl, list), 1) << list;
    EXPECT_EQ(alert_of(answer_to_client(wire)), SSL_AD_HANDSHAKE_FAILURE) << list;
    EXPECT_EQ(tls::reason(wire.server.why), "no shared cipher") << list;
  }
}

TEST(TlsHandshake, FollowsItsOwnOrderOfCiphers) {
  TlsWire wire(usual_settings());
  SSL_set_ciphersuites(wire.client.transport->ssl(), "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256");
  ASSERT_TRUE(wire.shake());
  EXPECT_EQ(wire.server.transport->cipher(), "TLS_AES_128_GCM_SHA256");
  // A client that prefers ChaCha20 has no AES in hardware.
  wire.connect();
  SSL_set_ciphersuites(wire.client.transport->ssl(), "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256");
  ASSERT_TRUE(wire.shake());
  EXPECT_EQ(wire.server.transport->cipher(), "TLS_CHACHA20_POLY1305_SHA256");
}

// --- ALPN

// TL-D02 (RFC 7301 §3.2).
TEST(TlsAlpn, AgreesInTheOrderOfTheServerOrRefuses) {
  const struct {
    Names ours;
    Names theirs;
    std::string_view agreed;
    bool is_refused = false;
  } cases[] = {
      {{"h2", "http/1.1"}, {"h2", "http/1.1"}, "h2"},
      {{"h2", "http/1.1"}, {"http/1.1", "h2"}, "h2"},
      {{"h2", "http/1.1"}, {"http/1.1"}, "http/1.1"},
      {{"h2", "http/1.1"}, {"foo", "h2"}, "h2"},
      {{"h2", "http/1.1"}, {}, ""},
      {{"h2", "http/1.1"}, {"foo"}, "", true},
      {{"http/1.1"}, {"h2"}, "", true},
      {{"http/1.1"}, {"h2", "http/1.1"}, "http/1.1"},
      {{"http/1.1"}, {"http/1.0"}, "", true},
      {{"h2"}, {"h2"}, "h2"},
      {{"h2"}, {"http/1.1"}, "", true},
      {{"h2"}, {}, "", true},  // nothing else than h2 is offered here, and without ALPN it is not h2
      {{}, {"h2"}, ""},
  };
  for (const auto& [ours, theirs, agreed, is_refused] : cases) {
    TlsWireSettings settings = usual_settings();
    settings.server.protocols = ours;
    settings.client.protocols = theirs;
    TlsWire wire(settings);
    if (is_refused) {
      EXPECT_EQ(alert_of(answer_to_client(wire)), SSL_AD_NO_APPLICATION_PROTOCOL);
      EXPECT_EQ(wire.server.refused_count, 1);
      continue;
    }
    ASSERT_TRUE(wire.shake());
    EXPECT_EQ(wire.server.protocol, agreed);
    EXPECT_EQ(wire.client.protocol, agreed);
  }
}

// --- certificates by name

struct ManyNames {
  TlsWireSettings settings = usual_settings();
  ManyNames() {
    for (const auto& [name, names, is_rsa] :
         {std::tuple{"b", "DNS:b.example", true}, std::tuple{"b", "DNS:b.example", false},
          std::tuple{"wild", "DNS:*.wild.example,DNS:wild.example", false},
          std::tuple{"exact", "DNS:exact.wild.example", false}}) {
      const Pem pem = usual_authority().issue({.common_name = name, .names = names, .is_rsa = is_rsa});
      settings.server.certificates.push_back({pem.certificate, pem.key, ""});
    }
    settings.client.verifies = false;
  }
};

std::string common_name(TlsWire& wire) {
  tls::PeerCertificate certificate;
  const X509* const shown = SSL_get0_peer_certificate(wire.client.transport->ssl());
  char text[64] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, text, sizeof text);
  return text;
}

// TL-D03 (RFC 6066 §3).
TEST(TlsServerName, ChoosesTheCertificate) {
  ManyNames names;
  for (const auto& [host, shown] :
       {std::pair{"a.example", "a.example"}, std::pair{"b.example", "b"}, std::pair{"B.Example", "b"},
        std::pair{"any.wild.example", "wild"}, std::pair{"wild.example", "wild"},
        std::pair{"exact.wild.example", "exact"}, std::pair{"two.labels.wild.example", "a.example"},
        std::pair{"other", "a.example"}, std::pair{"127.0.0.1", "a.example"}}) {
    names.settings.host = host;
    TlsWire wire(names.settings);
    ASSERT_TRUE(wire.shake()) << host;
    EXPECT_EQ(common_name(wire), shown) << host;
  }
}

TEST(TlsServerName, ServesRsaAndEcdsaSideBySide) {
  ManyNames names;
  names.settings.host = "b.example";
  TlsWire wire(names.settings);
  const auto key_type = [&] {
    return EVP_PKEY_get_base_id(X509_get0_pubkey(SSL_get0_peer_certificate(wire.client.transport->ssl())));
  };
  ASSERT_TRUE(wire.shake());
  EXPECT_EQ(key_type(), EVP_PKEY_EC);
  wire.connect();
  SSL_set1_sigalgs_list(wire.client.transport->ssl(), "rsa_pss_rsae_sha256");
  ASSERT_TRUE(wire.shake());
  EXPECT_EQ(key_type(), EVP_PKEY_RSA);
}

TEST(TlsServerName, SendsTheChain) {
  const auto below = usual_authority().issue_authority("Below");
  const Pem pem = below->issue({.common_name = "a.example", .names = "DNS:a.example"});
  TlsWireSettings settings = usual_settings();
  settings.server.certificates = {{pem.certificate, pem.key, ""}};
  {
    TlsWire wire(settings);
    EXPECT_FALSE(wire.shake()) << "the control: without the chain nobody trusts it";
  }
  settings.server.certificates = {{pem.certificate + below->certificate(), pem.key, ""}};
  TlsWire wire(settings);
  EXPECT_TRUE(wire.shake());
}

// --- whom the client trusts

TEST(TlsClient, VerifiesNamesAndTimes) {
  const Authority stranger("Stranger");
  const struct {
    Wanted wanted;
    const char* host;
    const char* why;  // "" when it is good
    const Authority* from = &usual_authority();
  } cases[] = {
      {{.names = "DNS:a.example"}, "a.example", ""},
      {{.names = "DNS:*.b.example"}, "a.b.example", ""},
      {{.names = "IP:127.0.0.1"}, "127.0.0.1", ""},
      {{.names = "IP:::1"}, "::1", ""},
      {{.names = "DNS:a.example"}, "b.example", "hostname mismatch"},
      {{.names = "DNS:a.example"}, "example", "hostname mismatch"},
      {{.names = "DNS:a.example"}, "aa.example", "hostname mismatch"},
      {{.names = "DNS:a.example.evil"}, "a.example", "hostname mismatch"},
      {{.names = "DNS:*.b.example"}, "c.a.b.example", "hostname mismatch"},
      {{.names = "DNS:a*.b.example"}, "aa.b.example", "hostname mismatch"},
      {{.names = "DNS:127.0.0.1"}, "127.0.0.1", "IP address mismatch"},
      {{.names = "IP:127.0.0.2"}, "127.0.0.1", "IP address mismatch"},
      {{.names = "DNS:a.example", .from_days = -9, .until_days = -1}, "a.example", "certificate has expired"},
      {{.names = "DNS:a.example", .from_days = 1}, "a.example", "certificate is not yet valid"},
      {{.names = "DNS:a.example"}, "a.example", "unable to get local issuer certificate", &stranger},
  };
  for (const auto& [wanted, host, why, from] : cases) {
    TlsWireSettings settings = usual_settings();
    const Pem pem = from->issue(wanted);
    settings.server.certificates = {{pem.certificate, pem.key, ""}};
    settings.host = host;
    TlsWire wire(settings);
    std::string verdict;
    wire.client.before_close = [&] {
      verdict = X509_verify_cert_error_string(SSL_get_verify_result(wire.client.transport->ssl()));
    };
    EXPECT_EQ(wire.shake(), *why == '\0') << wanted.names << " for " << host;
    if (*why == '\0') continue;
    EXPECT_EQ(tls::reason(wire.client.why), "certificate verify failed");
    EXPECT_NE(verdict.find(why), std::string::npos) << verdict;
  }
}

// --- certificates of clients

TlsWireSettings mutual_settings(tls::ClientCertificate wanted, const Pem& pem = {}) {
  TlsWireSettings settings = usual_settings();
  settings.server.client_certificate = wanted;
  settings.server.client_ca = usual_authority().certificate();
  settings.client.certificate = {pem.certificate, pem.key, ""};
  return settings;
}

// TL-D10 (RFC 8446 §4.4.2.4).
TEST(TlsClientCertificate, IsRequired) {
  const Pem good = usual_authority().issue(
      {.common_name = "client,7", .names = "DNS:c.example,URI:spiffe://x/y,email:me@c.example,IP:10.0.0.1"});
  const Pem expired = usual_authority().issue({.from_days = -9, .until_days = -1});
  const Pem strange = Authority("Stranger").issue({});
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsWire wire(mutual_settings(tls::ClientCertificate::Required, good));
    SSL_set_max_proto_version(wire.client.transport->ssl(), version);
    ASSERT_TRUE(wire.shake());
    ASSERT_TRUE(wire.server.has_certificate);
    EXPECT_EQ(wire.server.certificate.subject, "CN=client\\,7");
    EXPECT_EQ(wire.server.certificate.names,
              (Names{"DNS:c.example", "URI:spiffe://x/y", "email:me@c.example", "IP:10.0.0.1"}));
  }
  for (const auto& [pem, why] :
       {std::pair{Pem{}, "peer did not return a certificate"}, std::pair{expired, "certificate verify failed"},
        std::pair{strange, "certificate verify failed"}}) {
    TlsWire wire(mutual_settings(tls::ClientCertificate::Required, pem));
    wire.run();
    EXPECT_EQ(wire.server.secure_count, 0);
    EXPECT_EQ(tls::reason(wire.server.why), why);
    EXPECT_EQ(wire.client.end, -EPROTO) << "an alert tells the client";
    if (pem.certificate.empty()) {
      EXPECT_EQ(tls::reason(wire.client.error), "tlsv13 alert certificate required");
    }
  }
}

TEST(TlsClientCertificate, IsOptional) {
  {
    TlsWire wire(mutual_settings(tls::ClientCertificate::Optional));
    ASSERT_TRUE(wire.shake());
    EXPECT_FALSE(wire.server.has_certificate);
  }
  {
    TlsWire wire(mutual_settings(tls::ClientCertificate::Optional, Authority("Stranger").issue({})));
    wire.run();
    EXPECT_EQ(wire.server.refused_count, 1) << "what is shown has to be good";
  }
  TlsWire wire(mutual_settings(tls::ClientCertificate::Optional, usual_authority().issue({})));
  ASSERT_TRUE(wire.shake());
  EXPECT_TRUE(wire.server.has_certificate);
}

// --- tickets

SSL_SESSION* session_after(TlsWire& wire) {
  wire.client.send("x");
  wire.run();
  wire.server.send("y");  // tickets of TLS 1.3 come with the first bytes
  wire.run();
  SSL_SESSION* const session = SSL_get1_session(wire.client.transport->ssl());
  wire.client.close();  // OpenSSL gives up the session of a connection that ends without a goodbye
  wire.run();
  return session;
}

// TL-D05.
TEST(TlsTickets, BringClientsBack) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsWire wire(usual_settings());
    SSL_set_max_proto_version(wire.client.transport->ssl(), version);
    ASSERT_TRUE(wire.shake());
    EXPECT_FALSE(wire.server.is_resumed);
    SSL_SESSION* const session = session_after(wire);
    // Another loop has a context of its own, and the same keys.
    wire.server_context = *tls::ServerContext::make(*wire.credentials, *wire.credentials->snapshot().texts);
    wire.connect();
    SSL_set_max_proto_version(wire.client.transport->ssl(), version);
    SSL_set_session(wire.client.transport->ssl(), session);
    ASSERT_TRUE(wire.shake());
    EXPECT_TRUE(wire.server.is_resumed) << version;
    EXPECT_EQ(wire.server.protocol, "http/1.1");
    SSL_SESSION_free(session);
  }
}

TEST(TlsTickets, AreOfOneNameAlone) {
  TlsWireSettings settings = usual_settings();
  const Pem pem = usual_authority().issue({.common_name = "a.example", .names = "DNS:a.example,DNS:b.example"});
  settings.server.certificates = {{pem.certificate, pem.key, ""}};
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsWire wire(settings);
    SSL_set_max_proto_version(wire.client.transport->ssl(), version);
    ASSERT_TRUE(wire.shake());
    SSL_SESSION* const session = session_after(wire);
    for (const char* const host : {"b.example", "A.example"}) {
      wire.connect();
      SSL_set_max_proto_version(wire.client.transport->ssl(), version);
      SSL_set_tlsext_host_name(wire.client.transport->ssl(), host);
      SSL_set_session(wire.client.transport->ssl(), session);
      ASSERT_TRUE(wire.shake());
      EXPECT_EQ(wire.server.is_resumed, host[0] == 'A') << host << ' ' << version;
      EXPECT_TRUE(ascii::equal_folded(wire.server.server_name, host)) << host << ' ' << version;
      wire.client.close();
      wire.run();
    }
    SSL_SESSION_free(session);
  }
}

TEST(TlsTickets, OfAnotherListenerAreNotTaken) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  SSL_SESSION* const session = session_after(wire);
  TlsWire other(usual_settings());
  SSL_set_session(other.client.transport->ssl(), session);
  ASSERT_TRUE(other.shake());
  EXPECT_FALSE(other.server.is_resumed);
  SSL_SESSION_free(session);
}

TEST(TlsTickets, KeepTheClientsCertificate) {
  TlsWire wire(mutual_settings(tls::ClientCertificate::Required, usual_authority().issue({.common_name = "me"})));
  ASSERT_TRUE(wire.shake());
  SSL_SESSION* const session = session_after(wire);
  wire.connect();
  SSL_set_session(wire.client.transport->ssl(), session);
  ASSERT_TRUE(wire.shake());
  EXPECT_TRUE(wire.server.is_resumed);
  EXPECT_TRUE(wire.server.has_certificate);
  EXPECT_EQ(wire.server.certificate.subject, "CN=me");
  SSL_SESSION_free(session);
}

TEST(TlsTickets, KeysRotateAndOldOnesOpenForAWhile) {
  constexpr std::uint64_t kHour = tls::TicketKeys::kRotateSeconds;
  tls::TicketKeys keys;
  tls::TicketKeys::Key first;
  tls::TicketKeys::Key key;
  bool is_old = true;
  ASSERT_TRUE(keys.current(first, 1000));
  ASSERT_TRUE(keys.current(key, 1000 + kHour - 1));
  EXPECT_EQ(key.name, first.name);
  ASSERT_TRUE(keys.find(first.name.data(), key, is_old, 1000 + kHour - 1));
  EXPECT_FALSE(is_old);
  EXPECT_EQ(key.cipher, first.cipher);
  ASSERT_TRUE(keys.current(key, 1000 + kHour));
  EXPECT_NE(key.name, first.name);
  EXPECT_NE(key.cipher, first.cipher);
  ASSERT_TRUE(keys.find(first.name.data(), key, is_old, 1000 + kHour));
  EXPECT_TRUE(is_old) << "opens, and the client gets a new ticket";
  EXPECT_TRUE(keys.find(first.name.data(), key, is_old, 1000 + 2 * kHour));
  EXPECT_FALSE(keys.find(first.name.data(), key, is_old, 1000 + 3 * kHour)) << "forgotten";
  ASSERT_TRUE(keys.current(first, 1000 + 3 * kHour));
  EXPECT_FALSE(keys.find(first.name.data(), key, is_old, 1000 + 7 * kHour)) << "nobody was here for too long";
}

// --- what is refused

// TL-D07 (RFC 5746).
TEST(TlsHandshake, DoesNotRenegotiate) {
  TlsWire wire(usual_settings());
  SSL* const ssl = wire.client.transport->ssl();
  SSL_set_max_proto_version(ssl, TLS1_2_VERSION);
  SSL_clear_options(ssl, SSL_OP_NO_RENEGOTIATION);
  ASSERT_TRUE(wire.shake());
  ASSERT_EQ(SSL_renegotiate(ssl), 1);
  SSL_do_handshake(ssl);
  wire.client.send("");
  wire.run();
  EXPECT_EQ(wire.server.secure_count, 1);
  EXPECT_EQ(wire.server.received, "");
  // Whether the client goes on after no_renegotiation or gives up is up to it; the server is in order.
  EXPECT_NE(wire.server.end, -EPROTO);
}

TEST(TlsHandshake, TakesNoEarlyData) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  SSL_SESSION* const session = session_after(wire);
  EXPECT_EQ(SSL_SESSION_get_max_early_data(session), 0u);
  SSL_SESSION_free(session);
}

// TL-D04.
TEST(TlsHandshake, KnowsPlainHttp) {
  TlsWire wire(usual_settings());
  wire.server.below->feed("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  wire.settle();
  EXPECT_EQ(wire.server.refused_count, 1);
  EXPECT_TRUE(tls::is_plain_http(wire.server.why)) << tls::reason(wire.server.why);
}

TEST(TlsHandshake, RefusesNoise) {
  for (const std::string_view noise :
       {std::string_view("\0\0\0\0\0\0\0\0\0\0", 10), std::string_view("\x16\x03\x01\xff\xff\x01", 6),
        std::string_view("SSH-2.0-OpenSSH\r\n"), std::string_view("\x80\x2e\x01\x00\x02", 5),
        std::string_view("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", 10)}) {
    TlsWire wire(usual_settings());
    wire.server.below->feed(noise);
    wire.server.below->feed(std::string(100, 'x'));
    wire.settle();
    EXPECT_EQ(wire.server.refused_count, 1) << noise;
    EXPECT_FALSE(tls::is_plain_http(wire.server.why));
  }
}

TEST(TlsHandshake, HearsOfAPeerThatLeaves) {
  TlsWire wire(usual_settings());
  wire.server.below->feed("\x16\x03\x01");
  wire.server.below->feed_end();
  wire.settle();
  EXPECT_EQ(wire.server.refused_count, 1);
}

// --- OCSP

TEST(TlsStaple, IsSentToThoseWhoAsk) {
  TlsWireSettings settings = usual_settings();
  const Pem pem = usual_authority().issue({.names = "DNS:a.example"});
  for (const long days : {1L, -1L}) {
    char name[] = "/tmp/violet_ocsp_XXXXXX";
    const int file = ::mkstemp(name);
    const std::string response = usual_authority().ocsp_response(pem, days);
    ASSERT_EQ(::write(file, response.data(), response.size()), static_cast<ssize_t>(response.size()));
    ::close(file);
    settings.server.certificates = {{pem.certificate, pem.key, name}};
    TlsWire wire(settings);
    ::unlink(name);
    SSL* const ssl = wire.client.transport->ssl();
    SSL_set_tlsext_status_type(ssl, TLSEXT_STATUSTYPE_ocsp);
    ASSERT_TRUE(wire.shake());
    const unsigned char* data = nullptr;
    const long size = SSL_get_tlsext_status_ocsp_resp(ssl, &data);
    const std::string sent(reinterpret_cast<const char*>(data), static_cast<std::size_t>(std::max(size, 0L)));
    EXPECT_EQ(sent, days > 0 ? response : "") << "one that is over is not sent";
    wire.connect();
    ASSERT_TRUE(wire.shake());
    EXPECT_LE(SSL_get_tlsext_status_ocsp_resp(wire.client.transport->ssl(), &data), 0) << "who does not ask";
  }
}

}  // namespace
}  // namespace violet::test
