// Counts what the process takes from the heap.

#include "tests/web/fake_wire.h"

#include <atomic>
#include <cstdlib>
#include <new>

// ThreadSanitizer's runtime brings operators of its own, which cannot be replaced in a static link.
#if defined(__SANITIZE_THREAD__)
#define VIOLET_COUNTS_NOTHING 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VIOLET_COUNTS_NOTHING 1
#endif
#endif

namespace {

std::atomic<std::size_t> count{0};

[[maybe_unused]] void* counted(std::size_t size) {
  count.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::malloc(size != 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

namespace violet::web {

std::size_t allocation_count() noexcept { return count.load(std::memory_order_relaxed); }
bool counts_allocations() noexcept {
#ifdef VIOLET_COUNTS_NOTHING
  return false;
#else
  return true;
#endif
}

}  // namespace violet::web

#ifndef VIOLET_COUNTS_NOTHING
void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
#endif
