#pragma once

// The HTTP/1.1 parser of requests: strict, in place, without state of its own (RFC 9112 §2-§7).
//
// parse_head() looks at a request head from its first byte. When it is not all there it answers More and has to be
// given the same bytes again, with more behind them: so it cannot matter how the bytes were split. Texts of the head
// are views into the given bytes. Limits count while bytes arrive.
//
// What it refuses, other servers have been smuggled through: bare CR or LF, white space before a colon, folded lines,
// NUL and other controls, Content-Length that is no plain number or that comes twice, Transfer-Encoding that is not
// exactly "chunked" or that meets Content-Length or HTTP/1.0, Host that is missing, doubled or malformed.

#include "violet/core/limits.h"
#include "violet/http/head.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace violet::h1 {

enum class Verdict : std::uint8_t {
  More,  // not all there yet
  Done,
  Bad,  // refuse with `status` and close
};

// How the body of a request is framed, and what its head says about the connection.
struct Framing {
  std::uint64_t content_length = 0;
  bool is_chunked = false;
  bool keeps_alive = true;     // by version and Connection
  bool wants_upgrade = false;  // Upgrade and Connection: upgrade

  [[nodiscard]] bool has_body() const noexcept { return is_chunked || content_length > 0; }
};

struct Parsed {
  Verdict verdict = Verdict::More;
  std::uint16_t status = 0;       // of Bad
  LimitId limit = LimitId::None;  // the limit that bit, if one did
  const char* end = nullptr;      // of Done: behind what was parsed
};

// SectionMemo: field sections that came before, with what was found in them. A client sends the same fields with nearly
// every request of a connection, so comparing with the last section is mostly all the parsing there is to do. What is
// remembered are offsets: the texts of a head are always views into the bytes of its own request.
class SectionMemo {
 public:
  // What one connection knows about its last section.
  struct Hint {
    std::uint16_t bytes = 0;  // of the section, 0 before the first
    std::uint8_t slot = kNone;
  };

  // Whether [begin, end) starts with the section that the hint names; if so its lines are added to `head`, and framing
  // and authority are set. Returns its size, 0 when it is another one.
  std::size_t recall(const char* begin, const char* end, Hint hint, http::Head& head, Framing& framing) const noexcept;
  // Remembers a section of an HTTP/1.1 request that was parsed into `head` and `framing`, when the connection's last
  // one was of the same size (so that clients which never repeat themselves cost nothing).
  void learn(std::string_view section, std::string_view host, const http::Head& head, const Framing& framing,
             Hint& hint) noexcept;

 private:
  static constexpr std::uint8_t kNone = 255;
  static constexpr std::size_t kSlots = 32;
  static constexpr std::size_t kBytesMax = 704;
  static constexpr std::size_t kLinesMax = 20;
  struct Line {
    std::uint16_t name;
    std::uint16_t name_bytes;
    std::uint16_t value;
    std::uint16_t value_bytes;
    http::FieldId id;
  };
  struct Section {
    std::uint16_t bytes = 0;
    std::uint16_t host = 0;
    std::uint16_t host_bytes = 0;
    std::uint8_t line_count = 0;
    Framing framing;
    Line lines[kLinesMax];
    char text[kBytesMax];
  };
  std::unique_ptr<Section[]> sections_;  // made when the first one is learned
};

// What speeds up the parsing of a connection's heads without changing its result.
struct Memory {
  SectionMemo* sections = nullptr;    // the loop's
  SectionMemo::Hint* hint = nullptr;  // the connection's
};

// REQUIRES: kScanPadding readable bytes behind `end`; `head` and `framing` new or cleared. Everything of a
// request in `head` is written when the answer is Done; on Bad what was understood so far. Empty lines before the
// request line are skipped (RFC 9112 §2.2).
Parsed parse_head(const char* begin, const char* end, const Limits& limits, http::Head& head, Framing& framing,
                  Memory memory = {});

// A chunk's size line, "1a;name=value\r\n" (RFC 9112 §7.1). Extensions are checked and ignored.
struct ChunkLine {
  std::uint64_t size = 0;
  std::size_t extension_bytes = 0;
};
Parsed parse_chunk_line(const char* begin, const char* end, const Limits& limits, ChunkLine& line);

// The trailer section with its final empty line (RFC 9112 §7.1.2). Fields that frame a message, route it or
// authenticate it are left out (RFC 9110 §6.5.1).
Parsed parse_trailers(const char* begin, const char* end, const Limits& limits, http::Fields& trailers);

}  // namespace violet::h1
