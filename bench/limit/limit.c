#define _GNU_SOURCE
#include "limit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

static char answers[kBatchMax * 160];
static size_t answer_bytes;

void limit_refresh(void) {
  char date[40];
  char answer[160];
  const time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
  const int length = snprintf(answer, sizeof answer,
                              "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\nDate: %s\r\n\r\n"
                              "Hello, World!",
                              date);
  if (length < 0 || (size_t)length >= sizeof answer) abort();
  answer_bytes = (size_t)length;
  for (size_t i = 0; i < kBatchMax; ++i) memcpy(answers + i * answer_bytes, answer, answer_bytes);
}

const char* limit_answers(size_t* count, size_t* bytes) {
  const size_t now = *count < kBatchMax ? *count : kBatchMax;
  *count -= now;
  *bytes = now * answer_bytes;
  return answers;
}

size_t limit_count_requests(const char* data, size_t size, unsigned char* seen) {
  static const char kEnd[] = "\r\n\r\n";
  const char* const end = data + size;
  const char* at = data;
  size_t count = 0;
  unsigned matched = *seen;
  // What the last read left open, byte by byte until it is decided.
  while (matched != 0 && at < end) {
    if (*at == kEnd[matched]) {
      if (++matched == 4) {
        ++count;
        matched = 0;
      }
      ++at;
    } else {
      matched = *at == '\r' ? 1 : 0;
      ++at;
    }
  }
  if (at == end && matched != 0) {
    *seen = (unsigned char)matched;
    return count;
  }
  for (const char* found; (found = memmem(at, (size_t)(end - at), kEnd, 4)) != NULL; at = found + 4) ++count;
  matched = 0;
  for (unsigned length = 3; length > 0; --length) {
    if ((size_t)(end - at) >= length && memcmp(end - length, kEnd, length) == 0) {
      matched = length;
      break;
    }
  }
  *seen = (unsigned char)matched;
  return count;
}

void limit_prepare(void) {
  struct rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  signal(SIGPIPE, SIG_IGN);
  limit_refresh();
}

int limit_listen(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Connections inherit it.
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (fd < 0 || bind(fd, (struct sockaddr*)&address, length) != 0 || listen(fd, 4096) != 0 ||
      getsockname(fd, (struct sockaddr*)&address, &length) != 0) {
    perror("listen");
    exit(1);
  }
  printf("listening http://127.0.0.1:%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return fd;
}
