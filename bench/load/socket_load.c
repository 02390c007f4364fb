// socket_load [-c CONNECTIONS] [-d DEPTH] [-s SECONDS] [-n MESSAGES] [-r MESSAGES] [-b BYTES] URL
//
// WebSocket echo: upgrades each connection, writes DEPTH masked text frames of BYTES ("hello…") at once and the next
// DEPTH when all echoes have come, each compared byte by byte. With -r a connection makes so many messages and is then
// replaced by a new one (echo-ws-limited). Prints one JSON object. One thread, epoll. Exit status 1 when any frame was
// wrong or a connection failed.

#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { kEventsMax = 256, kReadBytes = 65536, kDepthMax = 1024, kFrameMax = 125 };

typedef struct {
  int fd;
  int is_open;       // the 101 has come
  unsigned awaited;  // echoes
  uint64_t made;     // messages on this connection
  size_t part_bytes;
  char part[kFrameMax + 2];  // of an echo that has not come whole
} Connection;

typedef struct {
  struct sockaddr_in address;
  char request[1024];
  size_t request_bytes;
  char burst[(kFrameMax + 6) * kDepthMax];
  size_t frame_bytes;  // as they are sent
  char echo[kFrameMax + 2];
  size_t echo_bytes;
  unsigned depth, limit;
  uint64_t messages, wrong, failed, opened;
  int epoll;
} Load;

static void make_frames(Load* load, unsigned bytes) {
  static const unsigned char key[4] = {0x37, 0xfa, 0x21, 0x3d};
  load->echo[0] = (char)0x81;
  load->echo[1] = (char)bytes;
  for (unsigned i = 0; i < bytes; ++i) load->echo[2 + i] = "hello"[i % 5];
  load->echo_bytes = bytes + 2;
  load->frame_bytes = bytes + 6;
  for (unsigned d = 0; d < load->depth; ++d) {
    char* frame = load->burst + d * load->frame_bytes;
    frame[0] = (char)0x81;
    frame[1] = (char)(0x80 | bytes);
    memcpy(frame + 2, key, 4);
    for (unsigned i = 0; i < bytes; ++i) frame[6 + i] = (char)(load->echo[2 + i] ^ key[i % 4]);
  }
}

static int send_burst(Load* load, Connection* connection) {
  unsigned depth = load->depth;
  if (load->limit != 0 && depth > load->limit - connection->made) depth = (unsigned)(load->limit - connection->made);
  const size_t bytes = depth * load->frame_bytes;
  connection->awaited = depth;
  return write(connection->fd, load->burst, bytes) == (ssize_t)bytes;
}

static int open_connection(Load* load, Connection* connection, unsigned source) {
  memset(connection, 0, sizeof *connection);
  connection->fd = connect_from(&load->address, source);
  if (connection->fd < 0) return 0;
  set_nonblocking(connection->fd);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  ++load->opened;
  return epoll_ctl(load->epoll, EPOLL_CTL_ADD, connection->fd, &event) == 0 &&
         write(connection->fd, load->request, load->request_bytes) == (ssize_t)load->request_bytes;
}

// Takes the echoes in `bytes`; 0 when one is wrong.
static int take_echoes(Load* load, Connection* connection, const char* bytes, size_t size) {
  while (size > 0) {
    size_t take = load->echo_bytes - connection->part_bytes;
    if (take > size) take = size;
    if (connection->awaited == 0 || memcmp(bytes, load->echo + connection->part_bytes, take) != 0) {
      ++load->wrong;
      return 0;
    }
    connection->part_bytes += take;
    bytes += take;
    size -= take;
    if (connection->part_bytes < load->echo_bytes) break;
    connection->part_bytes = 0;
    --connection->awaited;
    ++connection->made;
    ++load->messages;
  }
  return 1;
}

// 0: the connection is of no more use. 1: go on. 2: it has made what it was to make.
static int on_readable(Load* load, Connection* connection) {
  static char bytes[kReadBytes];
  const ssize_t n = read(connection->fd, bytes, sizeof bytes);
  if (n < 0 && errno == EAGAIN) return 1;
  if (n <= 0) return 0;
  if (!connection->is_open) {
    // The head of an answer to a small request comes in one piece on a loopback.
    if (n < 16 || memcmp(bytes, "HTTP/1.1 101", 12) != 0 || memcmp(bytes + n - 4, "\r\n\r\n", 4) != 0) return 0;
    connection->is_open = 1;
  } else if (!take_echoes(load, connection, bytes, (size_t)n)) {
    return 0;
  }
  if (connection->awaited > 0) return 1;
  if (load->limit != 0 && connection->made >= load->limit) return 2;
  return send_burst(load, connection);
}

int main(int argc, char** argv) {
  static const char usage[] =
      "socket_load [-c CONNECTIONS] [-d DEPTH] [-s SECONDS] [-n MESSAGES] [-r MESSAGES] [-b BYTES] URL";
  static Load load;
  unsigned connections = 64, bytes = 5;
  double seconds = 5;
  uint64_t count = 0;
  load.depth = 1;
  const Option options[] = {{'c', kOptionCount, &connections}, {'d', kOptionCount, &load.depth},
                            {'s', kOptionReal, &seconds},      {'n', kOptionSize, &count},
                            {'r', kOptionCount, &load.limit},  {'b', kOptionCount, &bytes}};
  const char* text = read_options(argc, argv, options, sizeof options / sizeof *options, usage);
  if (connections == 0 || load.depth == 0 || load.depth > kDepthMax || bytes > kFrameMax) print_usage(usage);
  Url url;
  url_parse(text, &url);
  raise_limits();
  load.address = url.address;
  load.request_bytes =
      (size_t)snprintf(load.request, sizeof load.request,
                       "GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
                       url.target);
  make_frames(&load, bytes);
  load.epoll = epoll_create1(0);
  Connection* all = calloc(connections, sizeof *all);
  unsigned open = 0;
  for (unsigned i = 0; i < connections; ++i) {
    if (open_connection(&load, all + i, i % 64)) {
      ++open;
    } else {
      ++load.failed;
    }
  }
  const uint64_t begin = clock_us();
  const uint64_t end = begin + (uint64_t)(seconds * 1e6);
  struct epoll_event events[kEventsMax];
  while (open > 0 && (count != 0 ? load.messages < count : clock_us() < end)) {
    const int ready = epoll_wait(load.epoll, events, kEventsMax, 1000);
    for (int i = 0; i < ready; ++i) {
      Connection* connection = events[i].data.ptr;
      const int verdict = on_readable(&load, connection);
      if (verdict == 1) continue;
      close(connection->fd);
      if (verdict == 0) ++load.failed;
      if (verdict == 2 && open_connection(&load, connection, (unsigned)(connection - all) % 64)) continue;
      --open;
    }
  }
  const double took = (double)(clock_us() - begin) / 1e6;
  printf(
      "{\"connections\": %u, \"depth\": %u, \"messages\": %llu, \"seconds\": %.3f, \"per_second\": %.0f, \"opened\": "
      "%llu, "
      "\"wrong\": %llu, \"failed\": %llu}\n",
      connections, load.depth, (unsigned long long)load.messages, took, (double)load.messages / took,
      (unsigned long long)load.opened, (unsigned long long)load.wrong, (unsigned long long)load.failed);
  return load.wrong != 0 || load.failed != 0;
}
