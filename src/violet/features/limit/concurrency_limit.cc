#include "violet/features/limit/concurrency_limit.h"

#include "violet/core/limits.h"
#include "violet/features/limit/gate/gate.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace violet {
namespace {

using limit::Gate;

// A request that is inside, until its answer has left or it ends otherwise. Several limits have a seat each.
class Seat final : public CancelHook, private Timer {
 public:
  Seat(Exchange& exchange, Gate& gate, Seat* next) noexcept
      : Timer(&Seat::on_body_late), exchange_(exchange), gate_(gate), next_(next), begin_us_(Loop::clock_us()) {
    exchange.add_cancel_hook(*this);
  }
  [[nodiscard]] Seat* next() const noexcept { return next_; }
  [[nodiscard]] bool is_in(const Gate& gate) const noexcept { return &gate_ == &gate; }
  // The body has so long to come, where it is gathered before the handler runs.
  void limit_body(std::uint64_t ms) noexcept {
    body_ms_ = ms;
    exchange_.loop().timers().arm_after(*this, ms);
  }
  // The answer is made; a stream goes on being inside.
  void answer() noexcept {
    cancel();
    took_us_ = std::max<std::uint64_t>(Loop::clock_us() - begin_us_, 1);
  }
  void leave() noexcept {
    cancel();
    unlink();
    if (!std::exchange(has_left_, true)) gate_.leave(took_us_);
  }
  void on_cancel(Error) noexcept override { leave(); }

 private:
  using CancelHook::unlink;

  static void on_body_late(Timer& timer) noexcept {
    auto& seat = static_cast<Seat&>(timer);
    Exchange& exchange = seat.exchange_;
    // The router leaves its endpoint there for as long as it gathers the body.
    if (exchange.context == nullptr || exchange.is_answered()) return;
    exchange.guard([&] {
      exchange.refuse(Error(ErrorKind::Timeout, 0, 408),
                      "concurrency limit: the body has to come within " + std::to_string(seat.body_ms_) + " ms");
    });
  }

  Exchange& exchange_;
  Gate& gate_;
  Seat* next_;
  std::uint64_t begin_us_;
  std::uint64_t took_us_ = 0;  // nobody has answered yet
  std::uint64_t body_ms_ = 0;
  bool has_left_ = false;
};

struct Seats {
  Seat* first = nullptr;
};

Seat* find_seat(const Exchange& exchange, const Gate& gate) noexcept {
  const auto* const seats = exchange.note<Seats>();
  Seat* seat = seats != nullptr ? seats->first : nullptr;
  while (seat != nullptr && !seat->is_in(gate)) seat = seat->next();
  return seat;
}

}  // namespace

struct ConcurrencyLimit::Shared {
  ConcurrencyOptions options;
  Gate gate;
  std::string detail;

  explicit Shared(const ConcurrencyOptions& given)
      : options(given),
        gate({.max = given.max, .min = given.min, .latency_us = given.latency_ms * 1'000}),
        detail("concurrency limit: " + std::to_string(given.max) + " requests at once, and no room to wait") {}

  [[nodiscard]] std::uint32_t queue_max(const Limits& limits) const noexcept {
    return options.queue_max.value_or(static_cast<std::uint32_t>(limits.concurrency_queue_max));
  }
  [[nodiscard]] std::uint64_t queue_ms(const Limits& limits) const noexcept {
    return options.queue_ms != 0 ? options.queue_ms : limits.concurrency_queue_ms;
  }
  void sit_down(Exchange& exchange) {
    auto* seats = exchange.note<Seats>();
    if (seats == nullptr) seats = &exchange.add_note<Seats>();
    seats->first = exchange.arena().make<Seat>(exchange, gate, seats->first);
    const std::uint64_t body_ms = options.body_ms != 0 ? options.body_ms : exchange.limits().handler_ms;
    if (exchange.has_body() && body_ms != 0) seats->first->limit_body(body_ms);
  }
  Verdict refuse(Exchange& exchange) const {
    char text[20];
    const std::uint64_t wait_s = std::max<std::uint64_t>((queue_ms(exchange.limits()) + 999) / 1'000, 1);
    const char* const end = std::to_chars(text, text + sizeof text, wait_s).ptr;
    exchange.refuse(
        Error(ErrorKind::Busy, 0, 503), detail,
        {.name = http::name(http::FieldId::RetryAfter), .value = {text, end}, .id = http::FieldId::RetryAfter});
    return Verdict::Answered;
  }
};

ConcurrencyLimit::ConcurrencyLimit(const ConcurrencyOptions& options) : shared_(std::make_shared<Shared>(options)) {}

void ConcurrencyLimit::bind(web::Binding& binding) const {
  const ConcurrencyOptions& options = shared_->options;
  if (options.max == 0 || options.min == 0 || options.min > options.max) {
    binding.fail("concurrency_limit: min is at least 1, and max at least min");
  }
}

Verdict ConcurrencyLimit::on_request(Exchange& exchange) const {
  if (find_seat(exchange, shared_->gate) != nullptr) return Verdict::Continue;
  if (shared_->gate.try_enter()) {
    shared_->sit_down(exchange);
    return Verdict::Continue;
  }
  if (shared_->queue_max(exchange.limits()) == 0) return shared_->refuse(exchange);
  return Verdict::Wait;
}

Task<Verdict> ConcurrencyLimit::on_wait(Exchange& exchange) const {
  const Limits& limits = exchange.limits();
  limit::Wait wait(shared_->gate, shared_->queue_max(limits), shared_->queue_ms(limits));
  const Result<void> place = co_await wait;
  if (!place) co_return shared_->refuse(exchange);
  shared_->sit_down(exchange);
  co_return Verdict::Continue;
}

void ConcurrencyLimit::on_reply(Exchange& exchange, http::Head&, Body& body) const {
  Seat* const seat = find_seat(exchange, shared_->gate);
  if (seat == nullptr) return;
  seat->answer();
  if (body.source() == nullptr) seat->leave();
}

std::string_view ConcurrencyLimit::process_note() const noexcept {
  return "concurrency_limit() counts the requests of one process: with several, each lets as many in";
}

std::uint32_t ConcurrencyLimit::running_count() const noexcept { return shared_->gate.inside_count(); }
std::uint32_t ConcurrencyLimit::waiting_count() const noexcept { return shared_->gate.queued_count(); }

}  // namespace violet
