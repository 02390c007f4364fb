#include "violet/tls/certificate/credentials.h"

#include "violet/tls/server_context.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace violet::tls {
namespace {

constexpr std::size_t kFileBytesMax = 1 << 20;

bool is_text(const std::string& where) noexcept { return where.find("-----BEGIN ") != std::string::npos; }

std::string because(int error) { return message(Error(ErrorKind::System, error)); }

Loaded<std::string> read_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::unexpected(path + " cannot be read: " + because(errno));
  std::string text;
  char piece[4096];
  ssize_t n = 0;
  do {
    n = ::read(descriptor, piece, sizeof piece);
    if (n > 0) text.append(piece, static_cast<std::size_t>(n));
  } while ((n > 0 && text.size() <= kFileBytesMax) || (n < 0 && errno == EINTR));
  const int error = n < 0 ? errno : 0;
  ::close(descriptor);
  if (error != 0) return std::unexpected(path + " cannot be read: " + because(error));
  if (text.size() > kFileBytesMax) return std::unexpected(path + " is too large for a certificate or key");
  return text;
}

// What `where` is called in messages.
std::string called(const std::string& where, const char* what) { return is_text(where) ? what : where; }

}  // namespace

Loaded<std::string> read_pem(const std::string& where) {
  if (where.empty() || is_text(where)) return where;
  return read_file(where);
}

Loaded<CertificateTexts> read_texts(const CertificateFiles& files) {
  CertificateTexts texts;
  texts.names = {.certificate = called(files.certificate, "the given certificate"),
                 .key = called(files.key, "the given key"),
                 .ocsp = files.ocsp};
  const struct {
    const std::string& from;
    std::string& to;
  } parts[] = {{files.certificate, texts.certificate}, {files.key, texts.key}, {files.ocsp, texts.ocsp}};
  for (const auto& [from, to] : parts) {
    auto text = read_pem(from);
    if (!text) return std::unexpected(std::move(text.error()));
    to = std::move(*text);
  }
  return texts;
}

Loaded<std::shared_ptr<Credentials>> Credentials::load(ServerSettings settings) {
  std::shared_ptr<Credentials> credentials(new Credentials(std::move(settings)));
  auto done = credentials->reload();
  if (!done) return std::unexpected(std::move(done.error()));
  return credentials;
}

Loaded<std::shared_ptr<const Credentials::Texts>> Credentials::read() const {
  auto texts = std::make_shared<Texts>();
  for (const CertificateFiles& files : settings_.certificates) {
    auto one = read_texts(files);
    if (!one) return std::unexpected(std::move(one.error()));
    texts->certificates.push_back(std::move(*one));
  }
  auto client_ca = read_pem(settings_.client_ca);
  if (!client_ca) return std::unexpected(std::move(client_ca.error()));
  texts->client_ca = std::move(*client_ca);
  return texts;
}

Loaded<bool> Credentials::reload() {
  auto texts = read();
  if (!texts) return std::unexpected(std::move(texts.error()));
  {
    const std::lock_guard lock(mutex_);
    if (texts_ != nullptr && **texts == *texts_) return false;
  }
  // Whatever could fail on a loop fails here instead.
  auto context = ServerContext::make(*this, **texts);
  if (!context) return std::unexpected(std::move(context.error()));
  const std::lock_guard lock(mutex_);
  texts_ = std::move(*texts);
  generation_.fetch_add(1, std::memory_order_release);
  return true;
}

Credentials::Snapshot Credentials::snapshot() const {
  const std::lock_guard lock(mutex_);
  return {texts_, generation_.load(std::memory_order_relaxed)};
}

std::vector<std::string> Credentials::files() const {
  std::vector<std::string> found;
  const auto add = [&found](const std::string& where) {
    if (!where.empty() && !is_text(where)) found.push_back(where);
  };
  for (const CertificateFiles& files : settings_.certificates) {
    add(files.certificate);
    add(files.key);
    add(files.ocsp);
  }
  add(settings_.client_ca);
  return found;
}

}  // namespace violet::tls
