#pragma once

// Security: what TLS has established about a connection; the same object for all its requests. Connections without TLS
// have none.

#include "violet/memory/ref.h"

#include <string>
#include <string_view>
#include <vector>

namespace violet {

struct Security final : Counted<Security> {
  std::string_view version;  // "TLSv1.3"; lives for ever, like the next
  std::string_view cipher;   // "TLS_AES_128_GCM_SHA256"
  std::string server_name;   // that the client asked for (SNI), "" when none
  bool is_resumed = false;   // by a ticket of an earlier connection

  // The client's certificate, where it has shown one; it is verified, otherwise there would be no connection.
  bool has_client_certificate = false;
  std::string client_subject;             // RFC 4514: "CN=client,O=Example"
  std::vector<std::string> client_names;  // subject alternative names: "DNS:a.example", "URI:…", "IP:…", "email:…"
};

}  // namespace violet
