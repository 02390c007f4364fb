#pragma once

// What tests put above a wire: a service whose handler is a function, and the few ways to answer that a wire can tell
// apart (at once, after the body, from a source, later).

#include "violet/core/exchange.h"
#include "violet/core/service.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace violet::test {

class ScriptService final : public Service {
 public:
  void serve(Exchange& exchange) override {
    ++call_count;
    if (handler) handler(exchange);
  }

  // Keeps the exchange for later: held.back()->reply(…).
  void hold(Exchange& exchange) { held.push_back(exchange.hold()); }

  std::function<void(Exchange&)> handler;
  std::vector<Ref<Exchange>> held;
  std::uint64_t call_count = 0;
};

// Collects the body and answers with it. Lives in the exchange's arena, so it allocates nothing.
class Echo final : public BodyWaiter {
 public:
  static void serve(Exchange& exchange) { exchange.collect(*exchange.arena().make<Echo>()); }
  void on_body(Exchange& exchange) override { exchange.reply(Slice::borrowed(exchange.body())); }
};

// Collects the body, then calls a function.
class WithBody final : public BodyWaiter {
 public:
  explicit WithBody(std::function<void(Exchange&)> then) : then_(std::move(then)) {}
  void on_body(Exchange& exchange) override { then_(exchange); }

 private:
  std::function<void(Exchange&)> then_;
};

// Takes the body piece by piece; gives credit by hand unless told otherwise.
class Sink final : public BodySink {
 public:
  void on_body_data(Exchange& exchange, Slice data) override;
  void on_body_end(Exchange& exchange) override;
  void on_body_error(Exchange& exchange, Error why) noexcept override;

  std::string text;
  std::size_t owed = 0;
  std::size_t piece_count = 0;
  int end_count = 0;
  int error_count = 0;
  Error error;
  bool gives_credit = true;
  std::function<void(Exchange&, std::string_view)> on_piece;
  std::function<void(Exchange&)> on_end;
};

// A source that is fed by hand. Counts what is asked of it.
class PushSource final : public Source {
 public:
  // `watch` outlives the source and sees its end.
  struct Watch {
    PushSource* source = nullptr;
    Stream* stream = nullptr;
    std::size_t pull_count = 0;
    std::size_t max_asked = 0;
    int attach_count = 0;
    int detach_count = 0;
    int death_count = 0;
    bool was_asked_while_waiting = false;
  };
  explicit PushSource(Watch& watch) : watch_(watch) { watch.source = this; }
  ~PushSource() override;

  Pull pull(Chain& out, std::size_t max) override;
  const http::Fields* trailers() override { return trailer_fields; }
  void attach(Stream* stream) noexcept override;

  void push(std::string_view text) { queue_.append(Slice::of(std::string(text))); }
  void end() { end_ = Pull::End; }
  void fail() { end_ = Pull::Failed; }
  void wake() {
    is_waiting_ = false;
    if (watch_.stream != nullptr) watch_.stream->wake();
  }
  const http::Fields* trailer_fields = nullptr;

 private:
  Watch& watch_;
  Chain queue_;
  Pull end_ = Pull::Wait;
  bool is_waiting_ = false;
};

// A source that gives `size` bytes of pattern() in pieces of `piece`, then ends as `end` says.
class PatternSource final : public Source {
 public:
  PatternSource(std::uint64_t size, std::size_t piece, Pull end = Pull::End) : left_(size), piece_(piece), end_(end) {}
  Pull pull(Chain& out, std::size_t max) override;
  static std::size_t pulled_bytes;  // by all of them

 private:
  std::uint64_t left_;
  std::uint64_t at_ = 0;
  std::size_t piece_;
  Pull end_;
};

// Bytes that differ wherever a mistake could hide: period 251.
std::string pattern(std::size_t size, std::size_t from = 0);

// Counts the calls of on_cancel.
class Hook final : public CancelHook {
 public:
  void on_cancel(Error why) noexcept override {
    ++count;
    last = why;
    if (then) then();
  }
  int count = 0;
  Error last;
  std::function<void()> then;
};

}  // namespace violet::test
