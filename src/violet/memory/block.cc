#include "violet/memory/block.h"

#include "violet/memory/pool.h"

#include <unistd.h>

namespace violet {

void FileBuffer::close_file(Buffer* self) noexcept {
  auto* file = static_cast<FileBuffer*>(self);
  ::close(file->descriptor_);
  delete file;
}

void Block::give_back(Buffer* self) noexcept {
  auto* block = static_cast<Block*>(self);
  block->pool_->give(block);
}

BlockPool::~BlockPool() {
  VIOLET_ASSERT(used_count_ == 0);
  trim(0);
}

Ref<Block> BlockPool::take() {
  void* memory = free_;
  if (memory != nullptr) {
    free_ = free_->next;
    --kept_count_;
  } else {
    memory = ::operator new(sizeof(Block));
  }
  ++used_count_;
  return Ref<Block>::adopt(::new (memory) Block(*this));
}

void BlockPool::give(Block* block) noexcept {
  --used_count_;
  block->~Block();
  if (kPoolsKeep && kept_count_ < kept_max_) {
    free_ = ::new (static_cast<void*>(block)) Free{free_};
    ++kept_count_;
  } else {
    ::operator delete(static_cast<void*>(block));
  }
}

void BlockPool::trim(std::size_t kept) noexcept {
  while (kept_count_ > kept) {
    Free* block = free_;
    free_ = block->next;
    --kept_count_;
    ::operator delete(static_cast<void*>(block));
  }
}

}  // namespace violet
