#include "hold.h"

#include <openssl/ssl.h>

#include <stdio.h>
#include <string.h>

static SSL_CTX* context;
static char request[1024];
static size_t request_bytes;

static int prepare(const Url* url) {
  request_bytes = format_get(url, request, sizeof request);
  context = SSL_CTX_new(TLS_client_method());
  if (context == NULL) return 0;
  // The client's memory is nobody's figure, but it has to hold as many.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  return 1;
}

static int begin(Held* held) {
  SSL* const ssl = SSL_new(context);
  held->secure = ssl;
  return ssl != NULL && SSL_set_fd(ssl, held->fd) == 1 && SSL_connect(ssl) == 1;
}

static int ask(Held* held) {
  char answer[4096];
  int size = 0;
  if (SSL_write(held->secure, request, (int)request_bytes) != (int)request_bytes) return 0;
  // The answer is small and comes in one record; its end is where Content-Length says.
  for (;;) {
    const int got = SSL_read(held->secure, answer + size, (int)sizeof answer - 1 - size);
    if (got <= 0) return 0;
    size += got;
    answer[size] = 0;
    Reader reader = {.data = answer, .capacity = sizeof answer, .end = (size_t)size};
    Answer found = {0};
    const AnswerVerdict verdict = reader_next(&reader, &found);
    if (verdict != kAnswerMore) return verdict == kAnswerDone && found.status == 200;
  }
}

static void end(Held* held) {
  SSL_free(held->secure);
  held->secure = NULL;
}

const Wire kTlsWire = {"tls", prepare, begin, ask, end};
