#include "hold.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static char hello[1024];
static size_t hello_bytes;

static int prepare(const Url* url) {
  char address[INET_ADDRSTRLEN];
  inet_ntop(AF_INET, &url->address.sin_addr, address, sizeof address);
  // The key and its answer are the example of RFC 6455 §1.3.
  const int size = snprintf(hello, sizeof hello,
                            "GET %s HTTP/1.1\r\nHost: %s:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
                            url->target, address, ntohs(url->address.sin_port));
  hello_bytes = (size_t)size;
  return size > 0 && hello_bytes < sizeof hello;
}

static int begin(Held* held) {
  char head[2048];
  return write_all(held->fd, hello, hello_bytes) && read_head(held->fd, head, sizeof head) &&
         memcmp(head, "HTTP/1.1 101", 12) == 0 && strstr(head, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != NULL;
}

// A text of five bytes, back as it came. Pings of the server that came meanwhile are answered on the way.
static int ask(Held* held) {
  static const unsigned char kHello[] = {0x81, 0x85, 0, 0, 0, 0, 'h', 'e', 'l', 'l', 'o'};
  if (!write_all(held->fd, kHello, sizeof kHello)) return 0;
  for (;;) {
    unsigned char head[2], payload[125];
    if (!read_all(held->fd, head, sizeof head) || head[1] > sizeof payload) return 0;
    if (!read_all(held->fd, payload, head[1])) return 0;
    if (head[0] == 0x89) {
      unsigned char pong[6 + sizeof payload] = {0x8a, (unsigned char)(0x80 | head[1])};
      memcpy(pong + 6, payload, head[1]);
      if (!write_all(held->fd, pong, 6u + head[1])) return 0;
      continue;
    }
    return head[0] == 0x81 && head[1] == 5 && memcmp(payload, "hello", 5) == 0;
  }
}

static void end(Held* held) { (void)held; }

const Wire kWsWire = {"ws", prepare, begin, ask, end};
