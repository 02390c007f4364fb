#include "fuzz/chunked_reference.h"

#include "violet/core/limits.h"

namespace violet::fuzz {
namespace {

using enum ChunkedOutcome::Verdict;

bool is_token_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c != 0 && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}
bool is_text_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}
bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Each rule takes its part off the front.
class Rules {
 public:
  explicit Rules(std::string_view text) : text_(text) {}

  ChunkedOutcome::Verdict body(std::string& out) {
    for (;;) {
      std::uint64_t size = 0;
      if (const auto verdict = chunk_size(size); verdict != Done) return verdict;
      if (const auto verdict = chunk_extensions(); verdict != Done) return verdict;
      if (const auto verdict = line_end(); verdict != Done) return verdict;
      if (size == 0) return trailers();
      if (text_.size() - at_ < size) return More;
      out.append(text_.substr(at_, size));
      at_ += size;
      if (const auto verdict = line_end(); verdict != Done) return verdict;
    }
  }
  [[nodiscard]] std::size_t used() const { return at_; }

 private:
  [[nodiscard]] bool is_at_end() const { return at_ == text_.size(); }
  [[nodiscard]] char next() const { return text_[at_]; }

  ChunkedOutcome::Verdict line_end() {
    if (is_at_end()) return More;
    if (next() != '\r') return Bad;
    if (++at_ == text_.size()) return More;
    if (next() != '\n') return Bad;
    ++at_;
    return Done;
  }
  ChunkedOutcome::Verdict chunk_size(std::uint64_t& size) {
    const std::size_t begin = at_;
    for (; !is_at_end(); ++at_) {
      const char c = next();
      int digit = -1;
      if (c >= '0' && c <= '9') digit = c - '0';
      if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
      if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
      if (digit < 0) return at_ == begin ? Bad : Done;
      if (at_ - begin == 16) return Bad;
      size = size * 16 + static_cast<std::uint64_t>(digit);
    }
    return More;
  }
  void blanks() {
    while (!is_at_end() && is_blank(next())) ++at_;
  }
  ChunkedOutcome::Verdict token() {
    const std::size_t begin = at_;
    while (!is_at_end() && is_token_character(next())) ++at_;
    if (is_at_end()) return More;
    return at_ == begin ? Bad : Done;
  }
  ChunkedOutcome::Verdict quoted() {
    for (++at_; !is_at_end(); ++at_) {
      if (next() == '"') {
        ++at_;
        return is_at_end() ? More : Done;
      }
      if (next() == '\\' && ++at_ == text_.size()) return More;
      if (!is_text_character(next())) return Bad;
    }
    return More;
  }
  // *( BWS ";" BWS name [ BWS "=" BWS value ] ), but no white space before the first ";".
  ChunkedOutcome::Verdict chunk_extensions() {
    for (bool is_first = true;; is_first = false) {
      const std::size_t gap = at_;
      if (!is_first) blanks();
      if (is_at_end()) return More;
      if (next() != ';') return at_ == gap ? Done : Bad;
      ++at_;
      blanks();
      if (is_at_end()) return More;
      if (const auto verdict = token(); verdict != Done) return verdict;
      const std::size_t name_end = at_;
      blanks();
      if (is_at_end()) return More;
      if (next() != '=') {
        at_ = name_end;
        continue;
      }
      ++at_;
      blanks();
      if (is_at_end()) return More;
      if (const auto verdict = next() == '"' ? quoted() : token(); verdict != Done) return verdict;
    }
  }
  ChunkedOutcome::Verdict trailers() {
    for (std::uint64_t count = 0;; ++count) {
      if (is_at_end()) return More;
      if (next() == '\r') return line_end();
      if (const auto verdict = token(); verdict != Done) return verdict;
      if (next() != ':') return Bad;
      for (++at_; !is_at_end() && is_text_character(next());) ++at_;
      if (const auto verdict = line_end(); verdict != Done) return verdict;
      if (count == Limits().field_count_max) return Bad;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

ChunkedOutcome decode_chunked(std::string_view text) {
  ChunkedOutcome outcome;
  Rules rules(text);
  outcome.verdict = rules.body(outcome.body);
  outcome.used = rules.used();
  return outcome;
}

}  // namespace violet::fuzz
