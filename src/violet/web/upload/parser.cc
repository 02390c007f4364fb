#include "violet/web/upload/parser.h"

#include "violet/core/limits.h"

#include <algorithm>
#include <cstring>

namespace violet::web {
namespace {

// Blanks behind a boundary: mail gateways once padded lines; nobody needs more.
constexpr std::size_t kPaddingMax = 256;

}  // namespace

MultipartParser::MultipartParser(std::string_view boundary, const Limits& limits)
    : limits_(limits), delimiter_("\r\n--") {
  delimiter_ += boundary;
}

MultipartParser::Step MultipartParser::next(std::string_view& input) {
  while (!input.empty()) {
    Step step = Step::More;
    switch (state_) {
      case State::Preamble:
      case State::Content: step = matched_ > 0 ? match(input) : skip(input); break;
      case State::Head: step = gather_head(input); break;
      case State::Epilogue: input = {}; break;  // it says nothing (RFC 2046 §5.1.1)
      case State::Bad: return Step::Bad;
      default: step = mark(input.front()); input.remove_prefix(1);
    }
    if (step != Step::More) return step;
  }
  return Step::More;
}

MultipartParser::Step MultipartParser::finish() {
  switch (state_) {
    case State::Close:
    case State::Epilogue: return Step::End;
    case State::Bad: return Step::Bad;
    case State::Preamble: return fail("the body has no part and no last boundary");
    default: return fail("the body ends before its last boundary");
  }
}

// Looks for where a delimiter begins, and gives what stands before it.
MultipartParser::Step MultipartParser::skip(std::string_view& input) {
  std::size_t at = input.find('\r');
  for (; at != std::string_view::npos; at = input.find('\r', at + 1)) {
    const std::size_t size = std::min(input.size() - at, delimiter_.size());
    if (std::memcmp(input.data() + at, delimiter_.data(), size) == 0) break;
  }
  const std::string_view before = input.substr(0, at);
  input.remove_prefix(before.size());
  if (!input.empty()) {
    matched_ = 1;
    imagined_ = 0;
    input.remove_prefix(1);
  }
  return before.empty() ? Step::More : give(before);
}

// Goes on with a delimiter that may be one. Only its first byte is a CR, so what follows a false start is never part of
// it.
MultipartParser::Step MultipartParser::match(std::string_view& input) {
  const std::size_t size = std::min(input.size(), delimiter_.size() - matched_);
  const auto* const differs = std::mismatch(input.data(), input.data() + size, delimiter_.data() + matched_).first;
  const auto same = static_cast<std::size_t>(differs - input.data());
  matched_ += same;
  input.remove_prefix(same);
  if (matched_ == delimiter_.size()) {
    const bool was_content = state_ == State::Content;
    matched_ = 0;
    padding_ = 0;
    state_ = State::Mark;
    return was_content ? Step::PartEnd : Step::More;
  }
  if (input.empty()) return Step::More;
  const std::string_view false_start = std::string_view(delimiter_).substr(imagined_, matched_ - imagined_);
  matched_ = 0;
  return false_start.empty() ? Step::More : give(false_start);
}

// One byte behind a boundary.
MultipartParser::Step MultipartParser::mark(char c) {
  const bool is_blank = c == ' ' || c == '\t';
  if (is_blank && ++padding_ > kPaddingMax) return fail("too many blanks follow a boundary");
  switch (state_) {
    case State::Mark:
      if (c == '-') {
        state_ = State::Dash;
        return Step::More;
      }
      [[fallthrough]];
    case State::Padding:
      if (is_blank || c == '\r') {
        state_ = is_blank ? State::Padding : State::MarkEnd;
        return Step::More;
      }
      break;
    case State::Dash:
      if (c == '-') {
        state_ = State::Close;
        return Step::More;
      }
      break;
    case State::MarkEnd:
      if (c == '\n') {
        state_ = State::Head;
        lines_.clear();
        return ++part_count_ > limits_.multipart_parts_max ? exceed(LimitId::multipart_parts_max) : Step::More;
      }
      break;
    case State::Close:
      if (is_blank || c == '\r') {
        if (!is_blank) state_ = State::CloseEnd;
        return Step::More;
      }
      break;
    case State::CloseEnd:
      if (c == '\n') {
        state_ = State::Epilogue;
        return Step::More;
      }
      break;
    default: break;
  }
  // A boundary that is only the beginning of a line is one all the same (RFC 2046 §5.1.1), so this is no content.
  return fail("something other than a line break follows a boundary");
}

MultipartParser::Step MultipartParser::gather_head(std::string_view& input) {
  const std::uint64_t max = limits_.multipart_head_bytes_max;
  const std::size_t known = lines_.size();
  const std::string_view taken = input.substr(0, max + 1 - known);
  lines_.append(taken);
  // A part without any field line has its empty line at once.
  const bool is_empty = lines_.starts_with("\r\n");
  std::size_t end = is_empty ? 0 : lines_.find("\r\n\r\n", known < 3 ? 0 : known - 3);
  if (end != std::string::npos) end += is_empty ? 2 : 4;
  if (std::min(end, lines_.size()) > max) return exceed(LimitId::multipart_head_bytes_max);
  input.remove_prefix(end == std::string::npos ? taken.size() : end - known);
  return end == std::string::npos ? Step::More : begin_part(end);
}

MultipartParser::Step MultipartParser::begin_part(std::size_t end) {
  const std::string_view defect = read_part_head(std::string_view(lines_).substr(0, end - 2), head_);
  if (!defect.empty()) return fail(defect);
  if (head_.name.size() > limits_.multipart_name_bytes_max ||
      (head_.file_name && head_.file_name->size() > limits_.multipart_name_bytes_max)) {
    return exceed(LimitId::multipart_name_bytes_max);
  }
  state_ = State::Content;
  matched_ = imagined_ = 2;
  content_bytes_ = 0;
  return Step::Part;
}

MultipartParser::Step MultipartParser::give(std::string_view data) {
  if (state_ == State::Preamble) return Step::More;  // it says nothing
  content_bytes_ += data.size();
  const bool is_file = head_.file_name.has_value();
  if (content_bytes_ > (is_file ? limits_.multipart_file_bytes_max : limits_.multipart_field_bytes_max)) {
    return exceed(is_file ? LimitId::multipart_file_bytes_max : LimitId::multipart_field_bytes_max);
  }
  data_ = data;
  return Step::Data;
}

MultipartParser::Step MultipartParser::fail(std::string_view defect) {
  state_ = State::Bad;
  error_ = Error(ErrorKind::Invalid);
  defect_ = defect;
  return Step::Bad;
}

MultipartParser::Step MultipartParser::exceed(LimitId limit) {
  state_ = State::Bad;
  error_ = Error(ErrorKind::TooLarge, static_cast<std::int32_t>(limit));
  return Step::Bad;
}

}  // namespace violet::web
