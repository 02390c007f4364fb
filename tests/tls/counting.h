#pragma once

// What tls_test counts beside operator new: OpenSSL's allocations, which go through functions of ours from the first
// one on, and bytes copied by memcpy() and memmove() on behalf of violet (not of OpenSSL or libc).

#include <cstddef>

namespace violet::test {

// Calls so far.
std::size_t openssl_allocation_count() noexcept;
// Heap that OpenSSL holds now, with what malloc() adds.
std::size_t openssl_bytes() noexcept;
// Bytes copied so far in pieces of at least kCopyLeast.
std::size_t copied_bytes() noexcept;
inline constexpr std::size_t kCopyLeast = 64;

}  // namespace violet::test
