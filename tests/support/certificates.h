#pragma once

// Certificates for tests, made on the spot and kept in memory: an authority, and what it signs.
//
//   test::Authority authority("Test CA");
//   test::Pem server = authority.issue({.common_name = "a.example", .names = "DNS:a.example,IP:127.0.0.1"});

#include <memory>
#include <string>

struct evp_pkey_st;
struct x509_st;

namespace violet::test {

struct Pem {
  std::string certificate;
  std::string key;
};

struct Wanted {
  std::string common_name = "test";
  std::string names;  // subjectAltName as OpenSSL reads it: "DNS:a.example,IP:127.0.0.1"
  bool is_rsa = false;
  bool is_authority = false;
  long from_days = -1;  // relative to now
  long until_days = 30;
};

class Authority {
 public:
  explicit Authority(const std::string& name);
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;
  ~Authority();

  [[nodiscard]] Pem issue(const Wanted& wanted) const;
  // An authority below this one.
  [[nodiscard]] std::unique_ptr<Authority> issue_authority(const std::string& name) const;
  // Its own certificate.
  [[nodiscard]] const std::string& certificate() const { return certificate_pem_; }
  // A DER response that calls `pem` good, from now on for `days`.
  [[nodiscard]] std::string ocsp_response(const Pem& pem, long days = 1, bool is_good = true) const;

 private:
  Authority() = default;
  evp_pkey_st* key_ = nullptr;
  x509_st* certificate_ = nullptr;
  std::string certificate_pem_;
};

// Signed by itself, for one name.
Pem self_signed(const Wanted& wanted);

}  // namespace violet::test
