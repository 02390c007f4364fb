#pragma once

// What a program says about TLS, in plain values: the server's side of a listener, and the client's side of a
// connection. OpenSSL does not appear here.
//
// Where a file is asked for, its PEM text ("-----BEGIN …") will do as well.

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace violet::tls {

// A value, or a sentence that says what is wrong and names the file. For what is set up once, not for connections.
template <class T>
using Loaded = std::expected<T, std::string>;

// One certificate with its key.
struct CertificateFiles {
  std::string certificate;  // PEM, the chain behind it
  std::string key;          // PEM; "": it stands in the certificate's file
  std::string ocsp;         // a DER response to staple; "": none
};

// Whether a server asks for the client's certificate. What is offered and cannot be verified ends the handshake.
enum class ClientCertificate : std::uint8_t { None, Optional, Required };

struct ServerSettings {
  // The first one serves clients that name none of the others. An RSA and an ECDSA certificate of the same names serve
  // together, each to the clients that can use it.
  std::vector<CertificateFiles> certificates;
  ClientCertificate client_certificate = ClientCertificate::None;
  std::string client_ca;               // PEM: who signs the certificates of clients
  std::vector<std::string> protocols;  // ALPN names, the preferred one first; a client that offers others is refused
};

struct ClientSettings {
  std::string ca;                      // PEM; "": what the system trusts
  CertificateFiles certificate;        // ours, for servers that ask; empty: none
  std::vector<std::string> protocols;  // ALPN names to offer
  bool verifies = true;                // false takes any certificate of any name
};

}  // namespace violet::tls
