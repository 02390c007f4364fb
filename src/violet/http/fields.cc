#include "violet/http/fields.h"

#include "violet/base/ascii.h"

#include <algorithm>
#include <memory>

namespace violet::http {

bool is_field_value(std::string_view value) noexcept {
  return ascii::all_are(value, ascii::kFieldValue) && ascii::trim(value).size() == value.size();
}

Ref<PreparedFields> PreparedFields::make(std::span<const Line> lines) {
  auto made = Ref<PreparedFields>::adopt(new PreparedFields);
  for (const Line& line : lines) {
    VIOLET_ASSERT(line.id != FieldId::Other);
    if (!line.value.empty()) made->text_.append(wire_name(line.id)).append(line.value).append("\r\n");
  }
  made->text_bytes_ = made->text_.size();
  made->text_.resize((made->text_bytes_ + kTextStep - 1) / kTextStep * kTextStep);
  // Only now, when the text stays where it is.
  std::string_view rest = made->text_;
  for (const Line& line : lines) {
    if (line.value.empty()) continue;
    rest.remove_prefix(wire_name(line.id).size());
    made->lines_.push_back({.name = name(line.id), .value = rest.substr(0, line.value.size()), .id = line.id});
    rest.remove_prefix(line.value.size() + 2);
  }
  return made;
}

const Field* Fields::find(std::string_view name) const noexcept {
  if (const FieldId id = find_field(name); id != FieldId::Other) return find(id);
  for (const Field& field : *this) {
    if (field.id == FieldId::Other && ascii::equal_folded(field.name, name)) return &field;
  }
  return nullptr;
}

std::string_view Fields::get(std::string_view name) const noexcept {
  const Field* field = find(name);
  return field != nullptr ? field->value : std::string_view{};
}

bool Fields::has_member(FieldId id, std::string_view member) const noexcept {
  for (const Field& field : *this) {
    if (field.id != id) continue;
    std::string_view rest = field.value;
    for (auto next = ascii::next_member(rest); !next.empty(); next = ascii::next_member(rest)) {
      if (ascii::equal_folded(next, member)) return true;
    }
  }
  return false;
}

Result<void> Fields::add(FieldId id, std::string_view value) {
  if (id == FieldId::Other || !is_field_value(value)) return fail(ErrorKind::Invalid);
  push(id, arena_->copy(value));
  return {};
}

Result<void> Fields::add(std::string_view text, std::string_view value) {
  if (const FieldId id = find_field(text); id != FieldId::Other) return add(id, value);
  if (!ascii::is_token(text) || !is_field_value(value)) return fail(ErrorKind::Invalid);
  push(Field{.name = arena_->copy(text), .value = arena_->copy(value)});
  return {};
}

Result<void> Fields::set(FieldId id, std::string_view value) {
  if (id == FieldId::Other || !is_field_value(value)) return fail(ErrorKind::Invalid);
  const std::string_view copy = arena_->copy(value);
  remove(id);
  push(id, copy);
  return {};
}

Result<void> Fields::set(std::string_view text, std::string_view value) {
  if (const FieldId id = find_field(text); id != FieldId::Other) return set(id, value);
  if (!ascii::is_token(text) || !is_field_value(value)) return fail(ErrorKind::Invalid);
  const Field field{.name = arena_->copy(text), .value = arena_->copy(value)};
  remove(text);
  push(field);
  return {};
}

void Fields::push_copies(const Fields& from) {
  for (const Field& field : from) {
    Field copy = field;
    copy.name = arena_->copy(field.name);
    copy.value = arena_->copy(field.value);
    push(copy);
  }
}

template <class Match>
std::size_t Fields::remove_if(Match match) noexcept {
  Field* kept = std::remove_if(begin(), end(), match);
  const auto gone = static_cast<std::size_t>(end() - kept);
  count_ = static_cast<std::uint32_t>(count_ - gone);
  return gone;
}

std::size_t Fields::remove(FieldId id) noexcept {
  return remove_if([id](const Field& field) { return field.id == id; });
}

std::size_t Fields::remove(std::string_view text) noexcept {
  if (const FieldId id = find_field(text); id != FieldId::Other) return remove(id);
  return remove_if(
      [text](const Field& field) { return field.id == FieldId::Other && ascii::equal_folded(field.name, text); });
}

void Fields::move_texts(std::string_view raw, std::ptrdiff_t distance) noexcept {
  for (Field& field : *this) {
    move_text(field.name, raw, distance);
    move_text(field.value, raw, distance);
  }
}

void Fields::grow() {
  const std::uint32_t capacity = capacity_ < 8 ? 16 : capacity_ * 2;
  Field* data = arena_->array<Field>(capacity);
  std::uninitialized_copy_n(data_, count_, data);
  data_ = data;
  capacity_ = capacity;
}

void Fields::forget_prepared() noexcept {
  if (data_ == prepared_->lines().data()) {
    data_ = nullptr;
    capacity_ = 0;
  }
  prepared_ = nullptr;
}

// Somebody may change a line: from here on they are like any others, in our own memory.
void Fields::make_own() {
  const Ref<PreparedFields> from = std::move(prepared_);
  if (data_ == from->lines().data()) grow();
  const std::string_view text = from->text();
  const std::ptrdiff_t distance = arena_->copy(text).data() - text.data();
  for (std::size_t i = 0; i < from->lines().size(); ++i) move_text(data_[i].value, text, distance);
}

}  // namespace violet::http
