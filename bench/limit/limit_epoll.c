// limit_epoll PORT: the limit server on epoll alone.

#define _GNU_SOURCE
#include "limit.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { kEventsMax = 1024 };

static char buffer[kReadBytes];
static unsigned char* seen;  // by descriptor
static size_t descriptor_count;

static void watch(int epoll, int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
    perror("epoll_ctl");
    exit(1);
  }
}

static void accept_all(int epoll, int listener) {
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    if ((size_t)fd >= descriptor_count) {
      close(fd);
      continue;
    }
    seen[fd] = 0;
    watch(epoll, fd);
  }
}

// Waits for a client that does not read; good enough for what has nothing else to do.
static int send_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t sent = write(fd, data, size);
    if (sent >= 0) {
      data += sent;
      size -= (size_t)sent;
    } else if (errno == EAGAIN) {
      struct pollfd wait = {.fd = fd, .events = POLLOUT};
      if (poll(&wait, 1, 10000) != 1) return -1;
    } else {
      return -1;
    }
  }
  return 0;
}

static void serve(int fd) {
  const ssize_t got = read(fd, buffer, sizeof buffer);
  if (got < 0 && errno == EAGAIN) return;
  size_t count = got > 0 ? limit_count_requests(buffer, (size_t)got, &seen[fd]) : 0;
  int failed = got <= 0;
  while (count > 0 && !failed) {
    size_t bytes;
    const char* answers = limit_answers(&count, &bytes);
    failed = send_all(fd, answers, bytes) != 0;
  }
  if (failed) close(fd);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: limit_epoll PORT\n");
    return 2;
  }
  limit_prepare();
  struct rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return 1;
  descriptor_count = descriptors.rlim_cur;
  seen = calloc(descriptor_count, 1);
  const int listener = limit_listen(atoi(argv[1]));
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  const struct itimerspec second = {{1, 0}, {1, 0}};
  if (seen == NULL || epoll < 0 || timer < 0 || timerfd_settime(timer, 0, &second, NULL) != 0) return 1;
  watch(epoll, listener);
  watch(epoll, timer);
  for (;;) {
    struct epoll_event events[kEventsMax];
    const int count = epoll_wait(epoll, events, kEventsMax, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      unsigned long long ticks;
      if (fd == listener) {
        accept_all(epoll, listener);
      } else if (fd == timer) {
        if (read(timer, &ticks, sizeof ticks) == sizeof ticks) limit_refresh();
      } else {
        serve(fd);
      }
    }
  }
}
