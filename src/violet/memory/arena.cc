#include "violet/memory/arena.h"

#include <new>

namespace violet {
namespace {

constexpr std::size_t kBlockBytes = 16 * 1024;

}  // namespace

Arena::~Arena() { reset_slow(0); }

void* Arena::allocate_slow(std::size_t size, std::size_t alignment) {
  const std::size_t wanted = size + alignment;
  Block* block = spare_;
  if (block != nullptr && block->size >= wanted) {
    spare_ = block->next;
  } else {
    const std::size_t room = wanted > kBlockBytes - sizeof(Block) ? wanted : kBlockBytes - sizeof(Block);
    block = static_cast<Block*>(::operator new(sizeof(Block) + room));
    block->size = room;
    heap_bytes_ += sizeof(Block) + room;
  }
  block->next = blocks_;
  blocks_ = block;
  next_ = reinterpret_cast<char*>(block + 1);
  end_ = next_ + block->size;
  return allocate(size, alignment);
}

void Arena::reset_slow(std::size_t kept_bytes) noexcept {
  // Spare blocks come first: they were kept once and not needed since.
  Block* all[] = {spare_, blocks_};
  spare_ = blocks_ = nullptr;
  std::size_t kept = 0;
  for (Block* block : all) {
    while (block != nullptr) {
      Block* next = block->next;
      const std::size_t bytes = sizeof(Block) + block->size;
      if (kept + bytes <= kept_bytes) {
        kept += bytes;
        block->next = spare_;
        spare_ = block;
      } else {
        heap_bytes_ -= bytes;
        ::operator delete(block);
      }
      block = next;
    }
  }
}

}  // namespace violet
