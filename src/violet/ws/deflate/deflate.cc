#include "violet/ws/deflate/deflate.h"

#include "violet/base/check.h"
#include "violet/ws/pool/shared.h"

#include <algorithm>
#include <new>
#include <zlib.h>

namespace violet::ws {
namespace {

constexpr std::string_view kTail("\x00\x00\xff\xff", 4);  // an empty stored block's end (RFC 7692 §7.2.1)
constexpr std::size_t kPieceMax = std::size_t{1} << 30;   // zlib counts in 32 bits
constexpr std::size_t kStepMax = 64 * 1024;               // inflated between two looks at the caps
constexpr std::uint64_t kRatioGrace = 64 * 1024;

Bytef* bytes_of(const char* text) noexcept { return reinterpret_cast<Bytef*>(const_cast<char*>(text)); }

// zlib does not come without memory, and its parameters are ours.
void require(int status) {
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  VIOLET_CHECK(status == Z_OK);
}

}  // namespace

// --- Deflater

Deflater::Deflater(int window_bits, int level)
    : stream_(std::make_unique<z_stream>()), window_bits_(window_bits), level_(std::clamp(level, 1, 9)) {
  require(deflateInit2(stream_.get(), level_, Z_DEFLATED, -window_bits, 8, Z_DEFAULT_STRATEGY));
}
Deflater::~Deflater() { deflateEnd(stream_.get()); }
void Deflater::reset() noexcept { deflateReset(stream_.get()); }

void Deflater::add(std::string_view piece, bool is_last, Shared& shared, Assembly& out) {
  z_stream& z = *stream_;
  const std::size_t before = out.size;
  do {
    const std::string_view part = piece.substr(0, kPieceMax);
    piece.remove_prefix(part.size());
    z.next_in = bytes_of(part.data());
    z.avail_in = static_cast<uInt>(part.size());
    const int flush = piece.empty() && is_last ? Z_SYNC_FLUSH : Z_NO_FLUSH;
    do {
      shared.make_room(out, std::max<std::size_t>(256, z.avail_in / 2));
      const std::size_t room = std::min(out.buffer->capacity() - out.size, kPieceMax);
      z.next_out = bytes_of(out.end());
      z.avail_out = static_cast<uInt>(room);
      const int status = deflate(&z, flush);
      VIOLET_CHECK(status == Z_OK || status == Z_BUF_ERROR);
      out.size += room - z.avail_out;
    } while (z.avail_out == 0);
  } while (!piece.empty());
  if (!is_last) return;
  if (out.size - before >= kTail.size()) {
    out.size -= kTail.size();
  } else {
    // Flushed twice with nothing between: zlib has nothing to say, but a message is at least the head of an empty
    // block (§7.2.3.6).
    out.size = before;
    *out.end() = 0;
    ++out.size;
  }
}

// --- Inflater

Inflater::Inflater(int window_bits) : stream_(std::make_unique<z_stream>()), window_bits_(window_bits) {
  require(inflateInit2(stream_.get(), -window_bits));
}
Inflater::~Inflater() { inflateEnd(stream_.get()); }
void Inflater::reset() noexcept { inflateReset(stream_.get()); }

Inflater::Verdict Inflater::add(std::string_view piece, Caps caps, Shared& shared, Assembly& out) {
  out.wire_bytes += piece.size();
  return run(piece, caps, shared, out);
}

Inflater::Verdict Inflater::finish(Caps caps, Shared& shared, Assembly& out) {
  constexpr int kBetweenBlocks = 128;  // see data_type in zlib.h; without a bit of the next block
  const std::size_t before = out.size;
  const Verdict verdict = run(kTail, caps, shared, out);
  if (verdict != Verdict::Good) return verdict;
  // A message that was cut off takes the tail for data, or waits for more of it.
  return out.size == before && stream_->data_type == kBetweenBlocks ? Verdict::Good : Verdict::Bad;
}

Inflater::Verdict Inflater::run(std::string_view piece, Caps caps, Shared& shared, Assembly& out) {
  z_stream& z = *stream_;
  while (!piece.empty()) {
    const std::string_view part = piece.substr(0, kPieceMax);
    piece.remove_prefix(part.size());
    z.next_in = bytes_of(part.data());
    z.avail_in = static_cast<uInt>(part.size());
    for (;;) {
      shared.make_room(out, std::clamp<std::size_t>(z.avail_in * std::size_t{4}, 256, 64 * 1024));
      // A little at a time, and one byte more than there may be, so that the caps bite before much is made.
      const std::uint64_t left = caps.bytes_max - std::min<std::uint64_t>(caps.bytes_max, out.size);
      const auto room =
          static_cast<std::size_t>(std::min<std::uint64_t>({out.buffer->capacity() - out.size, kStepMax, left + 1}));
      z.next_out = bytes_of(out.end());
      z.avail_out = static_cast<uInt>(room);
      const int status = inflate(&z, Z_SYNC_FLUSH);
      out.size += room - z.avail_out;
      if (out.size > caps.bytes_max) return Verdict::TooLarge;
      if (caps.ratio_max != 0 && out.size > kRatioGrace && out.size / caps.ratio_max > out.wire_bytes) {
        return Verdict::TooLarge;
      }
      if (status == Z_STREAM_END) {
        // A sender may end a message with a final block; what follows begins a new stream with the old window
        // (§7.2.3.4).
        if (!begin_again()) return Verdict::Bad;
        if (z.avail_in == 0) break;
        continue;
      }
      if (status != Z_OK && status != Z_BUF_ERROR) return Verdict::Bad;
      if (z.avail_out > 0) break;
    }
  }
  return Verdict::Good;
}

// Keeps the window where it is: copying it would make each final block of two bytes cost 64 KiB of moves.
bool Inflater::begin_again() { return inflateResetKeep(stream_.get()) == Z_OK; }

// --- DeflatePool

std::unique_ptr<Deflater> DeflatePool::take_deflater(int window_bits, int level) {
  for (std::size_t i = 0; i < deflaters_.size(); ++i) {
    if (!deflaters_[i]->is_like(window_bits, std::clamp(level, 1, 9))) continue;
    std::swap(deflaters_[i], deflaters_.back());
    std::unique_ptr<Deflater> found = std::move(deflaters_.back());
    deflaters_.pop_back();
    return found;
  }
  return std::make_unique<Deflater>(window_bits, level);
}

void DeflatePool::give(std::unique_ptr<Deflater> deflater) {
  if (!kPoolsKeep || deflaters_.size() >= kKeptMax) return;
  deflater->reset();
  deflaters_.push_back(std::move(deflater));
}

std::unique_ptr<Inflater> DeflatePool::take_inflater(int window_bits) {
  for (std::size_t i = 0; i < inflaters_.size(); ++i) {
    if (!inflaters_[i]->is_like(window_bits)) continue;
    std::swap(inflaters_[i], inflaters_.back());
    std::unique_ptr<Inflater> found = std::move(inflaters_.back());
    inflaters_.pop_back();
    return found;
  }
  return std::make_unique<Inflater>(window_bits);
}

void DeflatePool::give(std::unique_ptr<Inflater> inflater) {
  if (!kPoolsKeep || inflaters_.size() >= kKeptMax) return;
  inflater->reset();
  inflaters_.push_back(std::move(inflater));
}

}  // namespace violet::ws
