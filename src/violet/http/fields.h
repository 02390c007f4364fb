#pragma once

// Fields: the field lines of one message, in the order they came or were added, in memory of an arena.
//
// Names and values are views. What a parser pushes points into its block; what add() and set() take is checked and
// copied into the arena, so that no CR, LF or NUL ever reaches a wire (RFC 9110 §5.5). Several lines may have one name.

#include "violet/base/error.h"
#include "violet/http/field_id.h"
#include "violet/memory/arena.h"
#include "violet/memory/ref.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace violet::http {

struct Field {
  std::string_view name;   // as received or set; canonical spelling for known ids
  std::string_view value;  // without surrounding white space
  FieldId id = FieldId::Other;
  // Secrets that header compression must never put into a table (RFC 7541 §7.1.3).
  bool is_sensitive = false;
};

// Field lines that are made once and sent many times, as those of a file are. A message takes them by Fields::use(),
// without a copy; wires know them again, and write what they have made of them before.
class PreparedFields final : public Counted<PreparedFields> {
 public:
  struct Line {
    FieldId id;
    std::string_view value;  // checked by whoever made it
  };
  // Lines without a value are left out. REQUIRES: known names, and none that a wire writes itself or may not write:
  // fields of the connection, of framing, Host, Date, Server, TE.
  [[nodiscard]] static Ref<PreparedFields> make(std::span<const Line> lines);

  [[nodiscard]] std::span<const Field> lines() const noexcept { return lines_; }
  // As HTTP/1.1 writes them: "Content-Type: text/html\r\nETag: …\r\n". Behind it, up to a multiple of kTextStep,
  // there is more that can be read.
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), text_bytes_}; }
  static constexpr std::size_t kTextStep = 32;

 private:
  PreparedFields() = default;
  std::string text_;
  std::size_t text_bytes_ = 0;
  std::vector<Field> lines_;  // values are views into text_
};

class Fields {
 public:
  // `first` is uninitialised room for `capacity` lines, more comes from the arena.
  Fields(Arena& arena, Field* first, std::uint32_t capacity) noexcept
      : arena_(&arena), data_(first), capacity_(capacity) {}
  explicit Fields(Arena& arena) noexcept : Fields(arena, nullptr, 0) {}
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  [[nodiscard]] const Field* begin() const noexcept { return data_; }
  [[nodiscard]] const Field* end() const noexcept { return data_ + count_; }
  [[nodiscard]] Field* begin() noexcept {
    if (prepared_) [[unlikely]]
      make_own();
    return data_;
  }
  [[nodiscard]] Field* end() noexcept { return begin() + count_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }

  // The first line of that name, nullptr when there is none. Names compare case-insensitively.
  [[nodiscard]] const Field* find(FieldId id) const noexcept {
    for (const Field& field : *this) {
      if (field.id == id) return &field;
    }
    return nullptr;
  }
  [[nodiscard]] const Field* find(std::string_view name) const noexcept;
  [[nodiscard]] bool has(FieldId id) const noexcept { return find(id) != nullptr; }
  [[nodiscard]] bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  // The value of the first line, "" when there is none.
  [[nodiscard]] std::string_view get(FieldId id) const noexcept {
    const Field* field = find(id);
    return field != nullptr ? field->value : std::string_view{};
  }
  [[nodiscard]] std::string_view get(std::string_view name) const noexcept;
  // Whether a comma-separated field has `member` in any of its lines, case-insensitively.
  [[nodiscard]] bool has_member(FieldId id, std::string_view member) const noexcept;

  // Adds a line. Invalid: a name that is no token, or a value with CR, LF, NUL or another control.
  Result<void> add(std::string_view name, std::string_view value);
  Result<void> add(FieldId id, std::string_view value);
  // Replaces all lines of that name by one.
  Result<void> set(std::string_view name, std::string_view value);
  Result<void> set(FieldId id, std::string_view value);
  // Returns how many lines went.
  std::size_t remove(FieldId id) noexcept;
  std::size_t remove(std::string_view name) noexcept;
  void clear() noexcept {
    if (prepared_) [[unlikely]]
      forget_prepared();
    count_ = 0;
  }

  // Takes the lines as they are, and a count on them. REQUIRES: there are none yet.
  void use(PreparedFields& prepared) noexcept {
    VIOLET_ASSERT(count_ == 0 && !prepared_);
    prepared_ = Ref<PreparedFields>(&prepared);
    // Only looked at: whoever changes a line gets an array of its own first, and so does the next one to be pushed.
    data_ = const_cast<Field*>(prepared.lines().data());
    count_ = capacity_ = static_cast<std::uint32_t>(prepared.lines().size());
  }
  // What use() was given, if the first lines still are that.
  [[nodiscard]] PreparedFields* prepared() const noexcept { return prepared_.get(); }
  // The lines behind them.
  [[nodiscard]] std::span<const Field> others() const noexcept {
    const std::span<const Field> lines(data_, count_);
    return prepared_ ? lines.subspan(prepared_->lines().size()) : lines;
  }

  // Unchecked and uncopied: for parsers, and for values that are known to be clean and to outlive the message.
  void push(const Field& field) {
    if (count_ == capacity_) [[unlikely]]
      grow();
    ::new (data_ + count_++) Field(field);
  }
  // The next line's place, to be filled before anything else is called.
  [[nodiscard]] Field& push_raw() {
    if (count_ == capacity_) [[unlikely]]
      grow();
    return data_[count_++];
  }
  void pop_raw() noexcept { --count_; }
  // Adds all lines of `from`, with their texts copied into the arena.
  void push_copies(const Fields& from);
  void push(FieldId id, std::string_view value) { push(Field{.name = name(id), .value = value, .id = id}); }

  // Moves every text that lies in `raw` by `distance` bytes.
  void move_texts(std::string_view raw, std::ptrdiff_t distance) noexcept;
  // No lines, and room at `first` again: what the arena gave is about to be reset.
  void reset(Field* first, std::uint32_t capacity) noexcept {
    if (prepared_) [[unlikely]]
      prepared_ = nullptr;
    data_ = first;
    count_ = 0;
    capacity_ = capacity;
  }

  [[nodiscard]] Arena& arena() noexcept { return *arena_; }

 private:
  void grow();
  void make_own();
  void forget_prepared() noexcept;
  template <class Match>
  std::size_t remove_if(Match match) noexcept;

  Arena* arena_;
  Field* data_;
  std::uint32_t count_ = 0;
  std::uint32_t capacity_;
  Ref<PreparedFields> prepared_;
};

// Moves a text that lies in `raw` by `distance` bytes; others stay.
inline void move_text(std::string_view& text, std::string_view raw, std::ptrdiff_t distance) noexcept {
  if (text.data() >= raw.data() && text.data() <= raw.data() + raw.size()) text = {text.data() + distance, text.size()};
}

// Fields that frame a message, route it, authenticate it or steer how it is read have no place in a trailer section
// (RFC 9110 §6.5.1).
inline constexpr FieldId kForbiddenTrailers[] = {
    FieldId::TransferEncoding, FieldId::ContentLength,
    FieldId::ContentEncoding,  FieldId::ContentType,
    FieldId::ContentRange,     FieldId::Host,
    FieldId::Connection,       FieldId::KeepAlive,
    FieldId::Upgrade,          FieldId::Te,
    FieldId::Trailer,          FieldId::CacheControl,
    FieldId::Expect,           FieldId::MaxForwards,
    FieldId::Pragma,           FieldId::Range,
    FieldId::Authorization,    FieldId::ProxyAuthorization,
    FieldId::Cookie,           FieldId::SetCookie,
};
[[nodiscard]] constexpr bool is_forbidden_trailer(FieldId id) noexcept {
  for (const FieldId forbidden : kForbiddenTrailers) {
    if (forbidden == id) return true;
  }
  return false;
}

// VCHAR, obs-text, SP and HTAB only, no white space at the ends (RFC 9110 §5.5).
[[nodiscard]] bool is_field_value(std::string_view value) noexcept;

}  // namespace violet::http
