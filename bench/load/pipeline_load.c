// pipeline_load [-c CONNECTIONS] [-d DEPTH] [-s SECONDS] [-n REQUESTS] [-b BODY] URL
//
// Writes DEPTH requests at once on each connection and the next DEPTH when all answers have come. Counts answers one by
// one; an answer is right when it is a 200 with the body of the first one (or BODY). Prints one JSON object.
// One thread, epoll. Exit status 1 when any answer was wrong or a connection failed.

#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { kEventsMax = 256, kReaderBytes = 262144, kDepthMax = 1024 };

typedef struct {
  int fd;
  unsigned awaited;
  Reader reader;
} Connection;

typedef struct {
  char* batch;
  size_t batch_bytes;
  unsigned depth;
  char body[4096];
  size_t body_bytes;
  int has_body;
  uint64_t answers, wrong, failed;
} Load;

static void send_batch(Load* load, Connection* connection) {
  // A batch fits the send buffer of a socket whose answers have all come.
  if (write(connection->fd, load->batch, load->batch_bytes) != (ssize_t)load->batch_bytes) ++load->failed;
  connection->awaited = load->depth;
}

static int is_right(Load* load, const Answer* answer) {
  if (answer->status != 200) return 0;
  if (!load->has_body) {
    if (answer->body_bytes > sizeof load->body) return 0;
    memcpy(load->body, answer->body, answer->body_bytes);
    load->body_bytes = answer->body_bytes;
    load->has_body = 1;
  }
  return answer->body_bytes == load->body_bytes && memcmp(answer->body, load->body, load->body_bytes) == 0;
}

// False when the connection is of no more use.
static int on_readable(Load* load, Connection* connection, int goes_on) {
  const long got = reader_fill(&connection->reader, connection->fd);
  if (got < 0 && errno == EAGAIN) return 1;
  if (got <= 0) return 0;
  Answer answer;
  AnswerVerdict verdict;
  while ((verdict = reader_next(&connection->reader, &answer)) == kAnswerDone) {
    if (connection->awaited == 0) return 0;  // more answers than requests
    --connection->awaited;
    if (is_right(load, &answer)) {
      ++load->answers;
    } else {
      ++load->wrong;
    }
  }
  if (verdict == kAnswerBad) return 0;
  if (connection->awaited == 0 && goes_on) send_batch(load, connection);
  return 1;
}

static void prepare_batch(Load* load, const Url* url) {
  char one[1024];
  const size_t bytes = format_get(url, one, sizeof one);
  load->batch_bytes = bytes * load->depth;
  load->batch = malloc(load->batch_bytes);
  if (load->batch == NULL) abort();
  for (unsigned i = 0; i < load->depth; ++i) memcpy(load->batch + i * bytes, one, bytes);
}

int main(int argc, char** argv) {
  unsigned count = 64;
  double seconds = 3;
  uint64_t requests = 0;
  Load load = {.depth = 16};
  const char* body = NULL;
  const Option options[] = {{'c', kOptionCount, &count},
                            {'d', kOptionCount, &load.depth},
                            {'s', kOptionReal, &seconds},
                            {'n', kOptionSize, &requests},
                            {'b', kOptionText, &body}};
  const char* usage = "pipeline_load [-c CONNECTIONS] [-d DEPTH] [-s SECONDS] [-n REQUESTS] [-b BODY] URL";
  Url url;
  url_parse(read_options(argc, argv, options, sizeof options / sizeof *options, usage), &url);
  if (count == 0 || load.depth == 0 || load.depth > kDepthMax) print_usage(usage);
  if (body != NULL) {
    load.body_bytes = strlen(body);
    if (load.body_bytes > sizeof load.body) print_usage(usage);
    memcpy(load.body, body, load.body_bytes);
    load.has_body = 1;
  }
  raise_limits();
  prepare_batch(&load, &url);

  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  Connection* connections = calloc(count, sizeof *connections);
  if (epoll < 0 || connections == NULL) return 1;
  unsigned open = 0;
  for (unsigned i = 0; i < count; ++i) {
    Connection* connection = &connections[i];
    connection->fd = connect_from(&url.address, 0);
    if (connection->fd < 0) {
      perror("connect");
      return 1;
    }
    set_nonblocking(connection->fd);
    reader_init(&connection->reader, kReaderBytes);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event);
    ++open;
  }
  const uint64_t began = clock_us();
  const uint64_t until = began + (uint64_t)(seconds * 1e6);
  for (unsigned i = 0; i < count; ++i) send_batch(&load, &connections[i]);
  // After the time is over, what is under way is awaited for a second more.
  uint64_t now = began;
  unsigned busy = open;
  while (open > 0 && busy > 0 && now < until + 1000000) {
    struct epoll_event events[kEventsMax];
    const int ready = epoll_wait(epoll, events, kEventsMax, 100);
    now = clock_us();
    const int goes_on = now < until && (requests == 0 || load.answers + load.wrong < requests);
    for (int i = 0; i < ready; ++i) {
      Connection* connection = events[i].data.ptr;
      if (on_readable(&load, connection, goes_on)) continue;
      ++load.failed;
      connection->awaited = 0;
      close(connection->fd);
      --open;
    }
    if (goes_on) continue;
    busy = 0;
    for (unsigned i = 0; i < count; ++i) busy += connections[i].awaited != 0;
  }
  if (busy > 0 && open > 0) load.failed += busy;
  const double took = (double)(now - began) / 1e6;
  printf("{\"requests\": %llu, \"wrong\": %llu, \"failed\": %llu, \"seconds\": %.3f, \"rps\": %.0f}\n",
         (unsigned long long)load.answers, (unsigned long long)load.wrong, (unsigned long long)load.failed, took,
         (double)load.answers / took);
  for (unsigned i = 0; i < count; ++i) reader_free(&connections[i].reader);
  free(connections);
  free(load.batch);
  return load.wrong + load.failed > 0;
}
