#include "violet/features/files/serve/wait.h"

#include "violet/base/log.h"
#include "violet/features/files/serve/answer.h"
#include "violet/features/files/serve/front.h"

namespace violet::files {
namespace {

constexpr int kRoundsMax = 3;  // after which a request takes what it gets, so that it ends however often a file changes

}  // namespace

// On a worker: confirms what is known, or loads.
class LoadJob final : public ReadJob {
 public:
  LoadJob(Front& front, Front::Load& load, std::uint32_t second, std::size_t names_max)
      : ReadJob(front.anchor(), front.mount()),
        path_(load.path),
        known_(load.known),
        second_(second),
        names_max_(names_max) {}

 private:
  void read() override {
    is_confirmed_ = known_ && mount().options.revalidate == Revalidate::OnWorker && mount().confirms(*known_);
    if (is_confirmed_) return;
    entry_ = mount().load({.path = path_, .second = second_, .holder = anchor(), .names_max = names_max_});
    if (known_) mount().forget_replaced(*known_, *entry_);
  }
  void deliver(Front& front, bool has_read) override {
    const auto at = front.loads_.find(path_);
    if (at == front.loads_.end()) return;
    if (!has_read) {
      entry_ = Ref<Entry>::adopt(new Entry);
      entry_->kind = Entry::Kind::Failed;
      entry_->key = path_;
      entry_->is_kept = false;
    }
    front.on_loaded(*at->second, is_confirmed_ ? std::move(known_) : std::move(entry_), is_confirmed_);
  }

  const std::string path_;
  Ref<Entry> known_;
  Ref<Entry> entry_;
  std::uint32_t second_;
  std::size_t names_max_;
  bool is_confirmed_ = false;
};

Front::~Front() {
  anchor_->detach();
  for (auto& [path, load] : loads_) {
    for (auto* list : {&load->waiting, &load->late}) {
      while (Waiter* waiter = list->front()) static_cast<void>(waiter->end());
    }
  }
  order_.clear();
}

void Front::wait(const Request& request, Entry* known) {
  if (waiting_count_ >= site_.limits.file_waits_max) {
    mount_.counts.refused.fetch_add(1, std::memory_order_relaxed);
    const http::Field retry{
        .name = http::name(http::FieldId::RetryAfter), .value = "1", .id = http::FieldId::RetryAfter};
    request.exchange.refuse(Error(ErrorKind::TooLarge, static_cast<std::int32_t>(LimitId::file_waits_max), 503), {},
                            retry);
    return;
  }
  // The request's texts move when it is held, so the path is copied first.
  auto load = std::make_unique<Load>();
  load->path = request.path;
  auto* waiter = request.exchange.arena().make<Waiter>(*this, request);
  const auto at = loads_.find(load->path);
  if (at != loads_.end()) {
    (at->second->has_begun ? at->second->late : at->second->waiting).push_back(*waiter);
    return;
  }
  load->waiting.push_back(*waiter);
  if (known != nullptr) load->known = Ref<Entry>(known);
  const std::string_view key = load->path;
  begin(*loads_.emplace(key, std::move(load)).first->second);
}

// Once handed to a worker it may begin at any time.
void Front::begin(Load& load) {
  load.has_begun = true;
  const auto second = static_cast<std::uint32_t>(site_.loop.wall_seconds());
  const auto names_max = static_cast<std::size_t>(site_.limits.listing_names_max);
  gate_.submit(std::make_unique<LoadJob>(*this, load, second, names_max));
}

void Front::on_loaded(Load& load, Ref<Entry> entry, bool is_confirmed) {
  const std::unique_ptr<Load> ended = std::move(loads_.extract(load.path).mapped());
  if (!is_confirmed) {
    for (Variant& variant : entry->variants) {
      if (variant.content) variant.holding = Holding::make(variant.content);
    }
    keep(*entry);
  }
  while (Waiter* waiter = ended->waiting.front()) {
    const Purpose purpose = waiter->purpose();
    const Ref<Exchange> exchange = waiter->end();
    exchange->guard([&] { answer({.exchange = *exchange, .path = ended->path, .purpose = purpose}, *entry); });
  }
  while (Waiter* waiter = ended->late.front()) {
    const Purpose purpose = waiter->purpose();
    const int rounds = waiter->rounds() + 1;
    const Ref<Exchange> exchange = waiter->end();
    const Request request{.exchange = *exchange, .path = ended->path, .purpose = purpose, .rounds = rounds};
    exchange->guard([&] {
      if (rounds < kRoundsMax) {
        serve(request);
      } else {
        answer(request, *entry);
      }
    });
  }
}

}  // namespace violet::files
