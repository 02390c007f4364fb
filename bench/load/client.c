#define _GNU_SOURCE
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

static int read_value(const char* text, const Option* option) {
  char* after = NULL;
  errno = 0;
  switch (option->kind) {
    case kOptionCount: {
      const unsigned long value = strtoul(text, &after, 10);
      if (value > UINT_MAX) return 0;
      *(unsigned*)option->value = (unsigned)value;
      break;
    }
    case kOptionSize: *(uint64_t*)option->value = strtoull(text, &after, 10); break;
    case kOptionReal: *(double*)option->value = strtod(text, &after); break;
    case kOptionText: *(const char**)option->value = text; return 1;
  }
  return errno == 0 && after != text && *after == 0 && *text != '-';
}

void print_usage(const char* usage) {
  fprintf(stderr, "usage: %s\n", usage);
  exit(2);
}

const char* read_options(int argc, char** argv, const Option* options, size_t count, const char* usage) {
  int at = 1;
  for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
    size_t i = 0;
    while (i < count && (argv[at][1] != options[i].letter || argv[at][2] != 0)) ++i;
    if (i == count || !read_value(argv[at + 1], &options[i])) break;
  }
  if (at + 1 != argc || argv[at][0] == '-') print_usage(usage);
  return argv[at];
}

void url_parse(const char* text, Url* url) {
  char host[64];
  unsigned port = 0;
  int used = 0;
  memset(url, 0, sizeof *url);
  url->address.sin_family = AF_INET;
  if (sscanf(text, "http://%63[0-9.]:%u%n", host, &port, &used) != 2 || port == 0 || port > 65535 ||
      inet_pton(AF_INET, host, &url->address.sin_addr) != 1 || strlen(text + used) >= sizeof url->target) {
    fprintf(stderr, "%s is not http://ADDRESS:PORT/PATH\n", text);
    exit(2);
  }
  url->address.sin_port = htons((unsigned short)port);
  strcpy(url->target, text[used] == '/' ? text + used : "/");
}

size_t format_get(const Url* url, char* out, size_t size) {
  char host[INET_ADDRSTRLEN];
  inet_ntop(AF_INET, &url->address.sin_addr, host, sizeof host);
  const int length = snprintf(out, size, "GET %s HTTP/1.1\r\nHost: %s:%d\r\nUser-Agent: violet-bench\r\n\r\n",
                              url->target, host, ntohs(url->address.sin_port));
  if (length < 0 || (size_t)length >= size) abort();
  return (size_t)length;
}

uint64_t clock_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

void raise_limits(void) {
  struct rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  signal(SIGPIPE, SIG_IGN);
}

int connect_from(const struct sockaddr_in* to, unsigned source) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int on = 1;
  const struct timeval patience = {.tv_sec = 10};
  // The port is chosen at connect(), so that it need not be free for every destination.
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + source)};
  if (bind(fd, (const struct sockaddr*)&from, sizeof from) != 0 ||
      connect(fd, (const struct sockaddr*)to, sizeof *to) != 0) {
    const int why = errno;
    close(fd);
    errno = why;
    return -1;
  }
  return fd;
}

void set_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

void reader_init(Reader* reader, size_t capacity) {
  memset(reader, 0, sizeof *reader);
  reader->data = malloc(capacity + 1);  // and a NUL behind what has come, for strtol()
  reader->capacity = capacity;
  if (reader->data == NULL) abort();
  reader->data[0] = '\0';
}

void reader_free(Reader* reader) {
  free(reader->data);
  reader->data = NULL;
}

long reader_fill(Reader* reader, int fd) {
  if (reader->begin > 0) {
    memmove(reader->data, reader->data + reader->begin, reader->end - reader->begin);
    reader->end -= reader->begin;
    reader->begin = 0;
  }
  if (reader->end == reader->capacity) {
    errno = EMSGSIZE;
    return -1;
  }
  const ssize_t got = read(fd, reader->data + reader->end, reader->capacity - reader->end);
  if (got > 0) reader->end += (size_t)got;
  reader->data[reader->end] = '\0';
  return got;
}

static int is_head_of_last(const Reader* reader, const char* at, size_t left) {
  const size_t head = reader->head_bytes;
  return head != 0 && left >= head && memcmp(at + head - 4, "\r\n\r\n", 4) == 0 && memcmp(at, "HTTP/1.1 200", 12) == 0;
}

// The Content-Length of the head at[0, bytes), -1 when there is none or one that is no number.
static long content_length(const char* at, size_t bytes) {
  static const char kName[] = "\r\nContent-Length:";
  const size_t name_bytes = sizeof kName - 1;
  for (size_t i = 0; i + name_bytes < bytes; ++i) {
    if (at[i] == '\r' && strncasecmp(at + i, kName, name_bytes) == 0) {
      char* after;
      const long length = strtol(at + i + name_bytes, &after, 10);
      return *after == '\r' ? length : -1;
    }
  }
  return -1;
}

AnswerVerdict reader_next(Reader* reader, Answer* answer) {
  const char* const at = reader->data + reader->begin;
  const size_t left = reader->end - reader->begin;
  if (!is_head_of_last(reader, at, left)) {
    const char* const head_end = left > 0 ? memmem(at, left, "\r\n\r\n", 4) : NULL;
    if (head_end == NULL) return left < reader->capacity ? kAnswerMore : kAnswerBad;
    const size_t head_bytes = (size_t)(head_end - at) + 4;
    const long length = content_length(at, head_bytes);
    if (head_bytes < 16 || memcmp(at, "HTTP/1.1 ", 9) != 0 || length < 0) return kAnswerBad;
    if (head_bytes + (size_t)length > reader->capacity) return kAnswerBad;
    reader->head_bytes = head_bytes;
    reader->body_bytes = (size_t)length;
  }
  if (left < reader->head_bytes + reader->body_bytes) return kAnswerMore;
  answer->status = atoi(at + 9);
  answer->body = at + reader->head_bytes;
  answer->body_bytes = reader->body_bytes;
  reader->begin += reader->head_bytes + reader->body_bytes;
  return kAnswerDone;
}
