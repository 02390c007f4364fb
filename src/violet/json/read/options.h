#pragma once

// ReadOptions: what json/reader.h takes for JSON of a type, and what not.

#include <cstdint>

namespace violet::json {

enum class UnknownKeys : std::uint8_t { Ignore, Refuse };
enum class DuplicateKeys : std::uint8_t { Refuse, First, Last };

struct ReadOptions {
  UnknownKeys unknown = UnknownKeys::Ignore;
  DuplicateKeys duplicates = DuplicateKeys::Refuse;
  std::uint16_t depth_max = 128;  // at most kDepthCeiling, whatever it says

  static constexpr std::uint16_t kDepthCeiling = 1024;  // what any thread's stack can take
};

}  // namespace violet::json
