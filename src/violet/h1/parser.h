#pragma once

// The HTTP/1.1 parser of requests: strict, in place, without state of its own (RFC 9112 §2-§7).
//
// parse_head() looks at a request head from its first byte. When it is not all there it answers More and has to be given
// the same bytes again, with more behind them: so it cannot matter how the bytes were split. Texts of the head are views
// into the given bytes. Limits count while bytes arrive.
//
// What it refuses, other servers have been smuggled through: bare CR or LF, white space before a colon, folded lines,
// NUL and other controls, Content-Length that is no plain number or that comes twice, Transfer-Encoding that is not
// exactly "chunked" or that meets Content-Length or HTTP/1.0, Host that is missing, doubled or malformed.

#include <cstdint>
#include <cstring>
#include <string_view>

#include "violet/core/limits.h"
#include "violet/http/head.h"

namespace violet::h1 {

enum class Verdict : std::uint8_t {
  More,  // not all there yet
  Done,
  Bad,   // refuse with `status` and close
};

// How the body of a request is framed, and what its head says about the connection.
struct Framing {
  std::uint64_t content_length = 0;
  bool has_length = false;
  bool is_chunked = false;
  bool keeps_alive = true;     // by version and Connection
  bool wants_upgrade = false;  // Upgrade and Connection: upgrade

  [[nodiscard]] bool has_body() const noexcept { return is_chunked || content_length > 0; }
};

struct Parsed {
  Verdict verdict = Verdict::More;
  std::uint16_t status = 0;        // of Bad
  LimitId limit = LimitId::None;   // the limit that bit, if one did
  const char* end = nullptr;       // of Done: behind what was parsed
};

// The authority that was found good last: a loop sees the same few all day.
class AuthorityMemo {
 public:
  [[nodiscard]] bool knows(std::string_view text) const noexcept {
    return text.size() == size_ && size_ != 0 && std::memcmp(text.data(), text_, size_) == 0;
  }
  void learn(std::string_view text) noexcept {
    if (text.size() > sizeof text_) return;
    std::memcpy(text_, text.data(), text.size());
    size_ = text.size();
  }

 private:
  std::size_t size_ = 0;
  char text_[64];
};

// REQUIRES: kScanPadding readable bytes behind `end`; `head` without field lines, `framing` new. Everything of a request
// in `head` is written when the answer is Done; on Bad what was understood so far.
// Empty lines before the request line are skipped (RFC 9112 §2.2).
Parsed parse_head(const char* begin, const char* end, const Limits& limits, http::Head& head, Framing& framing,
                  AuthorityMemo& memo);
inline Parsed parse_head(const char* begin, const char* end, const Limits& limits, http::Head& head, Framing& framing) {
  AuthorityMemo memo;
  return parse_head(begin, end, limits, head, framing, memo);
}

// A chunk's size line, "1a;name=value\r\n" (RFC 9112 §7.1). Extensions are checked and ignored.
struct ChunkLine {
  std::uint64_t size = 0;
  std::size_t extension_bytes = 0;
};
Parsed parse_chunk_line(const char* begin, const char* end, const Limits& limits, ChunkLine& line);

// The trailer section with its final empty line (RFC 9112 §7.1.2). Fields that frame a message, route it or authenticate
// it are left out (RFC 9110 §6.5.1).
Parsed parse_trailers(const char* begin, const char* end, const Limits& limits, http::Fields& trailers);

}  // namespace violet::h1
