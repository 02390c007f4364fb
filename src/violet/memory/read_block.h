#pragma once

// ReadBlock: the block that a loop's sessions read into, one after the other. What nobody keeps is overwritten by the
// next read, so that the same warm bytes serve all connections; what somebody keeps stays, and the next read goes
// behind it or into a new block.

#include "violet/memory/block.h"

#include <cstddef>

namespace violet {

class ReadBlock {
 public:
  explicit ReadBlock(BlockPool& pool) noexcept : pool_(pool) {}

  // Room for one read, at least kLeast bytes.
  [[nodiscard]] char* lend() {
    if (!block_) {
      block_ = pool_.take();
    } else if (block_->is_unique()) {
      used_ = 0;
    } else if (room() < kLeast) {
      block_ = pool_.take();
      used_ = 0;
    }
    return block_->data() + used_;
  }
  [[nodiscard]] std::size_t room() const noexcept { return Block::capacity() - used_; }
  // What slices of the bytes just read count on.
  [[nodiscard]] Buffer& owner() noexcept { return *block_; }
  // n bytes were read to where lend() said.
  void commit(std::size_t n) noexcept { used_ += n; }

 private:
  static constexpr std::size_t kLeast = 4096;
  BlockPool& pool_;
  Ref<Block> block_;
  std::size_t used_ = 0;
};

}  // namespace violet
