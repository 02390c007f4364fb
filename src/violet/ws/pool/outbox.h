#pragma once

// Outbox: frames of one socket on their way to its stream. Small ones are copied into a block, large ones are queued as
// slices. A socket has one only while it has something to send; they are pooled by the loop's Shared.

#include "violet/memory/block.h"
#include "violet/memory/chain.h"
#include "violet/ws/codec/frame.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

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
      find_quick_end();
    } else {
      add_long(first, payload, key);
    }
  }
  // The usual frame of a server, up to kTinyMax bytes of payload or kControlBytesMax, where there is room for it at
  // hand; false when there is not, or what set_bytes_max() allows is there.
  [[nodiscard]] bool add_tiny(std::uint8_t first, std::string_view payload) {
    if (payload.size() > kTinyMax || used_ >= quick_end_) [[unlikely]]
      return false;
    copy_tiny(begin_short(first, payload.size()), payload.data(), payload.size());
    return true;
  }
  [[nodiscard]] bool add_short(std::uint8_t first, std::string_view payload);
  // add_tiny() and add_short() add nothing while size() is that much or more.
  void set_bytes_max(std::size_t bytes_max) noexcept { bytes_max_ = bytes_max; }
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

  // How many messages were added since it was asked last: by the short ways, and as others say.
  void note_message() noexcept { ++message_count_; }
  [[nodiscard]] std::uint32_t take_message_count() noexcept { return std::exchange(message_count_, 0u); }

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
    quick_end_ = 0;
  }

 private:
  static constexpr std::size_t kCopyMax = 2048;
  static constexpr std::size_t kTinyMax = 16;

  [[nodiscard]] char* reserve(std::size_t size) {
    if (!block_ || Block::capacity() - used_ < size) [[unlikely]]
      next_block();
    return block_->data() + used_;
  }
  static void put_payload(char* to, const char* from, std::size_t size, const MaskKey* key) noexcept {
    if (key != nullptr) {
      apply_mask(to, from, size, *key);
    } else if (size > kTinyMax) {
      std::memcpy(to, from, size);
    } else {
      copy_tiny(to, from, size);
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
  static void copy_tiny(char* to, const char* from, std::size_t size) noexcept {
    if (size >= 8) {
      copy_words<std::uint64_t>(to, from, size);
    } else if (size >= 4) {
      copy_words<std::uint32_t>(to, from, size);
    } else {
      for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
    }
  }
  // The head, and where the payload goes. REQUIRES: used_ < quick_end_.
  [[nodiscard]] char* begin_short(std::uint8_t first, std::size_t size) noexcept {
    char* to = block_->data() + used_;
    to[0] = static_cast<char>(first);
    to[1] = static_cast<char>(size);
    used_ += size + 2;
    ++message_count_;
    return to + 2;
  }
  void add_long(std::uint8_t first, const Slice& payload, const MaskKey* key);
  void next_block();
  // How far the block may fill until the short ways have to give up: the largest of their frames still fits there, and
  // less than bytes_max_ waits. Whatever changes the chain or the block sets it to 0; add() finds it anew.
  void find_quick_end() noexcept {
    constexpr std::size_t kRoom = Block::capacity() - (kControlBytesMax + 2);
    const std::size_t waiting = chain_.size();
    quick_end_ = !block_ || waiting >= bytes_max_ ? 0 : std::min(kRoom, sealed_ + (bytes_max_ - waiting));
  }
  void seal() {
    quick_end_ = 0;
    if (used_ == sealed_) return;
    chain_.append(Slice(*block_, block_->data() + sealed_, used_ - sealed_));
    sealed_ = used_;
  }

  BlockPool& pool_;
  Chain chain_;
  Ref<Block> block_;
  std::size_t sealed_ = 0;  // bytes of block_ that are in the chain, or gone
  std::size_t used_ = 0;
  std::size_t quick_end_ = 0;  // of used_, for add_tiny() and add_short()
  std::size_t bytes_max_ = 0;
  std::uint32_t message_count_ = 0;
};

}  // namespace violet::ws
