#pragma once

// access_log: middleware that writes a line for each request: when, who, what was asked, by which protocol, what was
// answered, how many bytes, how long it took, which route and which request id.
//
//   app.use(access_log);                                                         // text, to standard output
//   app.use(access_log({.format = LogFormat::Json, .path = "/var/log/app.log"}));
//
// Use it first (behind trusted_proxies and request_id), so that it sees the answer as it leaves. An answer that is all
// there is logged when the wire gets it; one that a source gives, and a request that nobody answered, when they end:
// `complete` tells whether everything was given to the wire. A client that leaves before there is an answer is logged
// as 499, an upgrade when it happens.
//
// Nothing here blocks a loop: lines go into a ring of the loop (access_log_bytes_max), which one thread empties, many
// lines by one write. When it does not keep up, lines are dropped and counted, and a line says so. A file that was
// moved or deleted is opened anew. Every byte that a client sends is escaped unless it is printable ASCII, so that a
// line stays a line; long texts are cut. Query strings often carry secrets and are left out unless asked for.

#include "violet/base/function.h"
#include "violet/core/exchange.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace violet {

namespace access {
class Sink;
}

enum class LogFormat : std::uint8_t { Text, Json };

struct AccessLogOptions {
  LogFormat format = LogFormat::Text;
  // Appended to; "" for standard output, "stderr" for standard error.
  std::string path = {};
  bool query = false;
  // Instead of a file: gets whole lines, many at once, on the log's own thread.
  Function<void(std::string_view lines)> write = {};
};

class AccessLog {
 public:
  constexpr AccessLog() noexcept = default;
  explicit AccessLog(AccessLogOptions options);
  [[nodiscard]] AccessLog operator()(AccessLogOptions options) const { return AccessLog(std::move(options)); }

  void on_use();
  void on_request(Exchange& exchange) const;
  void on_reply(Exchange& exchange, http::Head& head, Body& body) const;

  // Lines that found no room, or could not be written. Any thread.
  [[nodiscard]] std::uint64_t dropped_count() const noexcept;

 private:
  std::shared_ptr<access::Sink> sink_;
};

inline constinit const AccessLog access_log;

}  // namespace violet
