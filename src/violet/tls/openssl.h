#pragma once

// Owners for OpenSSL's objects, and what OpenSSL says went wrong: as an Error (ErrorKind::Tls, whose detail is
// OpenSSL's code) and as text. For .cc files of this layer; its other headers do without OpenSSL's.

#include "violet/base/error.h"

#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

namespace violet::tls {

template <auto Free>
struct Freeing {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};
inline void free_general_names(GENERAL_NAMES* names) noexcept { GENERAL_NAMES_free(names); }

using BioPtr = std::unique_ptr<BIO, Freeing<BIO_free_all>>;
using SslPtr = std::unique_ptr<SSL, Freeing<SSL_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, Freeing<SSL_CTX_free>>;
using X509Ptr = std::unique_ptr<X509, Freeing<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>>;
using OcspPtr = std::unique_ptr<OCSP_RESPONSE, Freeing<OCSP_RESPONSE_free>>;
using OcspBasicPtr = std::unique_ptr<OCSP_BASICRESP, Freeing<OCSP_BASICRESP_free>>;
using GeneralNamesPtr = std::unique_ptr<GENERAL_NAMES, Freeing<free_general_names>>;

// A BIO that reads `text`, which has to outlive it.
BioPtr reader_of(std::string_view text) noexcept;

// What failed last on this thread; its queue is empty afterwards.
Error take_error() noexcept;
// The same as text, for sentences about files: "no start line".
std::string take_error_text();

}  // namespace violet::tls
