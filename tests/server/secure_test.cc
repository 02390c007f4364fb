// A server's TLS listeners over the real network: who gets in, how long that may take, and new certificates.

#include "tests/server/running.h"
#include "tests/support/certificates.h"
#include "tests/support/tls_client.h"
#include "violet/base/log.h"
#include "violet/tls/certificate/credentials.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace violet::test {
namespace {

using namespace std::chrono_literals;

const Authority& authority() {
  static const Authority kAuthority("CA");
  return kAuthority;
}

Pem pem_of(const std::string& name) { return authority().issue({.common_name = name, .names = "DNS:a.example"}); }

Entrance entrance(tls::ServerSettings settings = {}) {
  if (settings.certificates.empty()) {
    const Pem pem = pem_of("first");
    settings.certificates = {{pem.certificate, pem.key, ""}};
  }
  settings.protocols = {"http/1.1"};
  auto credentials = tls::Credentials::load(std::move(settings));
  if (!credentials) ADD_FAILURE() << credentials.error();
  return {.credentials = *credentials};
}

// Tells who the connection is from and what TLS knows of it.
class TellingService final : public Service {
 public:
  void serve(Exchange& exchange) override {
    const Connection& connection = exchange.connection();
    std::string text = connection.peer.to_string();
    if (const Security* security = connection.security.get()) {
      text += " " + std::string(security->version) + " " + security->server_name + " " + security->client_subject;
    }
    exchange.reply(Slice::of(std::move(text)));
  }
};

struct Secure {
  explicit Secure(Entrance how, ServerOptions options = {.loops = 2}, const char* url = "https://127.0.0.1:0")
      : server(service, std::move(options)) {
    if (auto opened = server.listen(url, {}, std::move(how))) endpoint = *opened;
    EXPECT_TRUE(server.start());
  }
  TellingService service;
  Server server;
  net::Endpoint endpoint;
};

// What was logged while it lives.
class LogLines {
 public:
  LogLines() {
    current = this;
    set_log_sink([](LogLevel, std::string_view text) noexcept {
      const std::lock_guard lock(current->mutex_);
      current->lines_.emplace_back(text);
    });
  }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  ~LogLines() { set_log_sink(nullptr); }
  bool has(std::string_view part) {
    const std::lock_guard lock(mutex_);
    for (const std::string& line : lines_) {
      if (line.find(part) != std::string::npos) return true;
    }
    return false;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return lines_.size();
  }

 private:
  static inline LogLines* current = nullptr;
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST(SecureServer, ServesFromEveryLoop) {
  Secure secure(entrance());
  for (int i = 0; i < 20; ++i) {
    TlsClient client(secure.endpoint);
    ASSERT_TRUE(client.is_open());
    const Reply reply = client.ask(kGet);
    EXPECT_EQ(reply.status, 200);
    EXPECT_NE(reply.body.find(" TLSv1.3 a.example "), std::string::npos) << reply.body;
    EXPECT_EQ(client.ask(kGet).status, 200);
  }
  secure.server.stop(1s);
  secure.server.wait();
  EXPECT_EQ(secure.server.counters().handshakes, 20u);
  EXPECT_EQ(secure.server.counters().handshake_errors, 0u);
  EXPECT_EQ(secure.server.connection_count(), 0u);
}

TEST(SecureServer, NeverServesPlaintextInstead) {
  TellingService service;
  Server server(service, {.loops = 1});
  EXPECT_EQ(server.listen("https://127.0.0.1:0").error().kind(), ErrorKind::Unsupported);
  EXPECT_EQ(server.listen("http://127.0.0.1:0", {}, entrance()).error().kind(), ErrorKind::Unsupported);
}

// TL-D04.
TEST(SecureServer, TellsPlainHttpWhatIsWrongAndCloses) {
  LogLines lines;
  Secure secure(entrance());
  Client client(secure.endpoint);
  const Reply reply = client.ask(kGet);
  EXPECT_EQ(reply.status, 400);
  EXPECT_NE(reply.body.find("https"), std::string::npos);
  EXPECT_TRUE(client.is_closed_within(5'000));
  EXPECT_TRUE(eventually([&] { return lines.has("was not opened: http request"); }));
  EXPECT_TRUE(eventually([&] { return secure.server.counters().handshake_errors == 1; }));
}

// TL-D06.
TEST(SecureServer, ClosesWithANotice) {
  Secure secure(entrance());
  TlsClient client(secure.endpoint);
  EXPECT_EQ(client.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").status, 200);
  EXPECT_TRUE(client.ends_well());
  TlsClient idle(secure.endpoint);
  EXPECT_EQ(idle.ask(kGet).status, 200);
  secure.server.stop(5s);
  EXPECT_TRUE(idle.ends_well()) << "a drained connection is told, too";
}

// TL-D05.
TEST(SecureServer, TakesItsTicketsOnEveryLoop) {
  Secure secure(entrance(), {.loops = 3});
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient first(secure.endpoint, {.version = version});
    ASSERT_EQ(first.ask(kGet).status, 200);
    SSL_SESSION* const session = first.session();
    for (int i = 0; i < 10; ++i) {
      TlsClient again(secure.endpoint, {.session = session, .version = version});
      EXPECT_TRUE(again.is_resumed()) << i;
      EXPECT_EQ(again.ask(kGet).status, 200);
    }
    SSL_SESSION_free(session);
  }
}

// TL-D10.
TEST(SecureServer, ShowsTheClientsCertificateToTheHandler) {
  tls::ServerSettings settings{.client_certificate = tls::ClientCertificate::Required,
                               .client_ca = authority().certificate()};
  Secure secure(entrance(settings));
  const Pem me = authority().issue({.common_name = "me"});
  TlsClient known(secure.endpoint, {.certificate = me.certificate, .key = me.key});
  EXPECT_NE(known.ask(kGet).body.find(" CN=me"), std::string::npos);
  TlsClient unknown(secure.endpoint);
  EXPECT_EQ(unknown.ask(kGet).status, 0);
}

// --- time

// As many clients as TL-D09 wants, or as this process may have with their servers.
std::size_t many() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return std::min<std::size_t>(1000, limit.rlim_cur / 2 - 100);
}

// TL-D09.
TEST(SecureServer, ClosesSlowHandshakesAndServesOthersMeanwhile) {
  LogLines lines;
  ServerOptions options{.loops = 1};
  options.limits.handshake_ms = 1'000;
  const std::size_t count = many();
  Secure secure(entrance(), options);
  const auto began = std::chrono::steady_clock::now();
  std::vector<Client> silent;
  for (std::size_t i = 0; i < count; ++i) silent.emplace_back(secure.endpoint);
  Client dripping(secure.endpoint);
  ASSERT_TRUE(eventually([&] { return secure.server.connection_count() == count + 1; }));
  TlsClient served(secure.endpoint);
  EXPECT_EQ(served.ask(kGet).status, 200);
  for (const char byte : std::string_view("\x16\x03\x01\x02\x00\x01", 6)) {
    dripping.send({&byte, 1});
    EXPECT_EQ(served.ask(kGet).status, 200);
  }
  EXPECT_TRUE(dripping.is_closed_within(5'000));
  for (Client& client : silent) EXPECT_TRUE(client.is_closed_within(5'000));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 900ms);
  EXPECT_EQ(served.ask(kGet).status, 200);
  EXPECT_TRUE(eventually([&] { return secure.server.connection_count() == 1; }));
  EXPECT_TRUE(eventually([&] { return secure.server.counters().timeouts == count + 1; }));
  EXPECT_TRUE(lines.has("limit handshake_ms = 1000"));
  EXPECT_LE(lines.count(), 10u) << "many connections are not as many lines";
}

TEST(SecureServer, DoesNotWaitForHandshakesWhenItStops) {
  Secure secure(entrance());
  Client silent(secure.endpoint);
  ASSERT_TRUE(eventually([&] { return secure.server.connection_count() == 1; }));
  const auto began = std::chrono::steady_clock::now();
  secure.server.stop(10s);
  secure.server.wait();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

// --- new certificates

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/violet_secure_XXXXXX";
    path_ = ::mkdtemp(name);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name + ".new")) << text;
    std::filesystem::rename(file(name + ".new"), file(name));
  }
  void write(const Pem& pem) const {
    write("c.pem", pem.certificate);
    write("k.pem", pem.key);
  }
  [[nodiscard]] tls::ServerSettings settings() const { return {.certificates = {{file("c.pem"), file("k.pem"), ""}}}; }

 private:
  std::string path_;
};

TEST(SecureServer, ServesNewCertificatesWithinASecondAndLosesNothing) {
  LogLines lines;
  Folder folder;
  folder.write(pem_of("first"));
  Secure secure(entrance(folder.settings()));
  TlsClient old(secure.endpoint);
  EXPECT_EQ(old.ask(kGet).status, 200);
  EXPECT_EQ(old.server(), "first");

  // Thirty a second, across the swap.
  std::atomic<int> good = 0;
  std::thread asking([&] {
    for (int i = 0; i < 60; ++i) {
      const auto next = std::chrono::steady_clock::now() + 33ms;
      TlsClient client(secure.endpoint);
      if (client.ask(kGet).status == 200) ++good;
      std::this_thread::sleep_until(next);
    }
  });
  const auto swapped = std::chrono::steady_clock::now();
  folder.write(pem_of("second"));
  EXPECT_TRUE(eventually([&] { return TlsClient(secure.endpoint).server() == "second"; }));
  EXPECT_LT(std::chrono::steady_clock::now() - swapped, 1s);
  asking.join();
  EXPECT_EQ(good, 60);
  EXPECT_EQ(old.ask(kGet).status, 200) << "connections live on";
  EXPECT_TRUE(lines.has("serves new certificates from now on"));
}

TEST(SecureServer, KeepsTheOldPairWhenTheNewOneIsBad) {
  LogLines lines;
  Folder folder;
  folder.write(pem_of("first"));
  Secure secure(entrance(folder.settings()));
  folder.write("k.pem", pem_of("other").key);
  EXPECT_TRUE(eventually([&] { return lines.has("the new ones cannot be used: the key in " + folder.file("k.pem")); }));
  EXPECT_EQ(TlsClient(secure.endpoint).server(), "first");
  folder.write("c.pem", "not a certificate");
  EXPECT_TRUE(eventually([&] { return lines.has("no certificate in " + folder.file("c.pem")); }));
  EXPECT_FALSE(secure.server.reload_certificates());
  EXPECT_EQ(TlsClient(secure.endpoint).server(), "first");
  folder.write(pem_of("second"));
  EXPECT_TRUE(eventually([&] { return TlsClient(secure.endpoint).server() == "second"; }));
}

TEST(SecureServer, ReloadsWhenAsked) {
  Folder folder;
  folder.write(pem_of("first"));
  Secure secure(entrance(folder.settings()));
  EXPECT_TRUE(secure.server.reload_certificates()) << "nothing new is no error";
  EXPECT_EQ(TlsClient(secure.endpoint).server(), "first");
  folder.write(pem_of("second"));
  EXPECT_TRUE(secure.server.reload_certificates());
  EXPECT_EQ(TlsClient(secure.endpoint).server(), "second") << "at once";
}

TEST(SecureServer, FollowsALinkThatIsSwapped) {
  Folder folder;
  for (const char* name : {"one", "two"}) {
    std::filesystem::create_directory(folder.file(name));
    const Pem pem = pem_of(name);
    folder.write(std::string(name) + "/c.pem", pem.certificate);
    folder.write(std::string(name) + "/k.pem", pem.key);
  }
  // As secrets are mounted: the files are links through one link, which is replaced.
  std::filesystem::create_directory_symlink("one", folder.file("data"));
  std::filesystem::create_symlink("data/c.pem", folder.file("c.pem"));
  std::filesystem::create_symlink("data/k.pem", folder.file("k.pem"));
  Secure secure(entrance(folder.settings()));
  EXPECT_EQ(TlsClient(secure.endpoint).server(), "one");
  std::filesystem::create_directory_symlink("two", folder.file("data.new"));
  std::filesystem::rename(folder.file("data.new"), folder.file("data"));
  EXPECT_TRUE(eventually([&] { return TlsClient(secure.endpoint).server() == "two"; }));
}

TEST(SecureServer, FollowsTheLinkOfAFolderAgainAndAgain) {
  Folder folder;
  for (const char* name : {"one", "two"}) {
    std::filesystem::create_directories(folder.file(std::string(name) + "/keys"));
    const Pem pem = pem_of(name);
    folder.write(std::string(name) + "/keys/c.pem", pem.certificate);
    folder.write(std::string(name) + "/keys/k.pem", pem.key);
  }
  // As releases are deployed: the paths lead through a link to the current one.
  std::filesystem::create_directory_symlink("one", folder.file("current"));
  tls::ServerSettings settings = folder.settings();
  settings.certificates = {{folder.file("current/keys/c.pem"), folder.file("current/keys/k.pem"), ""}};
  Secure secure(entrance(settings));
  for (const char* name : {"two", "one"}) {
    std::filesystem::create_directory_symlink(name, folder.file("current.new"));
    std::filesystem::rename(folder.file("current.new"), folder.file("current"));
    EXPECT_TRUE(eventually([&] { return TlsClient(secure.endpoint).server() == name; })) << name;
  }
  // What is written where the link leads now is seen, too.
  const Pem three = pem_of("three");
  folder.write("one/keys/c.pem", three.certificate);
  folder.write("one/keys/k.pem", three.key);
  EXPECT_TRUE(eventually([&] { return TlsClient(secure.endpoint).server() == "three"; }));
}

// --- PROXY

const std::string kProxy1 = "PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n";
const std::string kProxy2 = std::string("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c", 16) +
                            std::string("\xc0\x00\x02\x01\xc6\x33\x64\x02\xdc\x04\x01\xbb", 12);
const std::string kLocal2 = std::string("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16);

TEST(ProxiedServer, BelievesTheHeaderWithAndWithoutTls) {
  Secure plain({.expects_proxy = true}, {.loops = 1}, "http://127.0.0.1:0");
  Entrance both = entrance();
  both.expects_proxy = true;
  Secure secure(both);
  for (const std::string& header : {kProxy1, kProxy2}) {
    Client client(plain.endpoint);
    EXPECT_EQ(client.ask(header + kGet).body, "192.0.2.1:56324");
    EXPECT_EQ(client.ask(kGet).body, "192.0.2.1:56324") << "as long as it lasts";
    TlsClient tls_client(secure.endpoint, {.before = header});
    EXPECT_TRUE(tls_client.ask(kGet).body.starts_with("192.0.2.1:56324 TLSv1.3")) << header;
  }
  EXPECT_TRUE(Client(plain.endpoint).ask(kLocal2 + kGet).body.starts_with("127.0.0.1:"));
  EXPECT_TRUE(Client(plain.endpoint).ask("PROXY UNKNOWN\r\n" + kGet).body.starts_with("127.0.0.1:"));
}

TEST(ProxiedServer, TakesTheHeaderInPieces) {
  Secure plain({.expects_proxy = true}, {.loops = 1}, "http://127.0.0.1:0");
  for (const std::string& header : {kProxy1, kProxy2}) {
    const std::string bytes = header + kGet;
    for (std::size_t cut = 1; cut < bytes.size(); cut += 3) {
      Client client(plain.endpoint);
      client.send(std::string_view(bytes).substr(0, cut));
      EXPECT_EQ(client.ask(bytes.substr(cut)).body, "192.0.2.1:56324") << cut;
    }
  }
}

TEST(ProxiedServer, WantsTheHeader) {
  ServerOptions options{.loops = 1};
  options.limits.handshake_ms = 300;
  Secure plain({.expects_proxy = true}, options, "http://127.0.0.1:0");
  for (const std::string& bytes : {kGet, std::string("PROXY TCP4 a b c d\r\n") + kGet}) {
    Client client(plain.endpoint);
    client.send(bytes);
    EXPECT_TRUE(client.is_closed_within(5'000));
  }
  Client cut(plain.endpoint);
  cut.send("PROXY TC");
  EXPECT_TRUE(cut.is_closed_within(5'000)) << "the time of the handshake counts";
  EXPECT_TRUE(eventually([&] { return plain.server.counters().timeouts == 1; }));
  EXPECT_EQ(plain.server.counters().requests, 0u);
}

TEST(ProxiedServer, LetsGoOfWhoeverLeavesBeforeItsHeader) {
  Secure plain({.expects_proxy = true}, {.loops = 1}, "http://127.0.0.1:0");
  for (const bool by_reset : {false, true}) {
    Client leaving(plain.endpoint);
    leaving.send("PROXY TC");
    by_reset ? leaving.reset() : leaving.half_close();
    EXPECT_TRUE(eventually([&] { return plain.server.connection_count() == 0; })) << by_reset;
  }
  EXPECT_EQ(plain.server.counters().requests, 0u);
}

TEST(ProxiedServer, IsNotWhatOtherListenersAre) {
  Secure plain({}, {.loops = 1}, "http://127.0.0.1:0");
  EXPECT_EQ(Client(plain.endpoint).ask(kProxy1 + kGet).status, 400);
}

}  // namespace
}  // namespace violet::test
