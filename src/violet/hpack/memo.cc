#include "violet/hpack/memo.h"

#include "violet/memory/text.h"

#include <cstring>
#include <utility>

namespace violet::hpack {

bool Memo::recall(std::string_view block, const Budget& budget, std::uint64_t epoch, Section& section) {
  if (epoch != epoch_ || !are_equal(block, {block_, block_bytes_}) || block_bytes_ == 0) return false;
  if (bytes_ > budget.bytes_max || line_count_ > budget.count_max) return false;
  char* const text = static_cast<char*>(section.fields.arena().allocate(text_bytes_, 1));
  for (std::size_t i = 0; i < text_bytes_; i += kCopyStep) std::memcpy(text + i, text_ + i, kCopyStep);
  const auto moved = [text](Text from) noexcept { return std::string_view(text + from.at, from.size); };
  for (std::size_t i = 0; i < kPseudoCount; ++i) section.pseudo[i] = moved(pseudo_[i]);
  for (std::size_t i = 0; i < line_count_; ++i) {
    const Line& line = lines_[i];
    http::Field& field = section.fields.push_raw();
    field.name = line.id != http::FieldId::Other ? http::name(line.id) : moved(line.name);
    field.value = moved(line.value);
    field.id = line.id;
    field.is_sensitive = line.is_sensitive;
  }
  section.seen = seen_;
  section.sensitive = sensitive_;
  section.identity = identity_;
  section.note = &note_;
  section.ids[0] = ids_[0];
  section.ids[1] = ids_[1];
  return true;
}

// REQUIRES: there is room.
Memo::Text Memo::keep(std::string_view text) noexcept {
  const Text kept{.at = text_bytes_, .size = static_cast<std::uint16_t>(text.size())};
  put_text(text_ + kept.at, text);
  text_bytes_ = static_cast<std::uint16_t>(text_bytes_ + text.size());
  return kept;
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
  Line* line = lines_;
  for (const http::Field& field : section.fields) {
    line->id = field.id;
    line->is_sensitive = field.is_sensitive;
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

Memos::~Memos() {
  for (Memo* const memo : memos_) {
    if (memo != &first_) delete memo;
  }
}

Memo& Memos::take_memo() { return std::exchange(is_first_used_, true) ? *new Memo : first_; }

void Memos::note(std::string_view block, std::uint64_t bytes, std::uint64_t epoch, Section& section) {
  if (!fits(block)) return;
  const std::uint32_t hash = hash_of(block);
  const std::size_t place = hash % kPlaces;
  if (std::exchange(last_hashes_[place], hash) != hash) return;
  if (memos_[place] == nullptr) memos_[place] = &take_memo();
  if (!memos_[place]->learn(block, bytes, epoch, section)) return;
  // Never 0, also after 2^32 of them.
  if (++last_identity_ == 0) ++last_identity_;
  memos_[place]->identify(last_identity_, section);
}

}  // namespace violet::hpack
