#pragma once

// The contract between the wires and the application.
//
// A Stream is one exchange as the wire sees it; a Receiver is whoever wants what arrives on it. Both directions run at
// once and neither waits for the other.
//
//   down, called by the application            up, called by the wire
//   -------------------------------            ----------------------
//   inform(head)*                              on_head(head)        once; on a client also each 1xx head before
//   start(head, body)     at most once         on_data(slice)*
//   wake()*               source has more      on_end(trailers)     at most once
//   credit(n)*            n bytes were used    on_close(why)        exactly once and always last
//   reset(why)            at most once
//
// Rules, each of which the contract suite (tests/contract) checks on every wire:
//   1. A stream never calls into its receiver from inside a call the receiver made; what results from a call down comes
//      up later in the turn. start() and wake() may pull from the source.
//   2. After on_close the stream is gone: no call in either direction. Until then every call down is legal at any time,
//      also after reset(), and does nothing when it comes too late.
//   3. Bytes handed up count against the stream until credit(n) gives them back. A stream that is owed too much stops
//      asking its peer (h1 stops reading, h2 and h3 withhold window) without holding other streams up. Bytes that a
//      block or heap buffer owns are the receiver's alone: it may change them in place (WebSocket unmasks there).
//   4. A wire asks a source only when it has room. A source that answered Wait is asked again only after wake().
//   5. The head passed to start() and inform(), and borrowed slices of a body, need to live only until the call
//   returns.
//   6. on_close(why): ErrorKind::None when both directions ended well, otherwise the reason.
//
//   7. A tunnel (see start()) is two byte streams that end apart: on_end() says that the peer has ended its direction,
//      while ours goes on until its source answers End; after that bytes still come up until the peer's own end.
//      on_close follows when both have ended.
//
// One thread, the loop's.

#include "violet/base/address.h"
#include "violet/base/error.h"
#include "violet/core/body.h"
#include "violet/http/head.h"
#include "violet/memory/ref.h"
#include "violet/memory/slice.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace violet {

class Receiver;

// What TLS has established about a connection; the same object for all its requests.
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

// What a stream's connection is; the same object for all its streams.
struct Connection {
  Address peer;
  http::Version version = http::Version::Http11;
  bool is_secure = false;
  std::uint64_t id = 0;    // unique in the process, never used again
  Ref<Security> security;  // nullptr without TLS
};

class Stream {
 public:
  // Sends an informational (1xx) head.
  virtual void inform(const http::Head& head) = 0;

  // Sends the final head together with whatever body there is; on a client, the request. The wire frames the body by
  // its length and drops fields that only a wire may set (Connection, Transfer-Encoding, Keep-Alive, Upgrade on h2 and
  // h3). A 101, or a 2xx to CONNECT, turns the stream into a plain pair of byte streams.
  virtual void start(const http::Head& head, Body&& body) = 0;

  // The source that answered Wait has more now, or has ended or failed.
  virtual void wake() = 0;

  // n bytes given to on_data have been used.
  virtual void credit(std::size_t n) = 0;

  // Ends both directions at once.
  virtual void reset(Error why) = 0;

  // From now on `receiver` gets the events: a WebSocket replaces the exchange that accepted it.
  virtual void set_receiver(Receiver& receiver) = 0;

  // After start() has made it a tunnel: the stream that goes on. A wire may have a smaller one for that; then this one
  // is gone for its user.
  virtual Stream& as_tunnel() { return *this; }

  [[nodiscard]] virtual const Connection& connection() const noexcept = 0;
  // Our end of the connection; a system call.
  [[nodiscard]] virtual Address local_address() const noexcept = 0;

 protected:
  ~Stream() = default;
};

class Receiver {
 public:
  // `has_body` false: on_end follows without any on_data. The head lives at least until this call returns.
  virtual void on_head(http::Head& head, bool has_body) = 0;
  // Never empty. The receiver owes credit(data.size()).
  virtual void on_data(Slice data) = 0;
  // `trailers` is nullptr when there were none and lives until the call returns.
  virtual void on_end(const http::Fields* trailers) = 0;
  virtual void on_close(Error why) noexcept = 0;

 protected:
  ~Receiver() = default;
};

}  // namespace violet
