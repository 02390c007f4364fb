// hold_load [-a ADDRESSES] URL
//
// Holds idle keep-alive connections, from 127.0.0.1 and the ADDRESSES - 1 following it. Reads orders from its input and
// answers each with one line; ends, and closes all, at the end of its input.
//
//   open N   opens connections until N are held, each proven by one request      -> "held N failed F"
//   ask      makes one request on every held connection                          -> "answered N failed F"
//   close    closes all                                                          -> "held 0 failed 0"

#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kConnectionsMax = 1 << 20, kFailuresMax = 20 };

static int* descriptors;
static unsigned held;

static int ask(int fd, const char* request, size_t bytes) {
  Reader reader;
  Answer answer = {0};
  AnswerVerdict verdict = kAnswerMore;
  reader_init(&reader, 4096);
  if (write(fd, request, bytes) == (ssize_t)bytes) {
    while (verdict == kAnswerMore && reader_fill(&reader, fd) > 0) verdict = reader_next(&reader, &answer);
  }
  reader_free(&reader);
  return verdict == kAnswerDone && answer.status == 200;
}

static void open_until(unsigned wanted, const Url* url, unsigned addresses, const char* request, size_t bytes) {
  unsigned failed = 0;
  while (held < wanted && failed < kFailuresMax) {
    const int fd = connect_from(&url->address, held % addresses);
    if (fd >= 0 && ask(fd, request, bytes)) {
      descriptors[held++] = fd;
      continue;
    }
    if (failed++ == 0) perror("hold_load: no connection, or no answer");
    if (fd >= 0) close(fd);
  }
  printf("held %u failed %u\n", held, failed);
}

static void ask_all(const char* request, size_t bytes) {
  unsigned failed = 0;
  for (unsigned i = 0; i < held; ++i) failed += !ask(descriptors[i], request, bytes);
  printf("answered %u failed %u\n", held - failed, failed);
}

static void close_all(void) {
  while (held > 0) close(descriptors[--held]);
  printf("held 0 failed 0\n");
}

int main(int argc, char** argv) {
  unsigned addresses = 8;
  const Option options[] = {{'a', kOptionCount, &addresses}};
  const char* usage = "hold_load [-a ADDRESSES] URL";
  Url url;
  url_parse(read_options(argc, argv, options, 1, usage), &url);
  if (addresses == 0 || addresses > 250) print_usage(usage);
  char request[1024];
  const size_t bytes = format_get(&url, request, sizeof request);
  raise_limits();
  descriptors = calloc(kConnectionsMax, sizeof *descriptors);
  if (descriptors == NULL) return 1;
  char order[64];
  while (fgets(order, sizeof order, stdin) != NULL) {
    unsigned wanted;
    if (sscanf(order, "open %u", &wanted) == 1 && wanted <= kConnectionsMax) {
      open_until(wanted, &url, addresses, request, bytes);
    } else if (strcmp(order, "ask\n") == 0) {
      ask_all(request, bytes);
    } else if (strcmp(order, "close\n") == 0) {
      close_all();
    } else {
      printf("unknown order\n");
    }
    fflush(stdout);
  }
  free(descriptors);
  return 0;
}
