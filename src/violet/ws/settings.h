#pragma once

// Options: how the sockets of one route, or of one client, behave. Settings: the same with every number decided, as
// sessions use it; one for all sockets of a route, read by all loops.

#include "violet/core/limits.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace violet::ws {

// What becomes of a message when so many bytes wait for a peer that it is not to become more. Each is counted.
enum class Backlog : std::uint8_t {
  Wait,        // the sender waits: co_await its send(); callbacks get no further message meanwhile. One who does not
               // wait loses the message
  DropOldest,  // the oldest message that has not begun to leave makes room
  DropNewest,  // the message is dropped
  Close,       // the socket is closed with 1013
};

// permessage-deflate (RFC 7692): what is offered, and what of an offer is taken.
struct Compression {
  bool is_on = false;
  int level = 1;                       // 1 fastest to 9 smallest
  std::size_t message_bytes_min = 64;  // shorter ones go as they are
  int own_window_bits = 15;            // 9 to 15: of what we send
  int peer_window_bits = 15;           // 9 to 15: of what we receive; less only with peers that can
  // Keeps the window from message to message: smaller messages, but some 300 KiB for each socket instead of each loop.
  bool keeps_own_context = false;
  bool lets_peer_keep_context = false;
};

class Topics;
class Totals;

struct Options {
  std::vector<std::string> protocols;  // subprotocols: offered by a client, understood by a server; the client's first
  // Besides pages of the server's own host: "https://a.example"; "*" for any. Requests without Origin come from no
  // browser and are taken.
  std::vector<std::string> origins;
  std::vector<std::pair<std::string, std::string>> fields;  // more fields for the answer, or for a client's request
  Compression compression;
  Backlog backlog = Backlog::Wait;
  Topics* topics = nullptr;  // for subscribe(); an App sets its own
  Totals* totals = nullptr;  // what counts these sockets, too; an App sets its own
  // Instead of the limits of the same names in core/limits.h. A time of 0 switches it off.
  std::optional<std::uint64_t> message_bytes_max;
  std::optional<std::uint64_t> backlog_bytes_max;
  std::optional<std::uint64_t> ping_ms;
  std::optional<std::uint64_t> pong_ms;
  std::optional<std::uint64_t> close_ms;
};

struct Settings {
  Settings(const Options& options, const Limits& limits)
      : message_bytes_max(options.message_bytes_max.value_or(limits.websocket_message_bytes_max)),
        inflate_ratio_max(limits.websocket_inflate_ratio_max),
        // Without room for something nothing would ever be sent.
        backlog_bytes_max(
            std::max<std::uint64_t>(1, options.backlog_bytes_max.value_or(limits.websocket_backlog_bytes_max))),
        ping_ms(options.ping_ms.value_or(limits.websocket_ping_ms)),
        pong_ms(options.pong_ms.value_or(limits.websocket_pong_ms)),
        close_ms(options.close_ms.value_or(limits.websocket_close_ms)),
        backlog(options.backlog),
        topics(options.topics),
        totals(options.totals),
        compression(options.compression) {}

  std::uint64_t message_bytes_max;
  std::uint64_t inflate_ratio_max;
  std::uint64_t backlog_bytes_max;
  std::uint64_t ping_ms;
  std::uint64_t pong_ms;
  std::uint64_t close_ms;
  Backlog backlog;
  Topics* topics;
  Totals* totals;
  Compression compression;
};

}  // namespace violet::ws
