#pragma once

// Block: a piece of constant size that bytes are read into and answers are written into. A loop's BlockPool lends it; a
// slice of its bytes keeps it; it returns to the pool when the last slice is gone.
//
// Behind the usable bytes stand kScanPadding readable ones.

#include "violet/memory/buffer.h"
#include "violet/memory/ref.h"

#include <cstddef>
#include <cstdint>
#include <new>

namespace violet {

class BlockPool;

inline constexpr std::size_t kBlockBytes = 16 * 1024;  // the whole piece, head and padding included

class Block final : public Buffer {
 public:
  static constexpr std::size_t kCapacity = kBlockBytes - 32 - kScanPadding;  // usable bytes

  [[nodiscard]] char* data() noexcept { return bytes_; }
  static constexpr std::size_t capacity() noexcept { return kCapacity; }

 private:
  friend class BlockPool;
  explicit Block(BlockPool& pool) noexcept : Buffer(Kind::Block, &give_back), pool_(&pool) {}
  static void give_back(Buffer* self) noexcept;

  BlockPool* pool_;
  char bytes_[kCapacity + kScanPadding];
};
static_assert(sizeof(Block) <= kBlockBytes);

class BlockPool {
 public:
  // Keeps up to `kept_max` free blocks.
  explicit BlockPool(std::size_t kept_max = 64) noexcept : kept_max_(kept_max) {}
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool();  // REQUIRES: every block is back

  [[nodiscard]] Ref<Block> take();
  void trim(std::size_t kept) noexcept;
  [[nodiscard]] std::size_t used_count() const noexcept { return used_count_; }
  [[nodiscard]] std::size_t kept_count() const noexcept { return kept_count_; }

 private:
  friend class Block;
  struct Free {
    Free* next;
  };
  void give(Block* block) noexcept;

  Free* free_ = nullptr;
  std::size_t kept_count_ = 0;
  std::size_t used_count_ = 0;
  std::size_t kept_max_;
};

}  // namespace violet
