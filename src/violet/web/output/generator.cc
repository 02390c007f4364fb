#include "violet/web/output/generator.h"

#include "violet/base/log.h"
#include "violet/core/site.h"

#include <string>

namespace violet::web {

// Between the coroutine and the wire. Lives in the exchange's arena, owned by the body that holds it.
class GeneratorSource final : public Source {
 public:
  GeneratorSource(Exchange& exchange, Task<void>&& task, const Ends& ends) noexcept
      : exchange_(&exchange), task_(std::move(task)), piece_(Slice::literal(ends.before)), behind_(ends.behind) {}

  Pull pull(Chain& out, std::size_t max) override {
    const std::size_t before = out.size();
    is_pulling_ = true;
    Pull verdict = Pull::Wait;
    for (;;) {
      out.append(std::move(piece_));
      if (has_ended_) {
        verdict = has_failed_ ? Pull::Failed : Pull::End;
        if (!has_failed_ && !behind_.empty()) out.append(Slice::literal(std::exchange(behind_, {})));
        break;
      }
      if (out.size() - before >= max) {
        verdict = Pull::More;
        break;
      }
      if (task_) {
        start();
      } else if (yield_ != nullptr) {
        std::exchange(yield_, nullptr)->resume();
      } else {
        break;  // it waits for something else
      }
    }
    is_pulling_ = false;
    if (is_disposed_) {
      dispose();
      return Pull::Failed;
    }
    return verdict;
  }

  void attach(Stream* stream) noexcept override { stream_ = stream; }

  void dispose() noexcept override {
    stream_ = nullptr;
    is_disposed_ = true;
    // Not under its own feet: pull() or the coroutine's end comes back here.
    if (is_pulling_) return;
    if (is_started_ && !has_ended_) {
      if (TaskContext::current() == &exchange_->task()) {
        exchange_->task().stop(Error(ErrorKind::Cancelled));
        return;
      }
      exchange_->task().reset();
    }
    const Ref<Exchange> exchange = std::move(exchange_);
    this->~GeneratorSource();
  }

 private:
  friend class Yield;

  void start() noexcept {
    is_started_ = true;
    exchange_->task().start(std::move(task_), [this](Outcome<void>&& outcome) noexcept { on_end(outcome); });
  }

  void on_end(Outcome<void>& outcome) noexcept {
    has_ended_ = true;
    has_failed_ = !outcome.has_value();
    if (outcome.exception() != nullptr) report(outcome.exception());
    if (is_pulling_) return;
    if (is_disposed_) {
      dispose();
    } else {
      exchange_->loop().defer(ready_);
    }
  }

  void report(const std::exception_ptr& exception) noexcept {
    ++exchange_->site().counters.handler_errors;
    log(LogLevel::Error, "a generator failed, its answer is cut off: " + message(exception));
  }

  void on_piece(Yield& yield) noexcept {
    piece_ = std::move(yield.piece_);
    yield_ = &yield;
    // The wire may do anything when it is woken, so not from inside the coroutine.
    if (!is_pulling_) exchange_->loop().defer(ready_);
  }

  void wake() noexcept {
    if (stream_ != nullptr) stream_->wake();
  }

  Ref<Exchange> exchange_;
  Task<void> task_;  // until it is started
  Stream* stream_ = nullptr;
  Yield* yield_ = nullptr;
  Slice piece_;
  std::string_view behind_;
  bool is_started_ = false;
  bool has_ended_ = false;
  bool has_failed_ = false;
  bool is_pulling_ = false;
  bool is_disposed_ = false;
  DeferredTo<&GeneratorSource::wake> ready_{*this};
};

Yield::~Yield() {
  if (promise_.source != nullptr && promise_.source->yield_ == this) promise_.source->yield_ = nullptr;
}

bool Yield::await_suspend(std::coroutine_handle<> handle) noexcept {
  if (suspend(handle)) {
    promise_.source->on_piece(*this);
  } else if (suspend_anyway(handle)) {
    // Nobody will read on: end here.
    abandon();
  }
  return true;
}

void Yield::on_stop(Error) noexcept {
  promise_.source->yield_ = nullptr;
  abandon();
}

Body generator_body(Exchange& exchange, Task<void>&& task, GeneratorPromise& promise, Ends ends) {
  auto* source = exchange.arena().make<GeneratorSource>(exchange, std::move(task), ends);
  promise.source = source;
  return Body(SourcePtr(source));
}

}  // namespace violet::web
