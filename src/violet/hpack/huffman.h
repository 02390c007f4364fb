#pragma once

// The Huffman code of HPACK (RFC 7541 §5.2 and Appendix B), by table: decoding takes up to two symbols a look-up.

#include <cstddef>
#include <string_view>

namespace violet::hpack {

// Most bytes that `coded_bytes` of code stand for (the shortest symbols have five bits), and what decoding may write
// beyond them.
[[nodiscard]] constexpr std::size_t huffman_room(std::size_t coded_bytes) noexcept { return coded_bytes * 8 / 5 + 2; }

struct Huffman {
  // nullptr: broken.
  char* end = nullptr;
  // No symbol of more than 12 bits occurred, and so no control character: they all have long codes.
  bool is_plain = true;
};
// Decodes to `out`, which has huffman_room(). Broken are the EOS symbol, padding of eight bits or more, and padding
// that is not the beginning of EOS (§5.2). REQUIRES: eight readable bytes behind `coded`.
[[nodiscard]] Huffman decode_huffman(std::string_view coded, char* out) noexcept;

// Bytes that the text takes when it is coded.
[[nodiscard]] std::size_t huffman_size(std::string_view text) noexcept;

// Returns the end of the code. Writes whole words: up to seven bytes beyond it.
[[nodiscard]] char* encode_huffman(std::string_view text, char* out) noexcept;

}  // namespace violet::hpack
