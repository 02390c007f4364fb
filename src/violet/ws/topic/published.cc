#include "violet/ws/topic/published.h"

#include "violet/ws/pool/shared.h"

namespace violet::ws {
namespace {

std::string frame_of(std::uint8_t first, std::string_view payload) {
  std::string frame(kFrameHeadMax, '\0');
  frame.resize(write_frame_head(frame.data(), first, payload.size(), nullptr));
  frame.append(payload);
  return frame;
}

// Holds shared bytes for one loop.
class Hold final : public Buffer {
 public:
  static Slice around(Slice bytes) {
    auto* hold = new Hold(std::move(bytes));
    Slice slice(*hold, hold->bytes_.data(), hold->bytes_.size());
    hold->release();
    return slice;
  }

 private:
  explicit Hold(Slice bytes) noexcept
      : Buffer(Kind::Heap, [](Buffer* self) noexcept { delete static_cast<Hold*>(self); }), bytes_(std::move(bytes)) {}
  Slice bytes_;
};

}  // namespace

Published::Published(std::string_view topic, Kind kind, std::string_view payload)
    : topic_(topic),
      kind_(kind),
      frame_(Slice::shared(frame_of(static_cast<std::uint8_t>(kFin | static_cast<std::uint8_t>(kind)), payload))),
      payload_(frame_.text().substr(frame_.size() - payload.size())) {}

Slice Published::compressed(int window_bits, int level, Shared& shared) {
  const std::lock_guard lock(mutex_);
  for (const Form& form : forms_) {
    if (form.window_bits == window_bits && form.level == level) return form.frame;
  }
  Assembly out;
  auto deflater = shared.deflates.take_deflater(window_bits, level);
  deflater->add(payload_, true, shared, out);
  shared.deflates.give(std::move(deflater));
  Slice frame = frame_;
  if (out.size < payload_.size()) {
    const auto first = static_cast<std::uint8_t>(kFin | kRsv1 | static_cast<std::uint8_t>(kind_));
    frame = Slice::shared(frame_of(first, {out.buffer->data(), out.size}));
  }
  forms_.push_back({window_bits, level, frame});
  return frame;
}

PublishedHere::PublishedHere(Published& published, Shared& shared)
    : published_(published), shared_(shared), plain_(Hold::around(published.frame())) {}

const Slice& PublishedHere::compressed(int window_bits, int level) {
  if (window_bits != window_bits_ || level != level_) {
    compressed_ = Hold::around(published_.compressed(window_bits, level, shared_));
    window_bits_ = window_bits;
    level_ = level;
  }
  return compressed_;
}

}  // namespace violet::ws
