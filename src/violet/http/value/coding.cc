#include "violet/http/value/coding.h"

#include "violet/base/ascii.h"

#include <algorithm>

namespace violet::http {

std::optional<Coding> find_coding(std::string_view text) noexcept {
  for (std::size_t i = 0; i < kCodingCount; ++i) {
    const auto coding = static_cast<Coding>(i);
    if (ascii::equal_folded(text, name(coding))) return coding;
  }
  // RFC 9110 §8.4.1.3.
  if (ascii::equal_folded(text, "x-gzip")) return Coding::Gzip;
  return std::nullopt;
}

// Gathers what the lines name; what nobody named is decided at the end.
class AcceptEncoding::Builder {
 public:
  void add(std::string_view value) noexcept {
    Weighted member;
    while (next_weighted(value, member)) {
      if (member.value == "*") {
        lower(rest_, member.weight);
      } else if (const auto coding = find_coding(member.value)) {
        lower(named_[static_cast<std::size_t>(*coding)], member.weight);
      }
    }
  }
  [[nodiscard]] AcceptEncoding finish() const noexcept {
    AcceptEncoding result;
    for (std::size_t i = 0; i < kCodingCount; ++i) {
      const bool is_identity = static_cast<Coding>(i) == Coding::Identity;
      const int unnamed = rest_ != kNone ? rest_ : is_identity ? kUnspoken : 0;
      result.weights_[i] = static_cast<std::uint16_t>(named_[i] != kNone ? named_[i] : unnamed);
    }
    return result;
  }

 private:
  static constexpr int kNone = -1;
  static void lower(int& to, int weight) noexcept { to = to == kNone ? weight : std::min(to, weight); }

  std::array<int, kCodingCount> named_{kNone, kNone, kNone, kNone, kNone};
  int rest_ = kNone;
};

AcceptEncoding AcceptEncoding::parse(std::string_view value) noexcept {
  Builder builder;
  builder.add(value);
  return builder.finish();
}

AcceptEncoding AcceptEncoding::of(const Fields& fields) noexcept {
  Builder builder;
  for (const Field& field : fields) {
    if (field.id == FieldId::AcceptEncoding) builder.add(field.value);
  }
  return builder.finish();
}

std::optional<Coding> AcceptEncoding::choose(std::span<const Coding> offers) const noexcept {
  std::optional<Coding> best;
  for (const Coding coding : offers) {
    if (weight(coding) > (best ? weight(*best) : 0)) best = coding;
  }
  return best;
}

}  // namespace violet::http
