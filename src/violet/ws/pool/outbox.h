#pragma once

// Outbox: frames of one socket on their way to its stream. Small ones are copied into a block, large ones are queued as
// slices. A socket has one only while it has something to send; they are pooled by the loop's Shared.

#include "violet/memory/block.h"
#include "violet/memory/chain.h"
#include "violet/ws/codec/frame.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace violet::ws {

class Outbox {
 public:
  explicit Outbox(BlockPool& pool) noexcept : pool_(pool) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  [[nodiscard]] bool is_empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return chain_.size() + (used_ - sealed_); }

  // A frame; masked with `key` where there is one. A borrowed payload is copied.
  void add(std::uint8_t first, const Slice& payload, const MaskKey* key) {
    const std::size_t size = payload.size();
    if (size <= kCopyMax) [[likely]] {
      char* to = reserve(size + kFrameHeadMax);
      const std::size_t head = write_frame_head(to, first, size, key);
      put_payload(to + head, payload.data(), size, key);
      used_ += head + size;
    } else {
      add_long(first, payload, key);
    }
  }
  // The usual frame of a server, where there is room for it at hand; false when there is not.
  [[nodiscard]] bool add_short(std::uint8_t first, const char* payload, std::size_t size) {
    if (size > kControlBytesMax || !block_ || Block::capacity() - used_ < size + 2) [[unlikely]]
      return false;
    char* to = block_->data() + used_;
    to[0] = static_cast<char>(first);
    to[1] = static_cast<char>(size);
    copy_short(to + 2, payload, size);
    used_ += size + 2;
    return true;
  }
  // A frame that can be dropped again: in a slice of its own.
  void add_apart(std::uint8_t first, const Slice& payload, const MaskKey* key);
  // A frame that was made before.
  void add_whole(Slice frame) {
    seal();
    chain_.append(std::move(frame));
  }
  // Takes away the oldest message that nothing has left of; 0 when there is none, otherwise its bytes. REQUIRES: all
  // frames were added apart or whole.
  std::size_t drop_oldest() noexcept;

  // Moves about `max` bytes to the end of `out`; never part of a frame when `keeps_frames`.
  void move_to(Chain& out, std::size_t max, bool keeps_frames);
  void clear() noexcept {
    chain_.clear();
    sealed_ = used_;
    rewind();
  }
  // A block that nobody else holds starts again at its beginning. REQUIRES: empty.
  void rewind() noexcept {
    if (block_ && block_->is_unique()) sealed_ = used_ = 0;
  }

 private:
  static constexpr std::size_t kCopyMax = 2048;

  [[nodiscard]] char* reserve(std::size_t size) {
    if (!block_ || Block::capacity() - used_ < size) [[unlikely]]
      next_block();
    return block_->data() + used_;
  }
  static void put_payload(char* to, const char* from, std::size_t size, const MaskKey* key) noexcept {
    if (key != nullptr) {
      apply_mask(to, from, size, *key);
    } else {
      copy_short(to, from, size);
    }
  }
  // Two words that overlap stand in for a call, where that is enough.
  template <class Word>
  static void copy_words(char* to, const char* from, std::size_t size) noexcept {
    Word first;
    Word last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, from + size - sizeof last, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + size - sizeof last, &last, sizeof last);
  }
  static void copy_short(char* to, const char* from, std::size_t size) noexcept {
    if (size > 16) {
      std::memcpy(to, from, size);
    } else if (size >= 8) {
      copy_words<std::uint64_t>(to, from, size);
    } else if (size >= 4) {
      copy_words<std::uint32_t>(to, from, size);
    } else {
      for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
    }
  }
  void add_long(std::uint8_t first, const Slice& payload, const MaskKey* key);
  void next_block();
  void seal() {
    if (used_ == sealed_) return;
    chain_.append(Slice(*block_, block_->data() + sealed_, used_ - sealed_));
    sealed_ = used_;
  }

  BlockPool& pool_;
  Chain chain_;
  Ref<Block> block_;
  std::size_t sealed_ = 0;  // bytes of block_ that are in the chain, or gone
  std::size_t used_ = 0;
};

}  // namespace violet::ws
