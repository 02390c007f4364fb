#pragma once

// Encoder: one content coding at one level as a stream: gzip, deflate, brotli or zstd (RFC 9110 §8.4.1). Used again and
// again: begin() makes it new and keeps its memory. One thread at a time.

#include "violet/http/value/coding.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace violet::encoding {

// What shall have left the encoder when a step is done.
enum class Flush : std::uint8_t {
  None,  // whatever is worth writing
  Sync,  // all of the input: the client can read it
  End,   // all of it, and the body is over
};

struct Step {
  std::size_t read_bytes = 0;
  std::size_t written_bytes = 0;
  bool is_done = false;  // the input is used up, and what Flush asks for has been written
  bool has_failed = false;
};

class Encoder {
 public:
  Encoder() noexcept = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  virtual ~Encoder() = default;

  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  // A new body, of `size` bytes where that is known. False when memory has run out.
  [[nodiscard]] virtual bool begin(std::uint64_t size) noexcept = 0;
  // Less room than that and zlib writes the mark of a flush again and again.
  static constexpr std::size_t kRoomMin = 16;
  // Reads from `in` and writes at most `room` bytes at `out`; to be repeated with what is left until it is done.
  // REQUIRES: room >= kRoomMin.
  [[nodiscard]] virtual Step step(std::string_view in, Flush flush, char* out, std::size_t room) noexcept = 0;
  // The whole of `in` at once; how much was written, 0 when that would have been more than `room`.
  [[nodiscard]] virtual std::size_t encode(std::string_view in, char* out, std::size_t room) noexcept;
};

// REQUIRES: not Identity. `level` in the library's own terms; see CompressOptions.
[[nodiscard]] std::unique_ptr<Encoder> make_encoder(http::Coding coding, int level);

}  // namespace violet::encoding
