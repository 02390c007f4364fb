#pragma once

// Decoder: one encoded body, read as a stream. Strict: what follows a whole body is an error. One thread at a time.

#include "violet/http/value/coding.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace violet::encoding {

struct DecodeStep {
  std::size_t read_bytes = 0;
  std::size_t written_bytes = 0;
  bool has_failed = false;  // malformed, or it asks for more memory than it may
};

class Decoder {
 public:
  Decoder() noexcept = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;

  // Reads from `in` and writes at most `room` bytes, at least one, at `out`. A step that fills the room may have more
  // to give without more input; one that does not wants input.
  [[nodiscard]] virtual DecodeStep step(std::string_view in, char* out, std::size_t room) noexcept = 0;
  // What was read so far is a whole body.
  [[nodiscard]] virtual bool is_whole() const noexcept = 0;
};

// REQUIRES: not Identity.
[[nodiscard]] std::unique_ptr<Decoder> make_decoder(http::Coding coding);

}  // namespace violet::encoding
