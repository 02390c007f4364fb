#pragma once

// HeapPeak: how much a test's heap has grown at most, with and without AddressSanitizer. What freed memory waits in
// quarantine for reuse is not counted.
//
//   HeapPeak heap;
//   for (…) { …; heap.look(); }
//   EXPECT_LT(heap.grown_bytes(), 1u << 20);

#include <algorithm>
#include <cstddef>
#include <malloc.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VIOLET_HEAP_OF_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define VIOLET_HEAP_OF_ASAN 1
#endif

#ifdef VIOLET_HEAP_OF_ASAN
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();  // NOLINT: its name
#endif

namespace violet::test {

inline std::size_t heap_bytes() noexcept {
#ifdef VIOLET_HEAP_OF_ASAN
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

class HeapPeak {
 public:
  void look() noexcept { most_ = std::max(most_, heap_bytes()); }
  [[nodiscard]] std::size_t grown_bytes() const noexcept { return most_ > first_ ? most_ - first_ : 0; }

 private:
  std::size_t first_ = heap_bytes();
  std::size_t most_ = first_;
};

}  // namespace violet::test
