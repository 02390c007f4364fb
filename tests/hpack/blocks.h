#pragma once

// Field blocks as tests write and read them: hexadecimal in, "name: value" out.

#include "violet/hpack/decoder.h"
#include "violet/hpack/encoder.h"
#include "violet/memory/buffer.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace violet::test {

// "8286 84" as bytes; white space is passed over.
inline std::string from_hex(std::string_view text) {
  std::string bytes;
  int high = -1;
  for (char c : text) {
    if (c == ' ' || c == '\n') continue;
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (high < 0) {
      high = digit;
    } else {
      bytes += static_cast<char>(high << 4 | digit);
      high = -1;
    }
  }
  return bytes;
}

// One decoded block, and what its texts live in.
struct Decoded {
  std::unique_ptr<Arena> arena = std::make_unique<Arena>();
  std::unique_ptr<http::Fields> fields = std::make_unique<http::Fields>(*arena);
  hpack::Section section{*fields};
  hpack::Verdict verdict = hpack::Verdict::Done;

  // Pseudo-fields first, in the order of their names; never-indexed ones end with " (never)".
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    const auto add = [&lines](std::string_view name, std::string_view value, bool is_sensitive) {
      lines.push_back(std::string(name) + ": " + std::string(value) + (is_sensitive ? " (never)" : ""));
    };
    for (std::size_t i = 0; i < hpack::kPseudoCount; ++i) {
      const auto which = static_cast<hpack::Pseudo>(i);
      if (section.has(which)) {
        add(hpack::name(which), section.get(which), (section.sensitive & hpack::Section::bit(which)) != 0);
      }
    }
    for (const http::Field& field : section.fields) {
      add(field.id != http::FieldId::Other ? http::lower_name(field.id) : field.name, field.value, field.is_sensitive);
    }
    return lines;
  }
};

inline constexpr hpack::Budget kWideBudget{.bytes_max = 1 << 20, .count_max = 10'000};

// In a copy with exactly the room behind it that the decoder may read, filled with what would be seen.
inline Decoded decode(hpack::Decoder& decoder, std::string_view block, const hpack::Budget& budget = kWideBudget) {
  Decoded decoded;
  const auto bytes = std::make_unique<char[]>(block.size() + kScanPadding);
  block.copy(bytes.get(), block.size());
  std::fill_n(bytes.get() + block.size(), kScanPadding, '\x82');
  decoded.verdict = decoder.decode({bytes.get(), block.size()}, budget, decoded.section);
  return decoded;
}

}  // namespace violet::test
