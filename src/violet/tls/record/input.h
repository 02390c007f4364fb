#pragma once

// Input: room for records that have come, one for all connections of a loop. A connection puts what it has kept in
// front, reads behind it, opens records where they lie, and keeps what is left: between calls it is empty.

#include "violet/base/check.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace violet::tls {

class Input {
 public:
  // One record of the largest size (RFC 8446 §5.2) and some bytes of the next.
  static constexpr std::size_t kBytes = 17 * 1024;

  [[nodiscard]] bool is_empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] std::string_view text() const noexcept { return {bytes_.data() + begin_, size()}; }
  [[nodiscard]] char* front() noexcept { return bytes_.data() + begin_; }

  // Where to write what is read next, and how much of it.
  [[nodiscard]] char* end() noexcept { return bytes_.data() + end_; }
  [[nodiscard]] std::size_t room() const noexcept { return kBytes - end_; }
  void added(std::size_t n) noexcept {
    VIOLET_ASSERT(n <= room());
    end_ += n;
  }
  void put(std::string_view bytes) noexcept {
    VIOLET_ASSERT(bytes.size() <= room());
    std::memcpy(end(), bytes.data(), bytes.size());
    added(bytes.size());
  }
  void used(std::size_t n) noexcept {
    VIOLET_ASSERT(n <= size());
    begin_ += n;
    if (is_empty()) clear();
  }
  void clear() noexcept { begin_ = end_ = 0; }
  // Moves what is there to the front, so that there is room behind it.
  void compact() noexcept {
    if (begin_ == 0) return;
    std::memmove(bytes_.data(), front(), size());
    end_ -= begin_;
    begin_ = 0;
  }

 private:
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::array<char, kBytes> bytes_;
};

}  // namespace violet::tls
