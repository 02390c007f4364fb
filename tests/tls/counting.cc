#include "tests/tls/counting.h"

#define VIOLET_DEFINE_COUNTING_NEW
#include "tests/support/counting_new.h"

#include <openssl/crypto.h>

#include <atomic>
#include <malloc.h>

namespace violet::test {
namespace {

std::atomic<std::size_t> openssl_allocations{0};
std::atomic<std::size_t> copied{0};

std::atomic<std::size_t> openssl_held{0};
constexpr std::size_t kHeadBytes = sizeof(std::size_t);  // that glibc's malloc adds

std::size_t size_of(void* memory) noexcept { return memory != nullptr ? malloc_usable_size(memory) + kHeadBytes : 0; }

void* take(void* memory) noexcept {
  openssl_allocations.fetch_add(1, std::memory_order_relaxed);
  openssl_held.fetch_add(size_of(memory), std::memory_order_relaxed);
  return memory;
}

// Before anything else of this program uses OpenSSL, which takes such functions only then.
[[gnu::constructor]] void count_openssl() {
  CRYPTO_set_mem_functions([](std::size_t size, const char*, int) { return take(std::malloc(size)); },
                           [](void* memory, std::size_t size, const char*, int) {
                             openssl_held.fetch_sub(size_of(memory), std::memory_order_relaxed);
                             return take(std::realloc(memory, size));
                           },
                           [](void* memory, const char*, int) {
                             openssl_held.fetch_sub(size_of(memory), std::memory_order_relaxed);
                             std::free(memory);
                           });
}

}  // namespace

std::size_t openssl_allocation_count() noexcept { return openssl_allocations.load(std::memory_order_relaxed); }
std::size_t openssl_bytes() noexcept { return openssl_held.load(std::memory_order_relaxed); }
std::size_t copied_bytes() noexcept { return copied.load(std::memory_order_relaxed); }

}  // namespace violet::test

#if !defined(VIOLET_COUNTS_NOTHING) && defined(__x86_64__)

extern "C" {
extern const char __executable_start;  // NOLINT: names of the linker
extern const char etext;

// Shared libraries find these, too; who calls is known by where it stands.
[[gnu::noinline]] void* memcpy(void* to, const void* from, std::size_t size) noexcept {
  const auto* caller = static_cast<const char*>(__builtin_return_address(0));
  if (size >= violet::test::kCopyLeast && caller >= &__executable_start && caller < &etext) {
    violet::test::copied.fetch_add(size, std::memory_order_relaxed);
  }
  void* const result = to;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
  return result;
}

[[gnu::noinline]] void* memmove(void* to, const void* from, std::size_t size) noexcept {
  const auto* caller = static_cast<const char*>(__builtin_return_address(0));
  if (size >= violet::test::kCopyLeast && caller >= &__executable_start && caller < &etext) {
    violet::test::copied.fetch_add(size, std::memory_order_relaxed);
  }
  void* const result = to;
  if (static_cast<const char*>(from) >= static_cast<char*>(to) ||
      static_cast<const char*>(from) + size <= static_cast<char*>(to)) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
  } else {
    to = static_cast<char*>(to) + size - 1;
    from = static_cast<const char*>(from) + size - 1;
    asm volatile("std\n rep movsb\n cld" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
  }
  return result;
}
}

#endif
