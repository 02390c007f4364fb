#include "violet/features/compress/stream/decoding.h"

#include "violet/core/limits.h"

#include <utility>

namespace violet::encoding {

void Decoding::on_data(Slice data) {
  if (decoder_ == nullptr) {
    exchange_.credit_wire(data.size());
    return;
  }
  encoded_.append(std::move(data).owned());
  decode();
}

void Decoding::on_end(const http::Fields* trailers) {
  has_ended_ = true;
  if (trailers != nullptr) trailers_.push_copies(*trailers);
  decode();
}

// As much as the exchange may be owed.
void Decoding::decode() noexcept {
  while (decoder_ != nullptr && owed_bytes_ < exchange_.limits().receive_bytes_max) {
    if (encoded_.is_empty() && !is_full_) {
      if (has_ended_) finish();
      return;
    }
    if (!decode_some()) return;
  }
}

// False when there is no more to do.
bool Decoding::decode_some() {
  const Ref<Block> block = blocks_.take();
  const std::string_view in = encoded_.is_empty() ? std::string_view() : encoded_.front().text();
  const DecodeStep step = decoder_->step(in, block->data(), Block::capacity());
  is_full_ = step.written_bytes == Block::capacity();
  read_bytes_ += step.read_bytes;
  decoded_bytes_ += step.written_bytes;
  if (step.has_failed || (step.read_bytes == 0 && step.written_bytes == 0 && !in.empty())) {
    fail(Error(ErrorKind::Invalid));
    return false;
  }
  encoded_.drop_front(step.read_bytes);
  if (step.read_bytes > 0) exchange_.credit_wire(step.read_bytes);
  if (is_bomb()) {
    fail(Error(ErrorKind::TooLarge, static_cast<std::int32_t>(LimitId::body_ratio_max), 413));
    return false;
  }
  if (step.written_bytes > 0) {
    owed_bytes_ += step.written_bytes;
    exchange_.take_data(Slice(*block, block->data(), step.written_bytes));
  }
  return true;
}

// What fits into one block is nobody's trouble, whatever it came from.
bool Decoding::is_bomb() const noexcept {
  return decoded_bytes_ > kBlockBytes && decoded_bytes_ / exchange_.limits().body_ratio_max > read_bytes_;
}

void Decoding::finish() {
  // No bytes at all are no body, whatever it is called: as with Content-Length: 0.
  if (read_bytes_ > 0 && !decoder_->is_whole()) {
    fail(Error(ErrorKind::Invalid));
    return;
  }
  decoder_ = nullptr;
  exchange_.take_end(&trailers_);
}

void Decoding::fail(Error why) noexcept {
  decoder_ = nullptr;
  const std::size_t left = encoded_.size();
  encoded_.clear();
  if (left > 0) exchange_.credit_wire(left);
  exchange_.fail_body(why);
}

void Decoding::on_credit(std::size_t n) {
  VIOLET_ASSERT(n <= owed_bytes_);
  owed_bytes_ -= n;
  if (decoder_ != nullptr) exchange_.loop().defer(go_on_);
}

}  // namespace violet::encoding
