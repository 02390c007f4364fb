// known_costs --h1 HOST:PORT [--instructions N] [--allocations N] [--copies BYTES] [--locks N] [--system-calls N]
//             [--pages N] [--idle BYTES]
//
// A limit server that wastes an exactly known amount for each request, and memory for each connection: what proves that
// the counters of the budgets count and that the budgets can fail. Of the host it looks at nothing.

#define _GNU_SOURCE
#include "../limit/limit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kConnectionsMax = 4096, kPageBytes = 4096, kCopyMax = 1 << 20 };

static struct {
  long instructions, allocations, copies, locks, system_calls, pages, idle;
} waste;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char from[kCopyMax], to[kCopyMax];
static unsigned char seen[kConnectionsMax];
static void* kept[kConnectionsMax];

static void spend_instructions(long count) {
  if (count < 2) return;
#if defined(__x86_64__)
  long rounds = count / 2;
  __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(rounds) : : "cc");
#else
  for (volatile long i = 0; i < count / 5; ++i) {
  }
#endif
}

static void touch_pages(long count) {
  if (count == 0) return;
  const size_t bytes = (size_t)count * kPageBytes;
  char* fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) abort();
  for (size_t i = 0; i < bytes; i += kPageBytes) ((volatile char*)fresh)[i] = 1;
  munmap(fresh, bytes);
}

static void waste_once(void) {
  spend_instructions(waste.instructions);
  for (long i = 0; i < waste.allocations; ++i) {
    void* volatile memory = malloc(32);
    free(memory);
  }
  void* (*volatile copy)(void*, const void*, size_t) = memcpy;
  if (waste.copies > 0) copy(to, from, (size_t)waste.copies);
  for (long i = 0; i < waste.locks; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  for (long i = 0; i < waste.system_calls; ++i) syscall(SYS_getppid);
  touch_pages(waste.pages);
}

static void set_waste(const char* name, long value) {
  const struct {
    const char* name;
    long* value;
  } known[] = {
      {"--instructions", &waste.instructions}, {"--allocations", &waste.allocations}, {"--copies", &waste.copies},
      {"--locks", &waste.locks},               {"--system-calls", &waste.system_calls}, {"--pages", &waste.pages},
      {"--idle", &waste.idle},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    if (strcmp(name, known[i].name) == 0 && value >= 0 && value <= kCopyMax) {
      *known[i].value = value;
      return;
    }
  }
  fprintf(stderr, "known_costs: %s %ld\n", name, value);
  exit(2);
}

static void drop(int fd) {
  free(kept[fd]);
  kept[fd] = NULL;
  close(fd);
}

static void take_connection(int poll, int listener) {
  const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return;
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  if (fd >= kConnectionsMax || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) != 0) {
    close(fd);
    return;
  }
  seen[fd] = 0;
  if (waste.idle > 0) kept[fd] = malloc((size_t)waste.idle);
}

static void serve(int fd) {
  char data[65536];
  const ssize_t got = recv(fd, data, sizeof data, 0);
  if (got <= 0) {
    drop(fd);
    return;
  }
  size_t count = limit_count_requests(data, (size_t)got, &seen[fd]);
  for (size_t i = 0; i < count; ++i) waste_once();
  while (count > 0) {
    size_t bytes = 0;
    const char* answers = limit_answers(&count, &bytes);
    if (send(fd, answers, bytes, MSG_NOSIGNAL) != (ssize_t)bytes) {
      drop(fd);
      return;
    }
  }
}

int main(int argc, char** argv) {
  int port = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const char* colon = strrchr(argv[i + 1], ':');
    if (strcmp(argv[i], "--h1") == 0 && colon != NULL) {
      port = atoi(colon + 1);
    } else {
      set_waste(argv[i], atol(argv[i + 1]));
    }
  }
  limit_prepare();
  const int listener = limit_listen(port);
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
  if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event) != 0) return 1;
  for (;;) {
    struct epoll_event events[64];
    const int count = epoll_wait(poll, events, 64, -1);
    for (int i = 0; i < count; ++i) {
      if (events[i].data.fd == listener) {
        take_connection(poll, listener);
      } else {
        serve(events[i].data.fd);
      }
    }
  }
}
