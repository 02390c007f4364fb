#pragma once

// Assertions in three tiers.
//
//   VIOLET_ASSERT(x)  an invariant of ours. Checked in debug, sanitizer and fuzz builds, free elsewhere.
//   VIOLET_CHECK(x)   checked always: going on would corrupt memory or mix two users' data.
//   Result / Error    everything that a peer or the environment can cause; see error.h.
//
// Nothing that a peer sends may reach either macro.

namespace violet {

// Prints `file:line: violet: expression` to stderr and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* expression) noexcept;

}  // namespace violet

#define VIOLET_CHECK(expression)                                \
  (__builtin_expect(static_cast<bool>(expression), 1) ? void(0) \
                                                      : ::violet::check_failed(__FILE__, __LINE__, #expression))

#ifdef VIOLET_ASSERTIONS
#define VIOLET_ASSERT(expression) VIOLET_CHECK(expression)
#else
#define VIOLET_ASSERT(expression) static_cast<void>(sizeof(static_cast<bool>(expression)))
#endif
