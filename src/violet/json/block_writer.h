#pragma once

// BlockWriter: JSON straight into blocks of a loop's pool, which then go out as they are, without a copy.

#include "violet/json/writer.h"
#include "violet/memory/block.h"
#include "violet/memory/chain.h"

namespace violet::json {

class BlockWriter final : public Writer {
 public:
  explicit BlockWriter(BlockPool& pool) : pool_(pool) { take_block(); }

  // What has been written so far; the writer goes on behind it.
  [[nodiscard]] Chain take();
  [[nodiscard]] std::size_t size() const noexcept { return chain_.size() + static_cast<std::size_t>(at() - first_); }

 private:
  char* make_room(char* at, char*& end) override;
  void take_block();

  BlockPool& pool_;
  Chain chain_;
  Ref<Block> block_;
  char* first_ = nullptr;  // of what is not in the chain yet
};

}  // namespace violet::json
