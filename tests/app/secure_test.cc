// https listeners of an App: certificates given, made by themselves, wrong, and replaced.

#include "tests/support/certificates.h"
#include "tests/support/tls_client.h"
#include "violet/app/app.h"
#include "violet/tls/certificate/credentials.h"
#include "violet/tls/certificate/development.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

namespace violet::test {
namespace {

// A folder of its own, and the environment as it was before.
class SecureApp : public testing::Test {
 protected:
  SecureApp() {
    char name[] = "/tmp/violet_app_XXXXXX";
    folder_ = ::mkdtemp(name);
    ::setenv("XDG_STATE_HOME", folder_.c_str(), 1);
    ::unsetenv("VIOLET_ENV");
    app_.get("/", [] { return "hello"; });
    app_.loops(1);
  }
  ~SecureApp() override {
    ::unsetenv("XDG_STATE_HOME");
    ::unsetenv("VIOLET_ENV");
    std::filesystem::remove_all(folder_);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }
  // What start() says; "" when it starts.
  std::string start(const ListenOptions& options) {
    app_.listen("https://127.0.0.1:0", options);
    if (app_.start()) return {};
    return app_.errors().empty() ? "no error is named" : app_.errors().front();
  }
  [[nodiscard]] net::Endpoint endpoint() const { return *net::Endpoint::parse(app_.urls().front()); }

  std::string folder_;
  App app_;
  const Pem pem_ = self_signed({.common_name = "given", .names = "DNS:localhost"});
};

const std::string kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

TEST_F(SecureApp, ServesWithTheGivenPair) {
  EXPECT_EQ(start({.certificate = write("c.pem", pem_.certificate), .key = write("k.pem", pem_.key)}), "");
  EXPECT_TRUE(app_.urls().front().starts_with("https://127.0.0.1:"));
  TlsClient client(endpoint());
  EXPECT_EQ(client.ask(kGet).body, "hello");
  EXPECT_EQ(client.server(), "given");
}

TEST_F(SecureApp, TakesTextsInPlaceOfFilesAndBothInOne) {
  EXPECT_EQ(start({.certificate = pem_.certificate + pem_.key}), "");
  EXPECT_EQ(TlsClient(endpoint()).server(), "given");
}

TEST_F(SecureApp, MakesACertificateForTheDesk) {
  EXPECT_EQ(start({}), "");
  const std::string path = file("violet/localhost.pem");
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(file("violet").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  TlsClient client(endpoint());
  EXPECT_EQ(client.ask(kGet).body, "hello");
  EXPECT_EQ(client.server(), "localhost");
}

TEST_F(SecureApp, KeepsTheCertificateForTheDesk) {
  auto first = tls::development_certificate();
  ASSERT_TRUE(first) << first.error();
  EXPECT_TRUE(first->is_new);
  auto second = tls::development_certificate();
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->is_new);
  EXPECT_EQ(second->path, first->path);
  // One that others can read, or that is none, is made anew.
  ::chmod(first->path.c_str(), 0644);
  EXPECT_TRUE(tls::development_certificate()->is_new);
  std::ofstream(first->path) << "nonsense";
  EXPECT_TRUE(tls::development_certificate()->is_new);
  const Pem old = self_signed({.until_days = 3});
  std::ofstream(first->path) << old.certificate << old.key;
  EXPECT_TRUE(tls::development_certificate()->is_new) << "it would end within a week";
  auto texts = tls::read_texts(tls::development_certificate()->files);
  ASSERT_TRUE(texts);
  auto identity = tls::Identity::parse(*texts);
  ASSERT_TRUE(identity) << identity.error();
  EXPECT_EQ(tls::alternative_names(identity->certificate()),
            (std::vector<std::string>{"DNS:localhost", "IP:127.0.0.1", "IP:::1"}));
}

TEST_F(SecureApp, DoesWithoutAFolderToKeepIt) {
  write("file", "");
  auto made = tls::development_certificate(file("file/below"));
  ASSERT_TRUE(made) << made.error();
  EXPECT_EQ(made->path, "");
  EXPECT_TRUE(made->files.certificate.starts_with("-----BEGIN CERTIFICATE"));
}

TEST_F(SecureApp, MakesNoneInProduction) {
  ::setenv("VIOLET_ENV", "production", 1);
  EXPECT_NE(start({}).find("no certificate is given"), std::string::npos) << app_.errors().front();
  EXPECT_FALSE(std::filesystem::exists(file("violet")));
  EXPECT_FALSE(app_.is_ready());
}

TEST_F(SecureApp, NamesTheFilesThatAreWrong) {
  const std::string certificate = write("c.pem", pem_.certificate);
  const std::string other = write("other.pem", self_signed({}).key);
  const std::string noise = write("noise.pem", "nothing of the kind");
  const std::string cut = write("cut.pem", pem_.certificate.substr(0, 200));
  const struct {
    ListenOptions options;
    std::vector<std::string> parts;
  } cases[] = {
      {{.certificate = file("missing.pem"), .key = other}, {file("missing.pem"), "No such file"}},
      {{.certificate = certificate, .key = file("missing.key")}, {file("missing.key"), "No such file"}},
      {{.certificate = certificate, .key = other}, {"is not that of the certificate", other, certificate}},
      {{.certificate = noise, .key = other}, {"no certificate in " + noise}},
      {{.certificate = cut, .key = other}, {cut}},
      {{.certificate = certificate, .key = noise}, {"no private key in " + noise}},
      {{.certificate = certificate}, {"no private key in " + certificate}},
      {{.certificate = folder_}, {folder_, "Is a directory"}},
      {{.certificate = certificate + "x", .key = other, .client_ca = noise}, {"c.pemx"}},
      {{.certificate = pem_.certificate, .key = pem_.key, .client_ca = certificate}, {"no client is asked"}},
      {{.certificate = pem_.certificate, .key = pem_.key, .client_certificate = ClientCertificate::Required},
       {"no client CA"}},
      {{.certificate = pem_.certificate,
        .key = pem_.key,
        .client_certificate = ClientCertificate::Required,
        .client_ca = noise},
       {"no certificate in " + noise}},
      {{.certificate = pem_.certificate, .key = pem_.key, .ocsp = noise}, {noise, "OCSP"}},
      {{.certificate = certificate,
        .key = write("k.pem", pem_.key),
        .more_certificates = {{certificate, file("k.pem"), ""}}},
       {"the same names and the same kind of key", certificate}},
  };
  for (const auto& [options, parts] : cases) {
    App app;
    app.get("/", [] { return "hello"; });
    app.listen("https://127.0.0.1:0", options);
    EXPECT_FALSE(app.start());
    ASSERT_EQ(app.errors().size(), 1u);
    EXPECT_TRUE(app.errors().front().starts_with("cannot listen on https://127.0.0.1:0: "));
    for (const std::string& part : parts) {
      EXPECT_NE(app.errors().front().find(part), std::string::npos) << part << " in " << app.errors().front();
    }
  }
}

TEST_F(SecureApp, WantsNoCertificateWithoutTls) {
  app_.listen("http://127.0.0.1:0", {.certificate = pem_.certificate + pem_.key});
  EXPECT_FALSE(app_.start());
}

TEST_F(SecureApp, ReloadsWhenAsked) {
  write("c.pem", pem_.certificate);
  write("k.pem", pem_.key);
  EXPECT_TRUE(app_.reload_certificates()) << "nothing runs, nothing is wrong";
  EXPECT_EQ(start({.certificate = file("c.pem"), .key = file("k.pem")}), "");
  const Pem next = self_signed({.common_name = "next"});
  write("c.pem", next.certificate);
  write("k.pem", next.key);
  EXPECT_TRUE(app_.reload_certificates());
  EXPECT_EQ(TlsClient(endpoint()).server(), "next");
  write("k.pem", "nonsense");
  EXPECT_FALSE(app_.reload_certificates());
  EXPECT_EQ(TlsClient(endpoint()).server(), "next");
}

}  // namespace
}  // namespace violet::test
