#include "hold.h"


static char request[1024];
static size_t request_bytes;

static int prepare(const Url* url) {
  request_bytes = format_get(url, request, sizeof request);
  return 1;
}

static int begin(Held* held) {
  (void)held;
  return 1;
}

static int ask(Held* held) {
  Reader reader;
  Answer answer = {0};
  AnswerVerdict verdict = kAnswerMore;
  reader_init(&reader, 4096);
  if (write_all(held->fd, request, request_bytes)) {
    while (verdict == kAnswerMore && reader_fill(&reader, held->fd) > 0) verdict = reader_next(&reader, &answer);
  }
  reader_free(&reader);
  return verdict == kAnswerDone && answer.status == 200;
}

static void end(Held* held) { (void)held; }

const Wire kH1Wire = {"h1", prepare, begin, ask, end};
