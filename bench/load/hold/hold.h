#pragma once

// What a held connection speaks: h1, tls (h1 over TLS), h2 (cleartext, prior knowledge), ws (WebSocket echo). Each
// makes one exchange at a time on a blocking socket, and checks the answer.

#include "../client.h"

#include <stddef.h>

typedef struct {
  int fd;
  unsigned exchanges;  // made so far
  void* secure;        // of tls: its SSL
} Held;

typedef struct {
  const char* name;
  // Once for the process. False after a message.
  int (*prepare)(const Url* url);
  // The connection stands: a handshake, where there is one. False when it went wrong.
  int (*begin)(Held* held);
  // One request and its answer. False when that is not what was to come.
  int (*ask)(Held* held);
  void (*end)(Held* held);  // without closing the socket
} Wire;

extern const Wire kH1Wire, kTlsWire, kH2Wire, kWsWire;

// Exactly `size` bytes; false at the end of the stream, after 10 s, or on an error.
int read_all(int fd, void* to, size_t size);
int write_all(int fd, const void* from, size_t size);
// The bytes of a head up to its empty line, at most `size - 1`, ended by 0; read byte by byte, so that nothing behind
// it is taken.
int read_head(int fd, char* to, size_t size);
