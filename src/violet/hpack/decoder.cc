#include "violet/hpack/decoder.h"

#include "violet/base/ascii.h"
#include "violet/hpack/huffman.h"
#include "violet/hpack/integer.h"
#include "violet/memory/text.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace violet::hpack {
namespace {

constexpr std::uint8_t kNameFlaws = Section::kBadName | Section::kUnknownPseudo;
constexpr std::size_t kWord = 8;

constexpr auto kLowerToken = [] {
  std::array<bool, 256> table{};
  for (std::size_t c = 0; c < 256; ++c) {
    const char character = static_cast<char>(c);
    table[c] = ascii::is(character, ascii::kToken) && ascii::lower(character) == character;
  }
  return table;
}();

// Field names are tokens without upper case (RFC 9113 §8.2.1, RFC 9110 §5.1).
bool is_name(std::string_view text) noexcept {
  bool is_good = !text.empty();
  for (char c : text) is_good &= kLowerToken[static_cast<unsigned char>(c)];
  return is_good;
}

// Whether eight bytes have none that a value may not hold; HTAB, which it may, does not pass either.
bool is_plain(std::uint64_t word) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  constexpr std::uint64_t kHigh = kOnes * 0x80;
  const std::uint64_t del = word ^ kOnes * 0x7f;
  return ((((word - kOnes * 0x20) & ~word) | ((del - kOnes) & ~del)) & kHigh) == 0;
}

bool is_white(char c) noexcept { return c == ' ' || c == '\t'; }

bool has_no_white_end(std::string_view text) noexcept {
  return text.empty() || !(is_white(text.front()) || is_white(text.back()));
}

// VCHAR, obs-text, SP and HTAB without white space at the ends (RFC 9113 §8.2.1, RFC 9110 §5.5).
// REQUIRES: kWord readable bytes from its start.
bool is_value(std::string_view text) noexcept {
  const std::size_t size = text.size();
  const char* p = text.data();
  if (size == 0) return true;
  if (!has_no_white_end(text)) return false;
  bool is_good = true;
  if (size < kWord) {
    // Bytes behind the end become spaces.
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * size);
    is_good = is_plain((detail::load_word<std::uint64_t>(p) & mask) | (0x2020202020202020u & ~mask));
  } else {
    for (std::size_t i = 0; i + kWord < size; i += kWord) is_good &= is_plain(detail::load_word<std::uint64_t>(p + i));
    is_good &= is_plain(detail::load_word<std::uint64_t>(p + size - kWord));
  }
  return is_good || ascii::all_are(text, ascii::kFieldValue);
}

struct Line {
  std::string_view name;
  std::string_view value;
  Key key;
  std::uint8_t flaws = 0;
  bool is_sensitive = false;
  bool owns_name = false;  // the name is a copy in the arena
};

// A string literal, decoded into the arena.
struct Text {
  std::string_view text;
  bool is_good = false;
  bool is_plain = false;  // holds no control character
};

}  // namespace

// One block being decoded.
class Decoder::Run {
 public:
  Run(Decoder& decoder, std::string_view block, const Budget& budget, Section& section) noexcept
      : decoder_(decoder),
        table_(decoder.table_),
        arena_(section.fields.arena()),
        section_(section),
        p_(block.data()),
        end_(block.data() + block.size()),
        bytes_left_(budget.bytes_max),
        count_left_(budget.count_max) {}

  Verdict go() {
    if (!read_updates()) return Verdict::Broken;
    while (p_ < end_) {
      const auto first = static_cast<unsigned char>(*p_);
      bool is_good;
      if ((first & 0x80) != 0) {
        is_good = read_indexed();
      } else if ((first & 0x40) != 0) {
        is_good = read_literal<6, true>(false);
      } else {
        // A size update may stand only in front of all lines (RFC 7541 §4.2).
        is_good = (first & 0x20) == 0 && read_literal<4, false>((first & 0x10) != 0);
      }
      if (!is_good) [[unlikely]]
        return Verdict::Broken;
    }
    return verdict_;
  }

  [[nodiscard]] bool leaves_table() const noexcept { return leaves_table_; }
  [[nodiscard]] std::uint64_t bytes_left() const noexcept { return bytes_left_; }

 private:
  bool read_updates();
  [[gnu::always_inline]] inline bool read_indexed();
  template <int kPrefix, bool kInserts>
  bool read_literal(bool is_sensitive);
  bool read_name(Line& line);
  bool name_at(std::uint32_t index, Line& line);
  Text read_text();
  [[gnu::always_inline]] inline bool pay(Key key, std::size_t bytes) noexcept;
  [[gnu::always_inline]] inline void put(Pseudo which, std::string_view value, bool is_sensitive);
  [[gnu::always_inline]] inline void put(http::FieldId id, std::string_view name, std::string_view value,
                                         bool is_sensitive);
  void put(const Line& line);
  [[nodiscard]] std::string_view copy(std::string_view text) {
    char* const to = static_cast<char*>(arena_.allocate(text.size(), 1));
    put_text(to, text);
    return {to, text.size()};
  }
  void give_back(std::string_view text) noexcept { arena_.give_back(const_cast<char*>(text.data()), text.size()); }

  Decoder& decoder_;
  DynamicTable& table_;
  Arena& arena_;
  Section& section_;
  const char* p_;
  const char* const end_;
  std::uint64_t bytes_left_;
  std::uint64_t count_left_;
  Verdict verdict_ = Verdict::Done;
  bool leaves_table_ = true;
};

// At most two: the smallest size since the last block, and the one that holds now (RFC 7541 §4.2).
bool Decoder::Run::read_updates() {
  constexpr int kUpdatesMax = 2;
  std::uint32_t lowest = table_.capacity();
  for (int count = 0; p_ < end_ && (*p_ & 0xe0) == 0x20; ++count) {
    std::uint32_t size;
    if (count == kUpdatesMax || !read_integer(p_, end_, 5, size) || size > decoder_.table_bytes_max_) return false;
    table_.set_capacity(size);
    leaves_table_ = false;
    lowest = std::min(lowest, size);
  }
  // RFC 9113 §4.3.1.
  if (decoder_.must_update_ && lowest > decoder_.table_bytes_low_) return false;
  decoder_.must_update_ = false;
  return true;
}

// False: over the budget, now or before.
bool Decoder::Run::pay(Key key, std::size_t bytes) noexcept {
  if (verdict_ != Verdict::Done) return false;
  if (bytes > bytes_left_) {
    verdict_ = Verdict::OverBytes;
    return false;
  }
  if (!key.is_pseudo()) {
    if (count_left_ == 0) {
      verdict_ = Verdict::OverCount;
      return false;
    }
    --count_left_;
  }
  bytes_left_ -= bytes;
  return true;
}

void Decoder::Run::put(Pseudo which, std::string_view value, bool is_sensitive) {
  const std::uint8_t bit = Section::bit(which);
  if ((section_.seen & bit) != 0) [[unlikely]] {
    section_.flaws |= Section::kRepeatedPseudo;
    return;
  }
  if (!section_.fields.is_empty()) section_.flaws |= Section::kLatePseudo;
  section_.seen |= bit;
  if (is_sensitive) section_.sensitive |= bit;
  section_.pseudo[static_cast<std::size_t>(which)] = value;
}

void Decoder::Run::put(http::FieldId id, std::string_view name, std::string_view value, bool is_sensitive) {
  const auto number = static_cast<std::size_t>(id);
  section_.ids[number / 64] |= std::uint64_t{1} << number % 64;
  http::Field& field = section_.fields.push_raw();
  field.name = name;
  field.value = value;
  field.id = id;
  field.is_sensitive = is_sensitive;
}

void Decoder::Run::put(const Line& line) {
  if (line.key.is_pseudo()) {
    put(line.key.pseudo(), line.value, line.is_sensitive);
  } else if ((line.flaws & Section::kUnknownPseudo) == 0) {
    put(line.key.id(), line.name, line.value, line.is_sensitive);
  }
}

// RFC 7541 §6.1.
bool Decoder::Run::read_indexed() {
  std::uint32_t index;
  if (!read_integer(p_, end_, 7, index) || index == 0) return false;
  if (index <= kStaticCount) {
    const StaticEntry& entry = kStaticTable.at[index];
    if (!pay(entry.key, Entry::kOverhead + entry.name.size() + entry.value.size())) return true;
    if (entry.key.is_pseudo()) {
      put(entry.key.pseudo(), entry.value, false);
    } else {
      put(entry.key.id(), entry.name, entry.value, false);
    }
    return true;
  }
  const std::uint32_t age = index - kStaticCount - 1;
  if (age >= table_.count()) return false;
  const Entry& entry = table_.at(age);
  section_.flaws |= entry.flaws;
  if (!pay(entry.key, entry.size())) return true;
  if (entry.key.is_pseudo()) {
    put(entry.key.pseudo(), copy(table_.value(entry)), false);
  } else if (!entry.key.is_other()) {
    put(entry.key.id(), http::name(entry.key.id()), copy(table_.value(entry)), false);
  } else if ((entry.flaws & Section::kUnknownPseudo) == 0) {
    put(http::FieldId::Other, copy(table_.name(entry)), copy(table_.value(entry)), false);
  }
  return true;
}

// RFC 7541 §6.2.
template <int kPrefix, bool kInserts>
bool Decoder::Run::read_literal(bool is_sensitive) {
  std::uint32_t index;
  if (!read_integer(p_, end_, kPrefix, index)) return false;
  Line line{.is_sensitive = is_sensitive};
  if (!(index == 0 ? read_name(line) : name_at(index, line))) return false;
  const Text value = read_text();
  if (!value.is_good) return false;
  line.value = value.text;
  if (!(value.is_plain ? has_no_white_end(line.value) : is_value(line.value))) line.flaws |= Section::kBadValue;
  section_.flaws |= line.flaws;
  if constexpr (kInserts) {
    leaves_table_ = false;
    table_.insert({.key = line.key, .flaws = line.flaws}, line.name, line.value);
  }
  if (pay(line.key, Entry::kOverhead + line.name.size() + line.value.size())) {
    put(line);
  } else {
    give_back(line.value);
    if (line.owns_name) give_back(line.name);
  }
  return true;
}

bool Decoder::Run::name_at(std::uint32_t index, Line& line) {
  if (index <= kStaticCount) {
    line.key = kStaticTable.at[index].key;
    line.name = kStaticTable.at[index].name;
    return true;
  }
  const std::uint32_t age = index - kStaticCount - 1;
  if (age >= table_.count()) return false;
  const Entry& entry = table_.at(age);
  line.key = entry.key;
  line.flaws = entry.flaws & kNameFlaws;
  if (entry.key.is_other()) {
    // A copy: inserting the line may evict the entry (RFC 7541 §4.4).
    line.name = copy(table_.name(entry));
    line.owns_name = true;
  } else {
    line.name = entry.key.is_pseudo() ? name(entry.key.pseudo()) : http::name(entry.key.id());
  }
  return true;
}

bool Decoder::Run::read_name(Line& line) {
  const Text text = read_text();
  if (!text.is_good) return false;
  line.name = text.text;
  line.owns_name = true;
  if (line.name.starts_with(':')) {
    for (std::size_t i = 0; i < kPseudoCount; ++i) {
      if (line.name != name(static_cast<Pseudo>(i))) continue;
      line.key = static_cast<Pseudo>(i);
      give_back(line.name);
      line.owns_name = false;
      line.name = name(line.key.pseudo());
      return true;
    }
    line.flaws = Section::kUnknownPseudo;
  } else if (!is_name(line.name)) {
    line.flaws = Section::kBadName;
  } else if (const http::FieldId id = http::find_padded_field(line.name); id != http::FieldId::Other) {
    give_back(line.name);
    line.owns_name = false;
    line.key = id;
    line.name = http::name(id);
  }
  return true;
}

// RFC 7541 §5.2. The text has kWord readable bytes from its start.
Text Decoder::Run::read_text() {
  if (p_ == end_) return {};
  const bool is_coded = (*p_ & 0x80) != 0;
  std::uint32_t size;
  if (!read_integer(p_, end_, 7, size) || size > static_cast<std::size_t>(end_ - p_)) return {};
  const std::string_view from(p_, size);
  p_ += size;
  const std::size_t room = (is_coded ? huffman_room(size) : size) + kWord;
  char* const to = static_cast<char*>(arena_.allocate(room, 1));
  const Huffman made = is_coded ? decode_huffman(from, to) : Huffman{put_text(to, from), false};
  if (made.end == nullptr) return {};
  arena_.give_back(made.end, static_cast<std::size_t>(to + room - made.end));
  return {{to, static_cast<std::size_t>(made.end - to)}, true, made.is_plain};
}

void Decoder::set_table_bytes_max(std::uint32_t bytes) noexcept {
  VIOLET_ASSERT(bytes <= DynamicTable::kCapacityMax);
  table_bytes_max_ = bytes;
  if (bytes >= table_.capacity()) return;
  table_bytes_low_ = must_update_ ? std::min(table_bytes_low_, bytes) : bytes;
  must_update_ = true;
  // A block without an update, however well known, is broken now.
  ++epoch_;
}

Verdict Decoder::decode_new(std::string_view block, const Budget& budget, Section& section) {
  if (is_broken_) return Verdict::Broken;
  Run run(*this, block, budget, section);
  const Verdict verdict = run.go();
  if (!memos_) memos_ = std::make_unique<Memos>();
  is_broken_ = verdict == Verdict::Broken;
  if (is_broken_ || !run.leaves_table()) {
    ++epoch_;
  } else if (verdict == Verdict::Done) {
    memos_->note(block, budget.bytes_max - run.bytes_left(), epoch_, section);
  }
  return verdict;
}

}  // namespace violet::hpack
