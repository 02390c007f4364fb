#pragma once

// Buffers: what the sessions of one loop read into and write from, whatever protocol they speak: the block pool, the
// block of the current read, and pooled outputs. One for each loop, its thread's alone.

#include "violet/memory/pool.h"
#include "violet/memory/read_block.h"
#include "violet/net/io/output.h"

#include <utility>

namespace violet::net {

struct Buffers {
  Buffers() noexcept : input(blocks) {}
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    if (spare_output_ != nullptr) outputs_.give(spare_output_);
  }

  // An output, perhaps a used one with a warm block; give_output() takes it back emptied.
  [[nodiscard]] Output& take_output() {
    return spare_output_ != nullptr ? *std::exchange(spare_output_, nullptr) : *outputs_.take(blocks);
  }
  void give_output(Output& output) noexcept {
    output.clear();
    give_empty_output(output);
  }
  // REQUIRES: everything in it was written.
  void give_empty_output(Output& output) noexcept {
    if (spare_output_ == nullptr) {
      spare_output_ = &output;
    } else {
      outputs_.give(&output);
    }
  }

  // Gives what a burst has left in the pools back to the heap.
  void trim(std::size_t kept) noexcept {
    blocks.trim(kept);
    outputs_.trim(kept);
  }

  BlockPool blocks;
  ReadBlock input;

 private:
  Pool<Output> outputs_{16};
  Output* spare_output_ = nullptr;
};

}  // namespace violet::net
