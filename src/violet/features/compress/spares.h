#pragma once

// Spares: what a loop keeps for compression from one body to the next: encoders that are not in use, a buffer for
// bodies in pieces, blocks for what is written. One for each loop (Loop::local).

#include "violet/features/compress/codec/encoder.h"
#include "violet/memory/block.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace violet {
class Loop;
}

namespace violet::encoding {

// One coding at one level.
struct Kind {
  http::Coding coding = http::Coding::Gzip;
  int level = 0;
  friend bool operator==(const Kind&, const Kind&) noexcept = default;
};

class Spares {
 public:
  explicit Spares(Loop&) {}

  [[nodiscard]] std::unique_ptr<Encoder> take(const Kind& kind);
  // nullptr is ignored.
  void give(const Kind& kind, std::unique_ptr<Encoder> encoder);

  // How many encoders were made because none was spare.
  [[nodiscard]] std::size_t made_count() const noexcept { return made_count_; }

  BlockPool blocks;
  std::string gathered;  // the bytes of a body in pieces, for the time of a call

 private:
  struct Spare {
    Kind kind;
    std::unique_ptr<Encoder> encoder;
  };
  // Of one kind: bodies that are encoded at once need one, streams one each.
  static constexpr std::size_t kKeptMax = 4;

  std::vector<Spare> spares_;
  std::size_t made_count_ = 0;
};

}  // namespace violet::encoding
