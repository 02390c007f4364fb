#pragma once

// What the command line of `violet load` says.

#include "command.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace violet::load {

enum class Protocol : std::uint8_t { Http1, Http2 };

struct Options {
  std::string url;
  std::string method;  // "": GET, or POST where there is a body
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::size_t size = 0;          // of a WebSocket's messages, beyond the body
  bool is_binary = false;        // and what they are
  std::string mix;               // a file of requests
  std::vector<std::string> raw;  // files of bytes to be sent as they are

  int connections = 64;
  int threads = 1;
  Protocol protocol = Protocol::Http1;
  bool verifies_certificate = true;
  int depth = 1;                     // requests in flight on a connection: pipelined, or streams
  std::uint64_t per_connection = 0;  // requests until it is closed and made anew; 0: no end
  double rate = 0;                   // requests a second of all connections; 0: as many as are answered
  double seconds = 10;
  std::uint64_t count = 0;  // instead of seconds
  double warm_up = 0;       // seconds that do not count
  double timeout = 10;

  bool verifies = false;  // every body has to be the expected one
  bool has_expected = false;
  std::string expected;  // where not: what the first answer to each request holds

  int server_pid = 0;
  std::string json;  // a file; "-": standard output
  std::string csv;
  bool is_quiet = false;  // no lines while it runs

  std::vector<std::string> ab;  // two commands
  int rounds = 3;
};

// Messages of a WebSocket, not requests.
inline bool is_socket(const Options& options) {
  return options.url.starts_with("ws://") || options.url.starts_with("wss://");
}

// -1: go on; otherwise the status to exit with: 0 after --help, 2 for a wrong command line, which has been explained.
int parse(cli::Arguments arguments, Options& options);

}  // namespace violet::load
