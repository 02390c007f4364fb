#include "violet/features/log/ring.h"

#include <algorithm>
#include <cstring>

namespace violet::access {

Ring::Ring(std::size_t bytes)
    : size_(std::max<std::size_t>(bytes, 1)), bytes_(std::make_unique_for_overwrite<char[]>(size_)) {}

bool Ring::append(std::string_view line) noexcept {
  const std::size_t head = head_.load(std::memory_order_relaxed);
  if (line.size() > size_ - (head - seen_tail_)) {
    seen_tail_ = tail_.load(std::memory_order_acquire);
    if (line.size() > size_ - (head - seen_tail_)) {
      dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return false;
    }
  }
  const std::size_t at = head % size_;
  const std::size_t first = std::min(line.size(), size_ - at);
  std::memcpy(bytes_.get() + at, line.data(), first);
  std::memcpy(bytes_.get(), line.data() + first, line.size() - first);
  head_.store(head + line.size(), std::memory_order_release);
  return true;
}

void Ring::take(std::string& out) {
  const std::size_t tail = tail_.load(std::memory_order_relaxed);
  const std::size_t head = head_.load(std::memory_order_acquire);
  const std::size_t at = tail % size_;
  const std::size_t first = std::min(head - tail, size_ - at);
  out.append(bytes_.get() + at, first);
  out.append(bytes_.get(), head - tail - first);
  tail_.store(head, std::memory_order_release);
}

}  // namespace violet::access
