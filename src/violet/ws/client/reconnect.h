#pragma once

// Reconnect: how long to wait before the next attempt. Delays double (or whatever the factor is) up to a bound, and
// each is shortened by a random part, so that the clients of a server that comes back do not all come at once.

#include <cstdint>
#include <optional>
#include <random>

namespace violet::ws {

struct ReconnectOptions {
  std::uint64_t first_ms = 500;
  double factor = 2;
  std::uint64_t most_ms = 30'000;
  double jitter = 0.5;        // up to this part of a delay is left out
  unsigned attempts_max = 0;  // failures in a row until it gives up; 0: never
};

class Reconnect {
 public:
  explicit Reconnect(const ReconnectOptions& options = {}, std::uint64_t seed = std::random_device()())
      : options_(options), random_(seed) {}

  // An attempt has failed: the delay until the next; nullopt when there is to be none.
  std::optional<std::uint64_t> next_ms() {
    ++failure_count_;
    if (is_stopped_ || (options_.attempts_max != 0 && failure_count_ >= options_.attempts_max)) return std::nullopt;
    const double most = static_cast<double>(options_.most_ms);
    delay_ms_ = failure_count_ == 1 ? static_cast<double>(options_.first_ms) : delay_ms_ * options_.factor;
    if (delay_ms_ > most) delay_ms_ = most;
    std::uniform_real_distribution<double> part(1 - options_.jitter, 1);
    return static_cast<std::uint64_t>(delay_ms_ * part(random_));
  }
  // An attempt went well: the next failure is the first again.
  void succeeded() noexcept { failure_count_ = 0; }
  void stop() noexcept { is_stopped_ = true; }
  [[nodiscard]] bool is_stopped() const noexcept { return is_stopped_; }

 private:
  ReconnectOptions options_;
  std::minstd_rand random_;
  double delay_ms_ = 0;
  unsigned failure_count_ = 0;
  bool is_stopped_ = false;
};

}  // namespace violet::ws
