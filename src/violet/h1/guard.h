#pragma once

// Budgets that bound what a peer may cost beside its bytes in time (core/pace.h): pure counters, no I/O.

#include <cstdint>

namespace violet::h1 {

// ChunkBudget: what the framing of one chunked body may cost beside its data.
class ChunkBudget {
 public:
  void reset() noexcept { *this = ChunkBudget(); }
  // A size line of `line_bytes`, `extension_bytes` of them extensions, before `data_bytes` of data.
  void add(std::uint64_t line_bytes, std::uint64_t extension_bytes, std::uint64_t data_bytes) noexcept {
    overhead_bytes_ += line_bytes;
    extension_bytes_ += extension_bytes;
    data_bytes_ += data_bytes;
  }
  [[nodiscard]] bool is_over_extensions(std::uint64_t limit) const noexcept { return extension_bytes_ > limit; }
  [[nodiscard]] bool is_over_overhead(std::uint64_t limit) const noexcept {
    return overhead_bytes_ > limit && overhead_bytes_ - limit > data_bytes_ * 8;
  }

 private:
  std::uint64_t overhead_bytes_ = 0;
  std::uint64_t extension_bytes_ = 0;
  std::uint64_t data_bytes_ = 0;
};

}  // namespace violet::h1
