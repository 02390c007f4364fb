#pragma once

// Deflater and Inflater: the payload of compressed messages (RFC 7692 §7.2), over zlib's raw streams. Without context
// takeover a loop's sockets share a few of them (DeflatePool); with it a socket has its own, for as long as it lives.

#include "violet/memory/ref.h"
#include "violet/ws/deflate/params.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

struct z_stream_s;

namespace violet::ws {

struct Assembly;
struct Shared;

class Deflater {
 public:
  Deflater(int window_bits, int level);
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater();

  // Appends the compressed form of a piece of a message; of the last one without the four bytes that every message ends
  // with (§7.2.1).
  void add(std::string_view piece, bool is_last, Shared& shared, Assembly& out);
  // The window is forgotten.
  void reset() noexcept;

  [[nodiscard]] bool is_like(int window_bits, int level) const noexcept {
    return window_bits_ == window_bits && level_ == level;
  }

 private:
  std::unique_ptr<z_stream_s> stream_;
  int window_bits_;
  int level_;
};

class Inflater {
 public:
  enum class Verdict : std::uint8_t { Good, TooLarge, Bad };
  struct Caps {
    std::uint64_t bytes_max;
    std::uint64_t ratio_max;  // inflated bytes for each one that came, beyond the first 64 KiB; 0 for any
  };

  explicit Inflater(int window_bits);
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater();

  // Appends what a piece inflates to, never more than the caps allow. out.wire_bytes counts what came.
  Verdict add(std::string_view piece, Caps caps, Shared& shared, Assembly& out);
  // The message's last piece was added. Bad: its end is missing.
  Verdict finish(Caps caps, Shared& shared, Assembly& out);
  void reset() noexcept;

  [[nodiscard]] bool is_like(int window_bits) const noexcept { return window_bits_ == window_bits; }

 private:
  Verdict run(std::string_view piece, Caps caps, Shared& shared, Assembly& out);
  bool begin_again();

  std::unique_ptr<z_stream_s> stream_;
  int window_bits_;
};

// Those that are free right now, each as new.
class DeflatePool {
 public:
  [[nodiscard]] std::unique_ptr<Deflater> take_deflater(int window_bits, int level);
  void give(std::unique_ptr<Deflater> deflater);
  [[nodiscard]] std::unique_ptr<Inflater> take_inflater(int window_bits);
  void give(std::unique_ptr<Inflater> inflater);

 private:
  static constexpr std::size_t kKeptMax = 4;
  std::vector<std::unique_ptr<Deflater>> deflaters_;
  std::vector<std::unique_ptr<Inflater>> inflaters_;
};

// The windows of one socket.
struct Contexts {
  std::unique_ptr<Deflater> deflater;
  std::unique_ptr<Inflater> inflater;
};

}  // namespace violet::ws
