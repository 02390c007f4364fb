#include "violet/tls/certificate/development.h"

#include "violet/tls/certificate/credentials.h"
#include "violet/tls/openssl.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace violet::tls {
namespace {

constexpr const char* kFileName = "localhost.pem";
constexpr long kDay = 24 * 3600;
constexpr long kDays = 365;
constexpr long kDaysLeftLeast = 7;

struct ExtensionText {
  int id;
  const char* value;
};
constexpr ExtensionText kExtensions[] = {
    {NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1"},
    {NID_basic_constraints, "critical,CA:FALSE"},
    {NID_key_usage, "critical,digitalSignature"},
    {NID_ext_key_usage, "serverAuth"},
};

bool add_extensions(X509* certificate) {
  X509V3_CTX about;
  X509V3_set_ctx_nodb(&about);
  X509V3_set_ctx(&about, certificate, certificate, nullptr, nullptr, 0);
  for (const auto& [id, value] : kExtensions) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &about, id, value);
    const bool is_added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    if (!is_added) return false;
  }
  return true;
}

bool set_serial(X509* certificate) {
  unsigned char bytes[8];
  std::uint64_t number = 0;
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  for (const unsigned char byte : bytes) number = number << 8 | byte;
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), number >> 1 | 1) == 1;
}

X509Ptr self_signed(EVP_PKEY* key) {
  X509Ptr certificate(X509_new());
  if (certificate == nullptr) return nullptr;
  X509* const it = certificate.get();
  X509_NAME* const name = X509_get_subject_name(it);
  const bool is_made =
      X509_set_version(it, X509_VERSION_3) == 1 && set_serial(it) &&
      X509_gmtime_adj(X509_getm_notBefore(it), -kDay) != nullptr &&
      X509_gmtime_adj(X509_getm_notAfter(it), kDays * kDay) != nullptr && X509_set_pubkey(it, key) == 1 &&
      X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("violet development"),
                                 -1, -1, 0) == 1 &&
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1,
                                 0) == 1 &&
      X509_set_issuer_name(it, name) == 1 && add_extensions(it) && X509_sign(it, key, EVP_sha256()) > 0;
  return is_made ? std::move(certificate) : nullptr;
}

// Certificate and key as one PEM text; "" when OpenSSL fails.
std::string make_pem() {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const X509Ptr certificate = key != nullptr ? self_signed(key.get()) : nullptr;
  const BioPtr out(BIO_new(BIO_s_mem()));
  if (certificate == nullptr || PEM_write_bio_X509(out.get(), certificate.get()) != 1 ||
      PEM_write_bio_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return {};
  }
  const char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

// Whether the file can serve for a while, and only its user can read it.
bool is_usable(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || (info.st_mode & 077) != 0 || info.st_uid != ::geteuid()) return false;
  const auto texts = read_texts({.certificate = path});
  const auto identity = texts ? Identity::parse(*texts) : std::unexpected(texts.error());
  if (!identity) return false;
  std::time_t later = std::time(nullptr) + kDaysLeftLeast * kDay;
  return X509_cmp_time(X509_get0_notAfter(identity->certificate()), &later) > 0;
}

// In one step, so that a second program that starts now finds a whole file.
bool write_file(const std::string& folder, const std::string& path, const std::string& text) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) {
    std::filesystem::create_directories(folder, error);
    ::chmod(folder.c_str(), 0700);
  }
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);  // 0600
  if (descriptor < 0) return false;
  const bool is_written = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(descriptor);
  if (is_written && ::rename(temporary.c_str(), path.c_str()) == 0) return true;
  ::unlink(temporary.c_str());
  return false;
}

}  // namespace

std::string default_state_folder() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/violet";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.local/state/violet" : std::string();
}

Loaded<DevelopmentCertificate> development_certificate(std::string folder) {
  if (folder.empty()) folder = default_state_folder();
  const std::string path = folder.empty() ? std::string() : folder + "/" + kFileName;
  if (!path.empty() && is_usable(path)) return DevelopmentCertificate{{.certificate = path}, path, false};
  ERR_clear_error();
  std::string text = make_pem();
  if (text.empty()) return std::unexpected("a development certificate cannot be made: " + take_error_text());
  if (!path.empty() && write_file(folder, path, text)) {
    return DevelopmentCertificate{{.certificate = path}, path, true};
  }
  return DevelopmentCertificate{{.certificate = std::move(text)}, {}, true};
}

}  // namespace violet::tls
