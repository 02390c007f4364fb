#include "violet/features/compress/spares.h"

#include <algorithm>
#include <utility>

namespace violet::encoding {

std::unique_ptr<Encoder> Spares::take(const Kind& kind) {
  for (Spare& spare : spares_) {
    if (spare.kind != kind) continue;
    std::unique_ptr<Encoder> encoder = std::move(spare.encoder);
    std::swap(spare, spares_.back());
    spares_.pop_back();
    return encoder;
  }
  ++made_count_;
  return make_encoder(kind.coding, kind.level);
}

void Spares::give(const Kind& kind, std::unique_ptr<Encoder> encoder) {
  if (encoder == nullptr) return;
  const auto kept = std::ranges::count_if(spares_, [&](const Spare& spare) { return spare.kind == kind; });
  if (static_cast<std::size_t>(kept) < kKeptMax) spares_.push_back({kind, std::move(encoder)});
}

}  // namespace violet::encoding
