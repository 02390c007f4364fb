#include "violet/hpack/memo.h"

#include "violet/memory/text.h"

#include <cstring>

namespace violet::hpack {

bool Memo::recall(std::string_view block, const Budget& budget, std::uint64_t epoch, Section& section) const {
  if (epoch != epoch_ || !are_equal(block, {block_, block_bytes_}) || block_bytes_ == 0) return false;
  if (bytes_ > budget.bytes_max || line_count_ > budget.count_max) return false;
  char* const text = static_cast<char*>(section.fields.arena().allocate(text_bytes_, 1));
  for (std::size_t i = 0; i < text_bytes_; i += kCopyStep) std::memcpy(text + i, text_ + i, kCopyStep);
  const auto moved = [this, text](std::string_view from) noexcept {
    return std::string_view(text + (from.data() - text_), from.size());
  };
  for (std::size_t i = 0; i < kPseudoCount; ++i) section.pseudo[i] = moved(pseudo_[i]);
  for (std::size_t i = 0; i < line_count_; ++i) {
    http::Field& field = section.fields.push_raw();
    field = lines_[i];
    field.value = moved(field.value);
    if (field.id == http::FieldId::Other) field.name = moved(field.name);
  }
  section.seen = seen_;
  section.sensitive = sensitive_;
  section.identity = identity_;
  section.ids[0] = ids_[0];
  section.ids[1] = ids_[1];
  return true;
}

// REQUIRES: there is room.
std::string_view Memo::keep(std::string_view text) noexcept {
  char* const to = text_ + text_bytes_;
  put_text(to, text);
  text_bytes_ = static_cast<std::uint16_t>(text_bytes_ + text.size());
  return {to, text.size()};
}

bool Memo::learn(std::string_view block, std::uint64_t bytes, std::uint64_t epoch, const Section& section) noexcept {
  block_bytes_ = 0;
  if (block.size() > kBlockMax || section.flaws != 0 || section.fields.count() > kLinesMax) return false;
  std::size_t text_bytes = 0;
  for (const std::string_view text : section.pseudo) text_bytes += text.size();
  for (const http::Field& field : section.fields) text_bytes += field.name.size() + field.value.size();
  if (text_bytes >= kTextMax) return false;
  text_bytes_ = 0;
  for (std::size_t i = 0; i < kPseudoCount; ++i) pseudo_[i] = keep(section.pseudo[i]);
  http::Field* line = lines_;
  for (const http::Field& field : section.fields) {
    *line = field;
    line->value = keep(field.value);
    if (field.id == http::FieldId::Other) line->name = keep(field.name);
    ++line;
  }
  // Copied in whole steps, and at least one, so that there always is a place to point to.
  text_bytes_ = static_cast<std::uint16_t>(text_bytes_ / kCopyStep * kCopyStep + kCopyStep);
  static_assert(kTextMax % kCopyStep == 0);
  block.copy(block_, block.size());
  block_bytes_ = static_cast<std::uint8_t>(block.size());
  line_count_ = static_cast<std::uint8_t>(section.fields.count());
  bytes_ = bytes;
  seen_ = section.seen;
  sensitive_ = section.sensitive;
  ids_[0] = section.ids[0];
  ids_[1] = section.ids[1];
  epoch_ = epoch;
  return true;
}

void Memos::note(std::string_view block, std::uint64_t bytes, std::uint64_t epoch, Section& section) {
  if (block.empty() || block.size() > Memo::kBlockMax) return;
  const std::uint32_t hash = hash_of(block);
  Place& place = places_[hash % kPlaces];
  const bool comes_again = hash == place.last_hash;
  place.last_hash = hash;
  if (!comes_again) return;
  if (place.memo == nullptr) place.memo = std::make_unique<Memo>();
  if (!place.memo->learn(block, bytes, epoch, section)) return;
  // Never 0, also after 2^32 of them.
  if (++last_identity_ == 0) ++last_identity_;
  place.memo->set_identity(last_identity_);
  section.identity = last_identity_;
}

}  // namespace violet::hpack
