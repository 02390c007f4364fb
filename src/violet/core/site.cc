#include "violet/core/site.h"

#include "violet/memory/pool.h"

namespace violet {

Exchange& ExchangePool::open_new(Stream& stream) {
  auto* exchange = new Exchange(site_);
  ++used_count_;
  exchange->open(stream);
  return *exchange;
}

void ExchangePool::close(Exchange& exchange) noexcept {
  exchange.reset();
  --used_count_;
  if (!kPoolsKeep || kept_count_ >= kKeptMax) {
    delete &exchange;
    return;
  }
  exchange.context = free_;
  free_ = &exchange;
  ++kept_count_;
}

ExchangePool::~ExchangePool() {
  // What a task that would not end still holds is left to the operating system: freeing it would pull memory from under
  // the task's frames.
  trim(0);
}

void ExchangePool::trim(std::size_t kept) noexcept {
  while (kept_count_ > kept) {
    Exchange* exchange = free_;
    free_ = static_cast<Exchange*>(exchange->context);
    --kept_count_;
    delete exchange;
  }
}

}  // namespace violet
