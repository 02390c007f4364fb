#include "violet/features/compress/codec/libraries.h"

#include <brotli/encode.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <vector>

namespace violet::encoding {
namespace {

// Memory that stays with its encoder: a brotli state cannot be reset, and making a new one asks for the same sizes
// again, some of them hundreds of kilobytes, whose pages would fault in for each body.
class Recycler {
 public:
  Recycler() noexcept = default;
  Recycler(const Recycler&) = delete;
  Recycler& operator=(const Recycler&) = delete;
  ~Recycler() {
    for (Piece* piece : spare_) std::free(piece);
  }

  static void* allocate(void* self, std::size_t size) noexcept { return static_cast<Recycler*>(self)->take(size); }
  static void release(void* self, void* memory) noexcept { static_cast<Recycler*>(self)->give(memory); }

 private:
  struct alignas(std::max_align_t) Piece {
    std::size_t size;
  };
  // A body of another size asks for other pieces: those that nobody takes must not pile up.
  static constexpr std::size_t kSpareMax = 32;

  void* take(std::size_t size) noexcept {
    for (Piece*& piece : spare_) {
      if (piece->size != size) continue;
      Piece* const found = piece;
      piece = spare_.back();
      spare_.pop_back();
      return found + 1;
    }
    auto* piece = static_cast<Piece*>(std::malloc(sizeof(Piece) + size));
    if (piece == nullptr) return nullptr;
    piece->size = size;
    return piece + 1;
  }

  void give(void* memory) noexcept {
    if (memory == nullptr) return;
    Piece* const piece = static_cast<Piece*>(memory) - 1;
    if (spare_.size() == kSpareMax) {
      std::free(spare_.front());
      spare_.front() = spare_.back();
      spare_.pop_back();
    }
    spare_.push_back(piece);
  }

  std::vector<Piece*> spare_ = reserved();
  static std::vector<Piece*> reserved() {
    std::vector<Piece*> room;
    room.reserve(kSpareMax);
    return room;
  }
};

class BrotliEncoder final : public Encoder {
 public:
  explicit BrotliEncoder(int quality) noexcept : quality_(static_cast<std::uint32_t>(quality)) {}
  ~BrotliEncoder() override { close(); }

  bool begin(std::uint64_t size) noexcept override {
    close();
    state_ = BrotliEncoderCreateInstance(&Recycler::allocate, &Recycler::release, &memory_);
    if (state_ == nullptr) return false;
    BrotliEncoderSetParameter(state_, BROTLI_PARAM_QUALITY, quality_);
    BrotliEncoderSetParameter(state_, BROTLI_PARAM_LGWIN, window_bits(size));
    if (size != kUnknown) {
      const std::uint64_t hint = std::min<std::uint64_t>(size, std::uint64_t{1} << 30);
      BrotliEncoderSetParameter(state_, BROTLI_PARAM_SIZE_HINT, static_cast<std::uint32_t>(hint));
    }
    return true;
  }

  Step step(std::string_view in, Flush flush, char* out, std::size_t room) noexcept override {
    auto* next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    auto* next_out = reinterpret_cast<std::uint8_t*>(out);
    std::size_t in_left = in.size();
    std::size_t out_left = room;
    const bool is_good =
        BrotliEncoderCompressStream(state_, operation(flush), &in_left, &next_in, &out_left, &next_out, nullptr) != 0;
    Step step{.read_bytes = in.size() - in_left, .written_bytes = room - out_left, .has_failed = !is_good};
    const bool has_left = BrotliEncoderHasMoreOutput(state_) == 0;
    step.is_done = in_left == 0 && has_left && (flush != Flush::End || BrotliEncoderIsFinished(state_) != 0);
    return step;
  }

 private:
  // A window larger than the body is memory for nothing.
  static std::uint32_t window_bits(std::uint64_t size) noexcept {
    constexpr std::uint32_t kStream = 18;
    if (size == kUnknown) return kStream;
    const auto bits = static_cast<std::uint32_t>(std::bit_width(size));
    return std::clamp<std::uint32_t>(bits, 12, BROTLI_DEFAULT_WINDOW);
  }

  static BrotliEncoderOperation operation(Flush flush) noexcept {
    switch (flush) {
      case Flush::None: return BROTLI_OPERATION_PROCESS;
      case Flush::Sync: return BROTLI_OPERATION_FLUSH;
      case Flush::End: return BROTLI_OPERATION_FINISH;
    }
    return BROTLI_OPERATION_FINISH;
  }

  void close() noexcept {
    if (state_ != nullptr) BrotliEncoderDestroyInstance(state_);
    state_ = nullptr;
  }

  Recycler memory_;
  std::uint32_t quality_;
  BrotliEncoderState* state_ = nullptr;
};

}  // namespace

std::unique_ptr<Encoder> make_brotli_encoder(int quality) {
  return std::make_unique<BrotliEncoder>(std::clamp(quality, BROTLI_MIN_QUALITY, BROTLI_MAX_QUALITY));
}

}  // namespace violet::encoding
