#include "violet/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace violet {

void check_failed(const char* file, int line, const char* expression) noexcept {
  std::fprintf(stderr, "%s:%d: violet: check failed: %s\n", file, line, expression);
  std::abort();
}

}  // namespace violet
