#include "violet/data/findings.h"

#include <new>

namespace violet::data {

std::string_view name(Part part) noexcept {
  switch (part) {
    case Part::Body: return "body";
    case Part::Path: return "path";
    case Part::Query: return "query";
    case Part::Header: return "header";
    case Part::Cookie: return "cookie";
  }
  return "";
}

void Findings::add(Part part, std::string_view where, std::string_view what) {
  if (list_ == nullptr) list_ = arena_.array<Finding>(kMax);
  if (count_ < kMax) ::new (list_ + count_) Finding{part, arena_.copy(where), arena_.copy(what)};
  ++count_;
}

}  // namespace violet::data
