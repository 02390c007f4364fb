#pragma once

// Reply: what a client reads, taken apart strictly: a malformed line, a bare LF, a second Content-Length, or framing
// that contradicts itself is an error, never repaired.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet::test {

struct Reply {
  using Lines = std::vector<std::pair<std::string, std::string>>;

  int status = 0;
  std::string version;
  std::string reason;
  Lines fields;
  std::string body;
  Lines trailers;
  std::size_t chunk_count = 0;  // data chunks of a chunked body
  bool is_chunked = false;
  bool ends_with_close = false;  // the body ran until the end of the connection

  // The value of the only line of that name; "" when there is none, "<twice>" when there are more.
  [[nodiscard]] std::string field(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
};

// How to read what comes: the request's method decides whether there is a body, the end of the stream where one ends.
struct ReadAs {
  bool is_head = false;     // the answer to HEAD
  bool is_connect = false;  // the answer to CONNECT: nothing of a 2xx belongs to it but the head
  bool is_ended = false;    // the peer has closed: no more bytes will come
};

class ReplyReader {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }
  // The next whole reply, 1xx ones included; nullopt when it is not all there, or after an error.
  std::optional<Reply> next(ReadAs as = {});
  [[nodiscard]] const std::string& error() const { return error_; }
  // What is there beyond the replies taken.
  [[nodiscard]] const std::string& rest() const { return bytes_; }

 private:
  bool fail(std::string why);
  std::string bytes_;
  std::string error_;
};

// All replies of a byte stream; anything malformed or left over is a test failure.
std::vector<Reply> replies_of(std::string_view bytes, ReadAs as = {});
// Exactly one.
Reply reply_of(std::string_view bytes, ReadAs as = {});

}  // namespace violet::test
