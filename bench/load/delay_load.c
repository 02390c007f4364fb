// delay_load [-c CONNECTIONS] [-m MS] [-r RATE] [-s SECONDS] [-a ADDRESSES] URL
//
// Holds CONNECTIONS and makes RATE requests a second of URL (which ends in /delay/MS) over them in turn, each
// connection one at a time; RATE 0 asks again as soon as an answer has come. Measures how much later than MS each
// answer came, from before the request was written to after its answer was seen, so that a measured early answer was
// early. Prints one JSON object; lateness in microseconds. Exit status 1 when an answer was wrong, early or missing.
// One thread, epoll.

#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { kEventsMax = 4096, kReaderBytes = 1024, kSlotUs = 10, kSlots = 200000 };

typedef struct {
  int fd;
  uint64_t sent_us;  // 0: no answer is awaited
  Reader reader;
} Connection;

typedef struct {
  char request[1024];
  size_t request_bytes;
  char body[32];
  uint64_t delay_us;
  uint64_t answers, wrong, early, failed, skipped;
  long least_us, most_us;
  uint32_t* slots;  // how many answers were late by [i, i + 1) * kSlotUs
} Load;

static void ask(Load* load, Connection* connection) {
  connection->sent_us = clock_us();
  if (write(connection->fd, load->request, load->request_bytes) != (ssize_t)load->request_bytes) ++load->failed;
}

static void count(Load* load, const Answer* answer, uint64_t took_us) {
  const size_t bytes = strlen(load->body);
  if (answer->status != 200 || answer->body_bytes != bytes || memcmp(answer->body, load->body, bytes) != 0) {
    ++load->wrong;
    return;
  }
  const long late_us = (long)took_us - (long)load->delay_us;
  if (load->answers == 0 || late_us < load->least_us) load->least_us = late_us;
  if (load->answers == 0 || late_us > load->most_us) load->most_us = late_us;
  if (late_us < 0) ++load->early;
  const size_t slot = late_us > 0 ? (size_t)late_us / kSlotUs : 0;
  ++load->slots[slot < kSlots ? slot : kSlots - 1];
  ++load->answers;
}

// False when the connection is of no more use.
static int on_readable(Load* load, Connection* connection, uint64_t now) {
  const long got = reader_fill(&connection->reader, connection->fd);
  if (got < 0 && errno == EAGAIN) return 1;
  if (got <= 0) return 0;
  Answer answer;
  const AnswerVerdict verdict = reader_next(&connection->reader, &answer);
  if (verdict == kAnswerBad || (verdict == kAnswerDone && connection->sent_us == 0)) return 0;
  if (verdict == kAnswerDone) {
    count(load, &answer, now - connection->sent_us);
    connection->sent_us = 0;
  }
  return 1;
}

static double percentile(const Load* load, double share) {
  uint64_t wanted = (uint64_t)((double)load->answers * share);
  for (size_t i = 0; i < kSlots; ++i) {
    if (wanted < load->slots[i]) return (double)i * kSlotUs + kSlotUs / 2.0;
    wanted -= load->slots[i];
  }
  return (double)load->most_us;
}

static void print(const Load* load, unsigned connections, double seconds) {
  printf(
      "{\"connections\": %u, \"answers\": %llu, \"wrong\": %llu, \"early\": %llu, \"failed\": %llu, "
      "\"skipped\": %llu, \"rps\": %.0f, \"least\": %ld, \"p50\": %.0f, \"p90\": %.0f, \"p99\": %.0f, \"p999\": %.0f, "
      "\"most\": %ld}\n",
      connections, (unsigned long long)load->answers, (unsigned long long)load->wrong, (unsigned long long)load->early,
      (unsigned long long)load->failed, (unsigned long long)load->skipped, (double)load->answers / seconds,
      load->least_us, percentile(load, 0.5), percentile(load, 0.9), percentile(load, 0.99), percentile(load, 0.999),
      load->most_us);
}

int main(int argc, char** argv) {
  unsigned wanted = 1000, delay_ms = 10, addresses = 8;
  double rate = 10000, seconds = 5;
  const Option options[] = {{'c', kOptionCount, &wanted},
                            {'m', kOptionCount, &delay_ms},
                            {'r', kOptionReal, &rate},
                            {'s', kOptionReal, &seconds},
                            {'a', kOptionCount, &addresses}};
  const char* usage = "delay_load [-c CONNECTIONS] [-m MS] [-r RATE] [-s SECONDS] [-a ADDRESSES] URL";
  Url url;
  url_parse(read_options(argc, argv, options, sizeof options / sizeof *options, usage), &url);
  if (wanted == 0 || addresses == 0 || addresses > 250 || rate < 0) print_usage(usage);
  Load load = {.delay_us = delay_ms * 1000u};
  snprintf(load.body, sizeof load.body, "%u", delay_ms);
  load.request_bytes = format_get(&url, load.request, sizeof load.request);
  load.slots = calloc(kSlots, sizeof *load.slots);
  Connection* connections = calloc(wanted, sizeof *connections);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (load.slots == NULL || connections == NULL || epoll < 0) return 1;
  raise_limits();
  for (unsigned i = 0; i < wanted; ++i) {
    Connection* connection = &connections[i];
    connection->fd = connect_from(&url.address, i % addresses);
    if (connection->fd < 0) {
      perror("connect");
      return 1;
    }
    set_nonblocking(connection->fd);
    reader_init(&connection->reader, kReaderBytes);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event);
  }
  fprintf(stderr, "delay_load: %u connections held\n", wanted);

  const uint64_t began = clock_us();
  const uint64_t until = began + (uint64_t)(seconds * 1e6);
  const uint64_t patience = until + load.delay_us + 2000000;
  uint64_t now = began, asked = 0, awaited = 0;
  if (rate == 0) {
    for (unsigned i = 0; i < wanted; ++i) ask(&load, &connections[i]);
    awaited = wanted;
  }
  for (;;) {
    // Whatever is due by now goes out at once; the next due time ends the wait.
    long wait_us = 100000;
    if (rate > 0 && now < until) {
      const uint64_t due = (uint64_t)((double)(now - began) * rate / 1e6);
      for (; asked < due; ++asked) {
        Connection* connection = &connections[asked % wanted];
        if (connection->fd < 0 || connection->sent_us != 0) {
          ++load.skipped;
          continue;
        }
        ask(&load, connection);
        ++awaited;
      }
      const double next_us = ((double)asked + 1) * 1e6 / rate - (double)(clock_us() - began);
      wait_us = next_us > 0 ? (long)next_us : 0;
    } else if (now >= until && (awaited == 0 || now >= patience)) {
      break;
    }
    struct epoll_event events[kEventsMax];
    const struct timespec wait = {.tv_sec = 0, .tv_nsec = wait_us * 1000};
    const int ready = epoll_pwait2(epoll, events, kEventsMax, &wait, NULL);
    now = clock_us();
    for (int i = 0; i < ready; ++i) {
      Connection* connection = events[i].data.ptr;
      const int was_awaited = connection->sent_us != 0;
      if (!on_readable(&load, connection, now)) {
        ++load.failed;
        close(connection->fd);
        connection->fd = -1;
        connection->sent_us = 0;
      }
      if (was_awaited && connection->sent_us == 0) {
        --awaited;
        if (rate == 0 && now < until && connection->fd >= 0) {
          ask(&load, connection);
          ++awaited;
        }
      }
    }
  }
  load.failed += awaited;
  print(&load, wanted, seconds);
  for (unsigned i = 0; i < wanted; ++i) reader_free(&connections[i].reader);
  free(connections);
  free(load.slots);
  return load.wrong + load.early + load.failed > 0;
}
