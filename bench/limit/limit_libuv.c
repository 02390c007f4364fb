// limit_libuv PORT: the limit server on libuv, as plainly as libuv allows. What violet is measured against.

#include "limit.h"

#include <uv.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uv_tcp_t tcp;
  unsigned char seen;
} Connection;

typedef struct {
  uv_write_t write;
  char rest[];
} Rest;

static char buffer[kReadBytes];

static void lend(uv_handle_t* handle, size_t wanted, uv_buf_t* room) {
  (void)handle, (void)wanted;
  *room = uv_buf_init(buffer, sizeof buffer);
}

static void on_closed(uv_handle_t* handle) { free(handle); }
static void drop(uv_stream_t* stream) {
  if (!uv_is_closing((uv_handle_t*)stream)) uv_close((uv_handle_t*)stream, on_closed);
}

static void on_written(uv_write_t* write, int status) {
  (void)status;
  free(write);
}

static void send_all(uv_stream_t* stream, const char* data, size_t size) {
  uv_buf_t piece = uv_buf_init((char*)data, (unsigned)size);
  int sent = uv_try_write(stream, &piece, 1);
  if (sent == UV_EAGAIN) sent = 0;
  if (sent < 0) {
    drop(stream);
  } else if ((size_t)sent < size) {
    const size_t left = size - (size_t)sent;
    Rest* rest = malloc(sizeof *rest + left);
    if (rest == NULL) abort();
    memcpy(rest->rest, data + sent, left);
    piece = uv_buf_init(rest->rest, (unsigned)left);
    if (uv_write(&rest->write, stream, &piece, 1, on_written) != 0) free(rest);
  }
}

static void on_read(uv_stream_t* stream, ssize_t got, const uv_buf_t* room) {
  (void)room;
  Connection* connection = (Connection*)stream;
  if (got < 0) {
    drop(stream);
    return;
  }
  size_t count = limit_count_requests(buffer, (size_t)got, &connection->seen);
  while (count > 0 && !uv_is_closing((uv_handle_t*)stream)) {
    size_t bytes;
    const char* answers = limit_answers(&count, &bytes);
    send_all(stream, answers, bytes);
  }
}

static void on_connection(uv_stream_t* listener, int status) {
  if (status != 0) return;
  Connection* connection = calloc(1, sizeof *connection);
  if (connection == NULL) abort();
  uv_tcp_init(listener->loop, &connection->tcp);
  uv_stream_t* stream = (uv_stream_t*)&connection->tcp;
  if (uv_accept(listener, stream) != 0 || uv_read_start(stream, lend, on_read) != 0) drop(stream);
}

static void on_second(uv_timer_t* timer) {
  (void)timer;
  limit_refresh();
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: limit_libuv PORT\n");
    return 2;
  }
  limit_prepare();
  uv_loop_t* loop = uv_default_loop();
  uv_tcp_t listener;
  uv_timer_t second;
  uv_timer_init(loop, &second);
  uv_timer_start(&second, on_second, 1000, 1000);
  uv_tcp_init(loop, &listener);
  if (uv_tcp_open(&listener, limit_listen(atoi(argv[1]))) != 0 ||
      uv_listen((uv_stream_t*)&listener, 4096, on_connection) != 0) {
    return 1;
  }
  return uv_run(loop, UV_RUN_DEFAULT);
}
