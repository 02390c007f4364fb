#pragma once

// Output: bytes of a connection on their way to the wire. Small pieces are copied into a block, larger ones are queued
// as slices; flush() writes all of it with as few system calls as it takes.
//
// A connection has one only while it has something to send; they are pooled by the loop's Buffers.

#include "violet/memory/block.h"
#include "violet/memory/chain.h"
#include "violet/net/transport.h"

#include <cstdint>
#include <cstring>
#include <string_view>

namespace violet::net {

class Output {
 public:
  explicit Output(BlockPool& pool) noexcept : pool_(pool) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  [[nodiscard]] bool is_empty() const noexcept { return chain_.is_empty() && used_ == sealed_; }
  [[nodiscard]] std::size_t size() const noexcept { return chain_.size() + tail_.size() + (used_ - sealed_); }

  // Room for `size` bytes in one piece, at most Block::capacity(); commit() says how many were written.
  [[nodiscard]] char* reserve(std::size_t size) {
    if (!block_ || Block::capacity() - used_ < size) [[unlikely]]
      next_block();
    return block_->data() + used_;
  }
  void commit(std::size_t n) noexcept {
    used_ += n;
    VIOLET_ASSERT(used_ <= Block::capacity());
  }
  void copy(std::string_view text) {
    if (text.size() <= Block::capacity()) [[likely]] {
      std::memcpy(reserve(text.size()), text.data(), text.size());
      commit(text.size());
    } else {
      append(Slice::borrowed(text));
    }
  }
  // Small slices and borrowed ones are copied.
  void append(Slice slice);

  // Moves everything to the end of `to`.
  void move_to(Output& to);

  enum class Flushed : std::uint8_t {
    All,      // nothing is left
    Blocked,  // the transport takes no more for now
    Failed,   // error() says why; a file that ends early is ErrorKind::Closed
  };
  // Adds what was written to `written`.
  Flushed flush(Transport& transport, std::uint64_t& written) noexcept {
    if (chain_.is_empty() && tail_.is_empty()) [[likely]] {
      // Everything lies in one piece of the block: the usual answer.
      const std::size_t wanted = used_ - sealed_;
      if (wanted == 0) return Flushed::All;
      const iovec piece{block_->data() + sealed_, wanted};
      const ssize_t n = transport.write(&piece, 1);
      if (n == static_cast<ssize_t>(wanted)) [[likely]] {
        written += wanted;
        sealed_ = used_;
        rewind();
        return Flushed::All;
      }
      if (const auto flushed = note_written(n, wanted, written); flushed != Flushed::All) return flushed;
    }
    return flush_chain(transport, written);
  }
  [[nodiscard]] Error error() const noexcept { return error_; }

  // Drops everything; keeps the block for the next connection.
  void clear() noexcept {
    chain_.clear();
    drop_tail();
    sealed_ = used_;
    rewind();
    error_ = {};
  }

 private:
  static constexpr std::size_t kCopyMax = 1024;
  static constexpr int kPiecesMax = 64;
  void next_block();
  // A block that nobody else holds starts again at its beginning. REQUIRES: nothing of it is waiting.
  void rewind() noexcept {
    if (block_ && block_->is_unique()) sealed_ = used_ = 0;
  }
  Flushed flush_chain(Transport& transport, std::uint64_t& written) noexcept;
  // Accounts for what a write of `wanted` bytes answered. All: go on writing.
  Flushed note_written(ssize_t n, std::size_t wanted, std::uint64_t& written) noexcept;
  // Turns the bytes copied since the last seal into a slice, so that another can follow.
  void seal();
  void queue_tail();
  void drop_tail() noexcept {
    if (!tail_.is_empty()) tail_ = Slice();
  }

  BlockPool& pool_;
  Chain chain_;
  // A slice that belongs between the bytes of block_ before tail_at_ and those behind. Only while the chain is empty
  // and there are bytes before it: a head and its body, which most often leave together and need no chain.
  Slice tail_;
  std::size_t tail_at_ = 0;
  Ref<Block> block_;
  std::size_t sealed_ = 0;  // bytes of block_ that are in the chain, or gone
  std::size_t used_ = 0;
  Error error_;
};

}  // namespace violet::net
