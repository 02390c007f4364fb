#pragma once

// ClientContext: what TLS connections in the client's role are made from: whom to trust, what to offer. Immutable; one
// loop's.

#include "violet/memory/ref.h"
#include "violet/tls/settings.h"

#include <memory>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace violet::tls {

class ClientContext final : public Counted<ClientContext> {
 public:
  // The sentence names the file that is wrong.
  static Loaded<Ref<ClientContext>> make(const ClientSettings& settings);
  ~ClientContext();

  // A new connection to `host`, a name or an IP literal, which the server's certificate has to be for (RFC 6125); a
  // name is also sent as SNI. nullptr when there is no memory or `host` is neither.
  [[nodiscard]] ssl_st* open(std::string_view host) noexcept;

 private:
  ClientContext() = default;
  Loaded<void> configure(const ClientSettings& settings);

  ssl_ctx_st* context_ = nullptr;
  bool verifies_ = true;
};

}  // namespace violet::tls
