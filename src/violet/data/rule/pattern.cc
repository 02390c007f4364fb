#include "violet/data/rule/pattern.h"

#include <re2/re2.h>

namespace violet::data {
namespace {

RE2::Options quiet() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

}  // namespace

struct Pattern::Compiled {
  explicit Compiled(std::string_view text) : expression(re2::StringPiece(text.data(), text.size()), quiet()) {}
  RE2 expression;
};

Pattern::Pattern(std::string_view text) : compiled_(new Compiled(text)) {}
Pattern::~Pattern() = default;

bool Pattern::matches(std::string_view text) const noexcept {
  return compiled_->expression.ok() &&
         RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled_->expression);
}

std::string_view Pattern::defect() const noexcept { return compiled_->expression.error(); }

}  // namespace violet::data
