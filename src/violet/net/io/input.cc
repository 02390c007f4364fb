#include "violet/net/io/input.h"

#include <algorithm>
#include <cstring>

namespace violet::net {
namespace {

constexpr std::uint32_t kBytesLeast = 2048;  // of a buffer
constexpr std::uint32_t kReadLeast = 1024;   // room worth a read
constexpr std::uint32_t kLookBytes = 4096;

}  // namespace

KeptBytes::Room KeptBytes::room() {
  if (buffer_->capacity() - end_ < kReadLeast) {
    const std::uint32_t used = size();
    // Slides to the front, into a larger buffer when that does not help or when body slices still count on this one.
    const Ref<HeapBuffer> from = buffer_;
    if (used + kReadLeast > buffer_->capacity() || from->is_shared_beyond(2)) {
      buffer_ = Ref<HeapBuffer>::adopt(HeapBuffer::make(std::max<std::size_t>(used * 2, used + kBytesLeast)));
    }
    std::memmove(buffer_->data(), from->data() + begin_, used);
    begin_ = 0;
    end_ = used;
  }
  return {buffer_->data() + end_, buffer_->capacity() - end_};
}

bool KeptBytes::commit(std::size_t n) noexcept {
  const char* const added = buffer_->data() + end_;
  const std::uint32_t before = size();
  end_ += static_cast<std::uint32_t>(n);
  return before / kLookBytes != size() / kLookBytes || std::memchr(added, '\n', n) != nullptr;
}

void KeptBytes::keep(const Bytes& rest) {
  if (rest.is_empty()) {
    clear();
    return;
  }
  if (buffer_ && rest.owner == buffer_.get()) {
    begin_ = static_cast<std::uint32_t>(rest.begin - buffer_->data());
    return;
  }
  const std::size_t size = rest.size();
  buffer_ = Ref<HeapBuffer>::adopt(HeapBuffer::make(std::max<std::size_t>(kBytesLeast, size + kReadLeast)));
  std::memcpy(buffer_->data(), rest.begin, size);
  begin_ = 0;
  end_ = static_cast<std::uint32_t>(size);
}

void KeptBytes::clear() noexcept {
  buffer_ = {};
  begin_ = end_ = 0;
}

}  // namespace violet::net
