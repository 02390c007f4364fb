#pragma once

// Calls that this binary makes of the file system and of mutexes, counted by functions that stand in for the C
// library's.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VIOLET_COUNTS_NO_CALLS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VIOLET_COUNTS_NO_CALLS 1
#endif
#endif

namespace violet::files {

#ifdef VIOLET_COUNTS_NO_CALLS
inline constexpr bool kCountsCalls = false;
#else
inline constexpr bool kCountsCalls = true;
#endif

struct CallCounts {
  std::size_t looks = 0;   // statx
  std::size_t others = 0;  // everything else that opens, reads, closes or names files
  std::size_t locks = 0;   // of mutexes

  CallCounts& operator+=(const CallCounts& more) noexcept {
    looks += more.looks;
    others += more.others;
    locks += more.locks;
    return *this;
  }
  friend CallCounts operator-(const CallCounts& a, const CallCounts& b) noexcept {
    return {a.looks - b.looks, a.others - b.others, a.locks - b.locks};
  }
};

// By this thread, so far.
CallCounts counted_calls() noexcept;

}  // namespace violet::files
