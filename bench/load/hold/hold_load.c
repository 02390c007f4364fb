// hold_load [-k KIND] [-s SOURCE] [-a ADDRESSES] URL
//
// Holds idle connections that speak KIND (h1, tls, h2, ws; see hold.h), from 127.0.0.(1 + SOURCE) and the ADDRESSES - 1
// following it. Reads orders from its input and answers each with one line; ends, and closes all, at the end of its
// input.
//
//   open N   opens connections until N are held, each proven by one exchange     -> "held N failed F"
//   ask      makes one exchange on every held connection                         -> "answered N failed F"
//   close    closes all                                                          -> "held 0 failed 0"
//
// One exchange at a time: several of these, each with as many connections as a process may have descriptors, make a
// crowd.

#include "hold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kConnectionsMax = 1 << 16, kFailuresMax = 20 };

static const Wire* const kWires[] = {&kH1Wire, &kTlsWire, &kH2Wire, &kWsWire};
static Held* all;
static unsigned held_count;

int read_all(int fd, void* to, size_t size) {
  for (char* at = to; size > 0;) {
    const ssize_t got = read(fd, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    at += got;
    size -= (size_t)got;
  }
  return 1;
}

int write_all(int fd, const void* from, size_t size) { return write(fd, from, size) == (ssize_t)size; }

int read_head(int fd, char* to, size_t size) {
  for (size_t at = 0; at + 1 < size;) {
    if (!read_all(fd, to + at, 1)) return 0;
    to[++at] = 0;
    if (at >= 4 && memcmp(to + at - 4, "\r\n\r\n", 4) == 0) return 1;
  }
  return 0;
}

static const Wire* wire_of(const char* name) {
  for (size_t i = 0; i < sizeof kWires / sizeof *kWires; ++i) {
    if (strcmp(kWires[i]->name, name) == 0) return kWires[i];
  }
  return NULL;
}

static int ask(const Wire* wire, Held* held) {
  const int is_good = wire->ask(held);
  ++held->exchanges;
  return is_good;
}

static void drop(const Wire* wire, Held* held) {
  wire->end(held);
  close(held->fd);
}

static void open_until(unsigned wanted, const Wire* wire, const Url* url, unsigned source, unsigned addresses) {
  unsigned failed = 0;
  while (held_count < wanted && failed < kFailuresMax) {
    Held held = {.fd = connect_from(&url->address, source + held_count % addresses)};
    if (held.fd >= 0 && wire->begin(&held) && ask(wire, &held)) {
      all[held_count++] = held;
      continue;
    }
    if (failed++ == 0) perror("hold_load: no connection, or no answer");
    if (held.fd >= 0) drop(wire, &held);
  }
  printf("held %u failed %u\n", held_count, failed);
}

static void ask_all(const Wire* wire) {
  unsigned failed = 0;
  for (unsigned i = 0; i < held_count; ++i) failed += !ask(wire, &all[i]);
  printf("answered %u failed %u\n", held_count - failed, failed);
}

static void close_all(const Wire* wire) {
  while (held_count > 0) drop(wire, &all[--held_count]);
  printf("held 0 failed 0\n");
}

int main(int argc, char** argv) {
  unsigned addresses = 8, source = 0;
  const char* kind = "h1";
  const Option options[] = {{'a', kOptionCount, &addresses}, {'s', kOptionCount, &source}, {'k', kOptionText, &kind}};
  const char* usage = "hold_load [-k h1|tls|h2|ws] [-s SOURCE] [-a ADDRESSES] URL";
  Url url;
  url_parse(read_options(argc, argv, options, sizeof options / sizeof *options, usage), &url);
  const Wire* const wire = wire_of(kind);
  if (wire == NULL || addresses == 0 || addresses > 250 || source > 60000) print_usage(usage);
  raise_limits();
  all = calloc(kConnectionsMax, sizeof *all);
  if (all == NULL || !wire->prepare(&url)) return 1;
  char order[64];
  while (fgets(order, sizeof order, stdin) != NULL) {
    unsigned wanted;
    if (sscanf(order, "open %u", &wanted) == 1 && wanted <= kConnectionsMax) {
      open_until(wanted, wire, &url, source, addresses);
    } else if (strcmp(order, "ask\n") == 0) {
      ask_all(wire);
    } else if (strcmp(order, "close\n") == 0) {
      close_all(wire);
    } else {
      printf("unknown order\n");
    }
    fflush(stdout);
  }
  free(all);
  return 0;
}
