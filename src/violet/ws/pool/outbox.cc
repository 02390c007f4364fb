#include "violet/ws/pool/outbox.h"

#include <algorithm>

namespace violet::ws {

void Outbox::next_block() {
  if (block_) seal();
  block_ = pool_.take();
  sealed_ = used_ = 0;
}

bool Outbox::add_short(std::uint8_t first, std::string_view payload) {
  if (payload.size() > kControlBytesMax || used_ >= quick_end_) return false;
  char* to = begin_short(first, payload.size());
  if (!payload.empty()) std::memcpy(to, payload.data(), payload.size());
  return true;
}

// The head goes into the block, the payload stays where it is unless it has to be masked or outlive its owner.
void Outbox::add_long(std::uint8_t first, const Slice& payload, const MaskKey* key) {
  char* to = reserve(kFrameHeadMax);
  used_ += write_frame_head(to, first, payload.size(), key);
  if (key == nullptr && !payload.is_borrowed()) {
    seal();
    chain_.append(payload);
    return;
  }
  const char* from = payload.data();
  std::size_t left = payload.size();
  MaskKey rotated = key != nullptr ? *key : 0;
  while (left > 0) {
    if (used_ == Block::capacity()) next_block();
    const std::size_t size = std::min(left, Block::capacity() - used_);
    apply_mask(block_->data() + used_, from, size, rotated);
    rotated = rotate_key(rotated, size);
    used_ += size;
    from += size;
    left -= size;
  }
}

void Outbox::add_apart(std::uint8_t first, const Slice& payload, const MaskKey* key) {
  const Ref<HeapBuffer> frame = Ref<HeapBuffer>::adopt(HeapBuffer::make(payload.size() + kFrameHeadMax));
  const std::size_t head = write_frame_head(frame->data(), first, payload.size(), key);
  apply_mask(frame->data() + head, payload.data(), payload.size(), key != nullptr ? *key : 0);
  add_whole(Slice(*frame, frame->data(), head + payload.size()));
}

std::size_t Outbox::drop_oldest() noexcept {
  // Control frames and parts of a message that is being streamed stay; there are few of them at the front.
  constexpr std::size_t kLookMax = 16;
  for (std::size_t i = 0; i < std::min(chain_.count(), kLookMax); ++i) {
    const auto first = static_cast<std::uint8_t>(*chain_.begin()[i].data());
    const bool is_message = (first & kFin) != 0 && ((first & 0x0f) == kText || (first & 0x0f) == kBinary);
    if (!is_message) continue;
    for (std::size_t at = i; at > 0; --at) std::swap(chain_.begin()[at], chain_.begin()[at - 1]);
    return chain_.pop_front().size();
  }
  return 0;
}

void Outbox::move_to(Chain& out, std::size_t max, bool keeps_frames) {
  seal();
  while (!chain_.is_empty() && max > 0) {
    const std::size_t size = std::min(max, chain_.front().size());
    if (keeps_frames || size == chain_.front().size()) {
      out.append(chain_.pop_front());
    } else {
      chain_.move_front(size, out);
    }
    max -= size;
  }
  if (chain_.is_empty()) rewind();
}

}  // namespace violet::ws
