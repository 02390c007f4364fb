#pragma once

// What the load programs share: their command lines, addresses, clocks, connections from several loopback addresses,
// and a reader of answers that believes nothing but complete responses with a Content-Length.

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// An option of a command line: "-c 64" is {'c', kOptionCount, &connections}.
typedef enum {
  kOptionCount,  // unsigned
  kOptionSize,   // uint64_t
  kOptionReal,   // double
  kOptionText,   // const char*
} OptionKind;
typedef struct {
  char letter;
  OptionKind kind;
  void* value;
} Option;

// Reads the options and returns the last argument, a URL. Prints `usage` and exits with 2 when the command line is
// anything else; print_usage() does the same for values that make no sense.
const char* read_options(int argc, char** argv, const Option* options, size_t count, const char* usage);
void print_usage(const char* usage) __attribute__((noreturn));

typedef struct {
  struct sockaddr_in address;
  char target[512];  // "/baseline11?a=13&b=42"
} Url;

// "http://127.0.0.1:8080/path" with a numeric address. Exits with a message when it is something else.
void url_parse(const char* text, Url* url);

// A GET of `url` with Host and User-Agent; returns its size.
size_t format_get(const Url* url, char* out, size_t size);

uint64_t clock_us(void);

// Raises the descriptor limit to what is allowed, and ignores SIGPIPE.
void raise_limits(void);

// A connection from 127.0.0.(1 + source), TCP_NODELAY, blocking until it stands; -1 with errno when it does not come.
int connect_from(const struct sockaddr_in* to, unsigned source);
void set_nonblocking(int fd);

// The answers of one connection.
typedef struct {
  char* data;
  size_t capacity, begin, end;
  size_t head_bytes, body_bytes;  // of the last answer: the next one mostly looks alike
} Reader;

typedef struct {
  int status;
  const char* body;
  size_t body_bytes;
} Answer;

typedef enum { kAnswerMore, kAnswerDone, kAnswerBad } AnswerVerdict;

void reader_init(Reader* reader, size_t capacity);
void reader_free(Reader* reader);
// Reads once: bytes read, 0 at the end, -1 with errno.
long reader_fill(Reader* reader, int fd);
// Takes the next complete answer; its body is valid until the next fill. Bad: no response, or none that fits.
AnswerVerdict reader_next(Reader* reader, Answer* answer);

#ifdef __cplusplus
}
#endif
