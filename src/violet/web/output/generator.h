#pragma once

// Generator<T>: a body that a coroutine yields piece by piece.
//
//   app.get("/count", []() -> Generator<std::string> {
//     for (int i = 0; i < 10; ++i) {
//       co_yield std::to_string(i) + "\n";
//       co_await sleep_ms(100);
//     }
//   });
//
// T is std::string, std::string_view, const char* or Slice. The coroutine runs on the exchange's loop, with its frame
// in the exchange's arena; it goes on only when the wire has room. When the client leaves, awaitables inside answer
// with an error and the next co_yield does not return: the frame is destroyed. An exception cuts the answer off.

#include "violet/event/task.h"
#include "violet/web/output/respond.h"

#include <coroutine>
#include <string>
#include <string_view>
#include <utility>

namespace violet {

namespace web {

class GeneratorSource;

struct GeneratorPromise : TaskPromise<void> {
  GeneratorSource* source = nullptr;
};
// A generator is started as the Task<void> that its promise also is.
static_assert(alignof(GeneratorPromise) == alignof(TaskPromise<void>));

class Yield final : public Waiter {
 public:
  Yield(GeneratorPromise& promise, Slice piece) noexcept : promise_(promise), piece_(std::move(piece)) {}
  ~Yield() override;
  bool await_ready() const noexcept { return piece_.is_empty(); }
  bool await_suspend(std::coroutine_handle<> handle) noexcept;
  void await_resume() const noexcept {}

 private:
  friend class GeneratorSource;
  void on_stop(Error why) noexcept override;
  GeneratorPromise& promise_;
  Slice piece_;
};

// Literals that stand before the first piece and behind the last one.
struct Ends {
  std::string_view before;
  std::string_view behind;
};
Body generator_body(Exchange& exchange, Task<void>&& task, GeneratorPromise& promise, Ends ends = {});

}  // namespace web

template <class T>
class Generator {
  static_assert(std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view> ||
                    std::is_same_v<T, const char*> || std::is_same_v<T, Slice>,
                "violet: a Generator yields std::string, std::string_view, const char* or Slice");

 public:
  struct promise_type : web::GeneratorPromise {
    Generator get_return_object() noexcept { return Generator(*this); }
    web::Yield yield_value(T piece) {
      if constexpr (std::is_same_v<T, Slice>) {
        return {*this, std::move(piece).owned()};
      } else {
        return {*this, Slice::of(std::string(std::move(piece)))};
      }
    }
  };
  static_assert(alignof(promise_type) == alignof(TaskPromise<void>));

  [[nodiscard]] Body to_body(Exchange& exchange) && {
    return web::generator_body(exchange, std::move(task_), *promise_);
  }

 private:
  explicit Generator(promise_type& promise) noexcept
      : task_(static_cast<TaskPromise<void>&>(promise).get_return_object()), promise_(&promise) {}

  Task<void> task_;
  web::GeneratorPromise* promise_;
};

template <class T>
struct Respond<Generator<T>> {
  static constexpr auto replies =
      web::replies({.status = 200, .media = std::is_same_v<T, Slice> ? web::kOctets : web::kPlainText});
  static Body body(Exchange& exchange, Generator<T>&& generator) {
    web::set_content_type(exchange, std::is_same_v<T, Slice> ? web::kOctets : web::kPlainText);
    return std::move(generator).to_body(exchange);
  }
};

}  // namespace violet
