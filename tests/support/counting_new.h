#pragma once

// Counted allocations: a test binary that wants to count them has one .cc which includes this header after defining
// VIOLET_DEFINE_COUNTING_NEW; it replaces every operator new of the binary.
//
//   const std::size_t before = test::allocation_count();
//   …
//   EXPECT_EQ(test::allocation_count(), before);
//
// Sanitizers bring their own operators, and pools keep nothing under them: kCountsAllocations is false there, and such
// a test skips.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VIOLET_COUNTS_NOTHING 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VIOLET_COUNTS_NOTHING 1
#endif
#endif

namespace violet::test {

#ifdef VIOLET_COUNTS_NOTHING
inline constexpr bool kCountsAllocations = false;
#else
inline constexpr bool kCountsAllocations = true;
#endif

// Calls of any operator new in this process so far, and bytes asked of them.
std::size_t allocation_count() noexcept;
std::size_t allocated_bytes() noexcept;

}  // namespace violet::test

#ifdef VIOLET_DEFINE_COUNTING_NEW

#include <atomic>
#include <cstdlib>
#include <new>

namespace violet::test {
namespace {

std::atomic<std::size_t> count{0};
std::atomic<std::size_t> bytes{0};

[[maybe_unused]] void* counted(std::size_t size, std::size_t alignment) {
  count.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(size, std::memory_order_relaxed);
  if (size == 0) size = 1;
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(size)
                     : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

std::size_t allocation_count() noexcept { return count.load(std::memory_order_relaxed); }
std::size_t allocated_bytes() noexcept { return bytes.load(std::memory_order_relaxed); }

}  // namespace violet::test

#ifndef VIOLET_COUNTS_NOTHING
void* operator new(std::size_t size) { return violet::test::counted(size, 1); }
void* operator new[](std::size_t size) { return violet::test::counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return violet::test::counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return violet::test::counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

#endif  // VIOLET_DEFINE_COUNTING_NEW
