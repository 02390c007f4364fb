#pragma once

// MultipartParser: multipart/form-data (RFC 7578, RFC 2046 §5.1) as it comes, in pieces of any size; however it is
// split, the steps are the same and their data joins to the same bytes.
//
//   MultipartParser parser(boundary, bounds);
//   for (;;) switch (parser.next(input)) {          // takes from the front of `input`
//     case Step::More:    … input is used up: the next piece, or finish() where there is none
//     case Step::Part:    … parser.head()
//     case Step::Data:    … parser.data(), until the next call
//     case Step::PartEnd: …
//     case Step::Bad:     … parser.error(), parser.defect()
//   }
//
//     Preamble --delimiter--> Mark --CRLF--> Head --empty line--> Content --delimiter--> Mark --"--"--> Epilogue
//     ^ skip()                ^ mark()       ^ gather_head()      ^ skip()
//
// Strict where two readers could see two forms: line breaks are CRLF, nothing but blanks may stand behind a boundary in
// its line, and a body without its last boundary is not whole. Holds the head of one part; content passes through.

#include "violet/base/error.h"
#include "violet/web/upload/part_head.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace violet {

enum class LimitId : std::int32_t;
struct Limits;

namespace web {

class MultipartParser {
 public:
  enum class Step : std::uint8_t { More, Part, Data, PartEnd, End, Bad };

  // `limits` has to outlive the parser. REQUIRES: a boundary that boundary_of() has given.
  MultipartParser(std::string_view boundary, const Limits& limits);

  [[nodiscard]] Step next(std::string_view& input);
  // Nothing follows: End or Bad.
  [[nodiscard]] Step finish();

  // Of the part that the last Step::Part began.
  [[nodiscard]] const PartHead& head() const noexcept { return head_; }
  // Of Step::Data; in what next() was given, or in the parser until it dies.
  [[nodiscard]] std::string_view data() const noexcept { return data_; }
  // Of Step::Bad: 400 or 413, and why in words where it is not a limit.
  [[nodiscard]] Error error() const noexcept { return error_; }
  [[nodiscard]] std::string_view defect() const noexcept { return defect_; }

 private:
  enum class State : std::uint8_t {
    Preamble,
    Mark,
    Dash,
    Padding,
    MarkEnd,
    Head,
    Content,
    Close,
    CloseEnd,
    Epilogue,
    Bad
  };

  Step skip(std::string_view& input);
  Step match(std::string_view& input);
  Step mark(char c);
  Step gather_head(std::string_view& input);
  Step begin_part(std::size_t end);
  Step give(std::string_view data);
  Step fail(std::string_view defect);
  Step exceed(LimitId limit);

  const Limits& limits_;
  std::string delimiter_;  // CRLF "--" boundary
  State state_ = State::Preamble;
  // How much of the delimiter has been seen, and how much of that was not there: in front of the first boundary, and of
  // a part without content, the line break belongs to what stands before it.
  std::size_t matched_ = 2;
  std::size_t imagined_ = 2;
  std::size_t padding_ = 0;
  std::uint64_t part_count_ = 0;
  std::uint64_t content_bytes_ = 0;
  std::string lines_;  // of the head that is being gathered
  PartHead head_;
  std::string_view data_;
  std::string_view defect_;
  Error error_;
};

}  // namespace web
}  // namespace violet
