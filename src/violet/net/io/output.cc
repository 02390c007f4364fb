#include "violet/net/io/output.h"

#include <algorithm>
#include <cerrno>

namespace violet::net {

void Output::queue_tail() {
  if (tail_.is_empty()) return;
  VIOLET_ASSERT(chain_.is_empty() && sealed_ < tail_at_ && tail_at_ <= used_);
  chain_.append(Slice(*block_, block_->data() + sealed_, tail_at_ - sealed_));
  sealed_ = tail_at_;
  chain_.append(std::move(tail_));
}

void Output::seal() {
  queue_tail();
  if (used_ == sealed_) return;
  chain_.append(Slice(*block_, block_->data() + sealed_, used_ - sealed_));
  sealed_ = used_;
}

void Output::next_block() {
  if (block_) seal();
  block_ = pool_.take();
  sealed_ = used_ = 0;
}

void Output::append(Slice slice) {
  if (!slice.is_file()) {
    if (slice.size() <= kCopyMax) {
      copy(slice.text());
      return;
    }
    if (slice.is_borrowed()) {
      std::string_view rest = slice.text();
      while (!rest.empty()) {
        if (!block_ || used_ == Block::capacity()) next_block();
        const std::size_t room = Block::capacity() - used_;
        const std::string_view piece = rest.substr(0, room);
        std::memcpy(block_->data() + used_, piece.data(), piece.size());
        commit(piece.size());
        rest.remove_prefix(piece.size());
      }
      return;
    }
    if (chain_.is_empty() && tail_.is_empty() && sealed_ < used_) [[likely]] {
      tail_ = std::move(slice);
      tail_at_ = used_;
      return;
    }
  }
  seal();
  chain_.append(std::move(slice));
}

void Output::move_to(Output& to) {
  seal();
  while (!chain_.is_empty()) to.append(chain_.pop_front());
}

Output::Flushed Output::note_written(ssize_t n, std::size_t wanted, std::uint64_t& written) noexcept {
  if (n < 0) {
    if (n == -EAGAIN) return Flushed::Blocked;
    error_ = Error(ErrorKind::System, static_cast<std::int32_t>(-n));
    return Flushed::Failed;
  }
  const auto taken = static_cast<std::size_t>(n);
  written += taken;
  const std::size_t from_chain = std::min(taken, chain_.size());
  if (from_chain > 0) chain_.drop_front(from_chain);
  sealed_ += taken - from_chain;
  return taken < wanted ? Flushed::Blocked : Flushed::All;
}

Output::Flushed Output::flush_chain(Transport& transport, std::uint64_t& written) noexcept {
  if (!tail_.is_empty() && tail_at_ == used_) [[likely]] {
    // A head, and its body behind it.
    const std::size_t wanted = size();
    const iovec pieces[] = {{block_->data() + sealed_, used_ - sealed_},
                            {const_cast<char*>(tail_.data()), tail_.size()}};
    const ssize_t n = transport.write(pieces, 2);
    if (n == static_cast<ssize_t>(wanted)) [[likely]] {
      written += wanted;
      tail_ = Slice();
      sealed_ = used_;
      rewind();
      return Flushed::All;
    }
    queue_tail();
    if (const Flushed flushed = note_written(n, wanted, written); flushed != Flushed::All) return flushed;
  }
  queue_tail();
  while (!is_empty()) {
    ssize_t n = 0;
    std::size_t wanted = 0;
    if (!chain_.is_empty() && chain_.front().is_file()) {
      const Slice& file = chain_.front();
      wanted = file.size();
      n = transport.send_file(file.descriptor(), file.offset(), wanted);
      if (n == 0) {
        // The file has become shorter than the length already promised.
        error_ = Error(ErrorKind::Closed);
        return Flushed::Failed;
      }
    } else {
      iovec pieces[kPiecesMax];
      int count = 0;
      bool is_whole = true;
      for (Slice& slice : chain_) {
        if (slice.is_file() || count == kPiecesMax) {
          is_whole = false;
          break;
        }
        pieces[count++] = {const_cast<char*>(slice.data()), slice.size()};
        wanted += slice.size();
      }
      is_whole = is_whole && (used_ == sealed_ || count < kPiecesMax);
      if (is_whole && used_ > sealed_) {
        pieces[count++] = {block_->data() + sealed_, used_ - sealed_};
        wanted += used_ - sealed_;
      }
      n = transport.write(pieces, count);
      if (is_whole && n == static_cast<ssize_t>(wanted)) [[likely]] {
        written += wanted;
        chain_.clear();
        sealed_ = used_;
        break;
      }
    }
    if (const Flushed flushed = note_written(n, wanted, written); flushed != Flushed::All) return flushed;
  }
  rewind();
  return Flushed::All;
}

}  // namespace violet::net
