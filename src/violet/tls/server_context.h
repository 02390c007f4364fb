#pragma once

// ServerContext: what the TLS connections of one listener on one loop are made from: certificates by name, versions,
// ciphers, ALPN, tickets, client certificates. Immutable; a reload makes a new one, and connections keep theirs.
//
// TLS 1.2 and 1.3 with AEAD ciphers and forward secrecy only, the server's order counts, no renegotiation, no
// compression, no early data.
//
// One loop's: the count is plain. It is made on any thread.

#include "violet/memory/ref.h"
#include "violet/tls/certificate/credentials.h"
#include "violet/tls/certificate/names.h"

#include <memory>
#include <string>
#include <vector>

struct ssl_st;

namespace violet::tls {

class ServerContext final : public Counted<ServerContext> {
 public:
  // The sentence names the file that is wrong. `credentials` has to outlive the context.
  static Loaded<Ref<ServerContext>> make(Credentials& credentials, const Credentials::Texts& texts);
  ~ServerContext();

  // A new connection in the server's role; nullptr when there is no memory.
  [[nodiscard]] ssl_st* open() noexcept;

 private:
  friend struct ServerCallbacks;
  // Certificates of the same names, each with another kind of key.
  struct Group;

  explicit ServerContext(Credentials& credentials);
  Loaded<void> add(Identity identity);
  Loaded<void> configure(Group& group, const std::string& client_ca);
  Loaded<void> set_client_ca(Group& group, const std::string& client_ca);

  Credentials& credentials_;
  NameTable names_;
  std::vector<std::unique_ptr<Group>> groups_;  // the first one serves unknown names
};

}  // namespace violet::tls
