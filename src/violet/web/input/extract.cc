#include "violet/web/input/extract.h"

#include <string>

namespace violet {

void Fetch::fail(std::string_view where, std::string_view name, std::string_view what) {
  if (why_ && why_.status() != 400) return;
  why_ = Error(ErrorKind::Invalid);
  std::string text(detail_);
  if (!text.empty()) text += '\n';
  text.append(where).append(" ").append(name).append(": ").append(what);
  detail_ = exchange_.arena().copy(text);
}

void Fetch::refuse(Error why, std::string_view detail) {
  if (why_) return;
  why_ = why;
  detail_ = exchange_.arena().copy(detail);
}

void Fetch::answer() { exchange_.refuse(why_, detail_); }

namespace web {

void fail_provided(Binding& binding, std::string_view type) {
  binding.fail("the handler takes a " + std::string(type) + "&, which nobody has provided: app.provide<" +
               std::string(type) + ">(…)");
}

}  // namespace web
}  // namespace violet
