#pragma once

// Limits: every bound that protects a server, in one table: its name, default, unit and what it stops. docs/limits.md,
// `violet --print-limits` and the showcase print this table; a message names the limit that bit.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace violet {

// X(name, default, unit, status or 0, what it stops)
#define VIOLET_LIMITS(X)                                                                                             \
  X(handshake_ms, 10'000, "ms", 0, "a TLS handshake or PROXY header that drips in, or never comes")                  \
  X(proxy_header_bytes_max, 4'096, "bytes", 0, "a PROXY header full of extensions")                                  \
  X(header_ms, 10'000, "ms", 408, "a request head that drips in (slowloris)")                                        \
  X(keep_alive_ms, 75'000, "ms", 0, "idle connections that are never closed")                                        \
  X(body_grace_ms, 5'000, "ms", 408, "a body that drips in: the rate counts after this grace")                       \
  X(body_stall_ms, 30'000, "ms", 408, "a body that stops in the middle, however much came before")                   \
  X(body_rate_min, 240, "bytes/s", 408, "a body that drips in")                                                      \
  X(body_unused_ms, 30'000, "ms", 0, "a handler that has answered and uses no more of the body it reads")            \
  X(half_closed_ms, 60'000, "ms", 0, "a tunnel that we have ended and whose peer neither sends nor ends")            \
  X(write_stall_ms, 30'000, "ms", 0, "a client that does not read its answer")                                       \
  X(write_rate_min, 240, "bytes/s", 0, "a client that reads its answer drop by drop")                                \
  X(handler_ms, 30'000, "ms", 503, "a handler that never answers (streams excepted)")                                \
  X(event_heartbeat_ms, 15'000, "ms", 0, "event streams whose client has vanished: a comment is sent when idle")     \
  X(linger_ms, 2'000, "ms", 0, "a client that goes on sending after an error was answered")                          \
  X(request_line_bytes_max, 8'192, "bytes", 414, "endless request lines")                                            \
  X(field_bytes_max, 32'768, "bytes", 431, "endless field sections")                                                 \
  X(field_count_max, 100, "fields", 431, "field sections of many small lines")                                       \
  X(body_bytes_max, 1'048'576, "bytes", 413, "bodies that fill the memory; a route may set its own")                 \
  X(json_depth_max, 128, "levels", 400, "JSON nested so deep that reading it exhausts the stack")                    \
  X(multipart_parts_max, 1'024, "parts", 413, "forms of countless parts")                                            \
  X(multipart_head_bytes_max, 8'192, "bytes", 413, "a part of a form whose field lines never end")                   \
  X(multipart_name_bytes_max, 1'024, "bytes", 413, "names of parts and files that are no names")                     \
  X(multipart_field_bytes_max, 1'048'576, "bytes", 413, "a part that is no file and fills the memory")               \
  X(multipart_file_bytes_max, 1'073'741'824, "bytes", 413, "a file that fills the disk; body_bytes_max counts too")  \
  X(body_ratio_max, 100, "times", 413, "an encoded body that grows without end when it is decoded")                  \
  X(chunk_extension_bytes_max, 8'192, "bytes", 413, "chunk extensions, which nobody reads")                          \
  X(chunk_overhead_bytes_max, 16'384, "bytes", 413, "chunk framing beyond eight bytes for each byte of body")        \
  X(trailer_bytes_max, 8'192, "bytes", 431, "endless trailer sections")                                              \
  X(discard_bytes_max, 262'144, "bytes", 0, "an unread body that is read away to keep a connection")                 \
  X(pipeline_max, 64, "requests", 0, "pipelined requests in flight: beyond it reading pauses")                       \
  X(receive_bytes_max, 65'536, "bytes", 0, "received bytes that nobody has used yet: beyond it reading pauses")      \
  X(flush_bytes_max, 65'536, "bytes", 0, "bytes asked of a source before the wire has taken the last")               \
  X(h2_streams_max, 100, "streams", 0, "HTTP/2 requests in flight: others are refused, to be sent again")            \
  X(h2_stream_deaths_max, 1'000, "streams", 0, "HTTP/2 streams that die unfinished, by either side (rapid reset)")   \
  X(h2_stream_deaths_rate, 33, "streams/s", 0, "the same, once the burst is used up")                                \
  X(h2_control_frames_max, 1'000, "frames", 0, "HTTP/2 frames that carry nothing, beyond what traffic explains")     \
  X(h2_control_frames_rate, 100, "frames/s", 0, "the same, once the burst is used up")                               \
  X(h2_continuations_max, 8, "frames", 0, "field blocks in endless CONTINUATION frames")                             \
  X(h2_window_bytes, 1'048'576, "bytes", 0, "bodies on their way to all streams of one HTTP/2 connection")           \
  X(unsent_bytes_max, 1'048'576, "bytes", 0, "answers piling up on a connection that does not read")                 \
  X(websocket_message_bytes_max, 1'048'576, "bytes", 0, "WebSocket messages that fill the memory: closed with 1009") \
  X(websocket_inflate_ratio_max, 256, "times", 0, "WebSocket messages that grow without end when inflated: 1009")    \
  X(websocket_backlog_bytes_max, 1'048'576, "bytes", 0, "frames piling up for a WebSocket that does not read")       \
  X(websocket_ping_ms, 30'000, "ms", 0, "WebSockets whose peer has vanished: a silent one is asked")                 \
  X(websocket_pong_ms, 10'000, "ms", 0, "WebSockets whose peer has vanished: no answer to a ping")                   \
  X(websocket_close_ms, 5'000, "ms", 0, "WebSockets whose peer does not take part in closing")                       \
  X(range_count_max, 16, "ranges", 0, "a request for many small ranges: beyond it the whole is sent")                \
  X(file_reads_max, 8, "reads", 0, "reads of cold files that a loop has under way: beyond it they wait")             \
  X(file_waits_max, 4'096, "requests", 503, "requests of a loop that wait for cold files")                           \
  X(listing_names_max, 10'000, "names", 0, "folders too large to be shown: the page says that there is more")        \
  X(access_log_bytes_max, 262'144, "bytes", 0,                                                                       \
    "log lines of a loop that nobody takes: others are dropped and counted")                                         \
  X(forwarded_hops_max, 32, "hops", 0, "endless Forwarded lists: beyond it the last hop read counts as the client")  \
  X(etag_bytes_max, 262'144, "bytes", 0, "answers so large that hashing them holds others up: they get no ETag")     \
  X(rate_keys_max, 65'536, "keys", 0, "clients without number: the one whose bucket is fullest is forgotten")        \
  X(concurrency_queue_max, 1'024, "requests", 503, "requests that wait for others to end")                           \
  X(concurrency_queue_ms, 1'000, "ms", 503, "requests that wait for others to end: no longer than this")             \
  X(informational_max, 64, "heads", 0, "a server that sends 1xx heads and never comes to its answer")                \
  X(connections_max, 0, "connections", 0, "accepting pauses above it; 0: from RLIMIT_NOFILE less a reserve")

enum class LimitId : std::int32_t {
  None = 0,
#define VIOLET_LIMIT_ENUM(name, value, unit, status, stops) name,
  VIOLET_LIMITS(VIOLET_LIMIT_ENUM)
#undef VIOLET_LIMIT_ENUM
};

struct Limits {
#define VIOLET_LIMIT_MEMBER(name, value, unit, status, stops) std::uint64_t name = value;
  VIOLET_LIMITS(VIOLET_LIMIT_MEMBER)
#undef VIOLET_LIMIT_MEMBER
};

struct LimitRow {
  std::string_view name;
  std::uint64_t value;  // the default
  std::string_view unit;
  int status;  // what the client gets, 0: the connection closes or waits
  std::string_view stops;
};

std::span<const LimitRow> limit_table() noexcept;
// "" for LimitId::None.
std::string_view name(LimitId id) noexcept;
std::uint64_t value(const Limits& limits, LimitId id) noexcept;
// The table as Markdown, docs/limits.md's middle.
std::string limits_markdown();

}  // namespace violet
