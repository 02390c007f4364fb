#pragma once

// Front's requests that wait for a worker, and what they wait for. Private to Front.

#include "violet/features/files/serve/front.h"

#include <string>

namespace violet::files {

// A request; lives in its exchange's arena.
class Front::Waiter final : public CancelHook, public ListNode<Waiter> {
 public:
  Waiter(Front& front, const Request& request)
      : front_(front), exchange_(request.exchange.hold()), purpose_(request.purpose), rounds_(request.rounds) {
    exchange_->add_cancel_hook(*this);
    ++front_.waiting_count_;
  }
  ~Waiter() {
    ListNode<CancelHook>::unlink();
    ListNode<Waiter>::unlink();
    --front_.waiting_count_;
  }

  // What it asked for, with the texts where they are now; the waiter is over. The count keeps it until it is answered.
  Ref<Exchange> end() {
    Ref<Exchange> exchange = std::move(exchange_);
    this->~Waiter();
    return exchange;
  }
  [[nodiscard]] Purpose purpose() const noexcept { return purpose_; }
  [[nodiscard]] int rounds() const noexcept { return rounds_; }

 private:
  void on_cancel(Error) noexcept override { static_cast<void>(end()); }

  Front& front_;
  Ref<Exchange> exchange_;
  Purpose purpose_;
  int rounds_;
};

// One path on its way from the disk, with those who want it.
struct Front::Load {
  std::string path;
  List<Waiter, Waiter> waiting;  // came before the worker began: what it brings is new enough
  List<Waiter, Waiter> late;
  Ref<Entry> known;  // to be confirmed
  bool has_begun = false;
};

}  // namespace violet::files
