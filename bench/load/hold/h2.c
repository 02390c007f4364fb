#include "hold.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

// RFC 9113 §6: types and flags of frames.
enum { kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kGoAway = 7 };
enum { kEndStream = 1, kAck = 1, kEndHeaders = 4 };

static unsigned char block[768];
static size_t block_bytes;

static void put_literal(unsigned char indexed_name, const char* value) {
  const size_t size = strlen(value);
  block[block_bytes++] = indexed_name;  // a literal without indexing (RFC 7541 §6.2.2), so that no table changes
  block[block_bytes++] = (unsigned char)size;
  memcpy(block + block_bytes, value, size);
  block_bytes += size;
}

static int prepare(const Url* url) {
  char host[64], address[INET_ADDRSTRLEN];
  inet_ntop(AF_INET, &url->address.sin_addr, address, sizeof address);
  snprintf(host, sizeof host, "%s:%d", address, ntohs(url->address.sin_port));
  if (strlen(url->target) > 126) return 0;
  block[block_bytes++] = 0x82;  // :method GET
  block[block_bytes++] = 0x86;  // :scheme http
  put_literal(0x04, url->target);
  put_literal(0x01, host);
  return 1;
}

static void put_head(unsigned char* at, size_t size, int type, int flags, unsigned stream) {
  const unsigned char head[9] = {
      (unsigned char)(size >> 16),   (unsigned char)(size >> 8),   (unsigned char)size,
      (unsigned char)type,           (unsigned char)flags,         (unsigned char)(stream >> 24),
      (unsigned char)(stream >> 16), (unsigned char)(stream >> 8), (unsigned char)stream};
  memcpy(at, head, sizeof head);
}

static int begin(Held* held) {
  static const char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  unsigned char hello[24 + 9];
  memcpy(hello, kPreface, 24);
  put_head(hello + 24, 0, kSettings, 0, 0);
  return write_all(held->fd, hello, sizeof hello);
}

// What is answered at once: settings and pings.
static int acknowledge(int fd, int type, const unsigned char* payload, size_t size) {
  unsigned char frame[9 + 8];
  const size_t bytes = type == kPing ? size : 0;
  if (bytes > 8) return 0;
  put_head(frame, bytes, type, kAck, 0);
  memcpy(frame + 9, payload, bytes);
  return write_all(fd, frame, 9 + bytes);
}

// Sizes of the dynamic table may come first (RFC 7541 §6.3); then ":status 200" of the static table.
static int is_status_200(const unsigned char* payload, size_t size) {
  size_t at = 0;
  while (at < size && (payload[at] & 0xe0) == 0x20) {
    const int is_long = (payload[at++] & 0x1f) == 0x1f;
    while (is_long && at < size && (payload[at++] & 0x80) != 0) {
    }
  }
  return at < size && payload[at] == 0x88;
}

static int ask(Held* held) {
  const unsigned stream = 2 * held->exchanges + 1;
  unsigned char request[9 + sizeof block];
  put_head(request, block_bytes, kHeaders, kEndStream | kEndHeaders, stream);
  memcpy(request + 9, block, block_bytes);
  if (!write_all(held->fd, request, 9 + block_bytes)) return 0;
  int is_good = 0;
  for (;;) {
    unsigned char head[9], payload[16384];
    if (!read_all(held->fd, head, sizeof head)) return 0;
    const size_t size = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
    const unsigned of = (unsigned)(head[5] & 0x7f) << 24 | (unsigned)head[6] << 16 | (unsigned)head[7] << 8 | head[8];
    const int type = head[3], flags = head[4];
    if (size > sizeof payload || !read_all(held->fd, payload, size)) return 0;
    if ((type == kSettings || type == kPing) && (flags & kAck) == 0 && !acknowledge(held->fd, type, payload, size))
      return 0;
    if (type == kGoAway || (type == kReset && of == stream)) return 0;
    if (of != stream) continue;
    if (type == kHeaders) is_good = is_status_200(payload, size);
    if ((type == kHeaders || type == kData) && (flags & kEndStream) != 0) return is_good;
  }
}

static void end(Held* held) { (void)held; }

const Wire kH2Wire = {"h2", prepare, begin, ask, end};
