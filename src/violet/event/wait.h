#pragma once

// What a coroutine waits for: time, its turn, other tasks. docs/guide/tasks.md shows them in use.
//
//   Result<void> slept = co_await sleep(20ms);              // or sleep_ms(20)
//   co_await yield();                                       // lets everything else of the loop go first
//   auto [user, posts] = co_await when_all(load_user(id), load_posts(id));
//   First<Reply> first = co_await when_any(ask(a), ask(b));
//   Result<Reply> reply = co_await with_deadline(ask(a), 500);
//   Result<void> undone = co_await shielded(roll_back(), 2'000);
//   if (this_task().is_stopped()) co_return;
//   spawn(loop, [id]() -> Task<> { … });                    // goes on alone
//
// A stop of the waiting chain goes down into the tasks of when_all, when_any and with_deadline; the awaiting coroutine
// goes on when all of them have ended, so what they refer to in its frame stays valid. Their frames come from the arena
// of the chain. One thread: the loop's.

#include "violet/base/error.h"
#include "violet/event/chain.h"
#include "violet/event/task.h"
#include "violet/event/timer.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace violet {

class Loop;

// ---- time -----------------------------------------------------------------------------------------------------------

class [[nodiscard("co_await it")]] Sleep : public Waiter, private Timer {
 public:
  explicit Sleep(std::uint64_t delay_ms) noexcept : Timer(&Sleep::on_due), delay_ms_(delay_ms) {}
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) noexcept;
  Result<void> await_resume() const noexcept {
    if (error()) return fail(error());
    return {};
  }

 private:
  static void on_due(Timer& timer) noexcept { static_cast<Sleep&>(timer).resume(); }
  void on_stop(Error why) noexcept override {
    cancel();
    resume_with(why);
  }
  std::uint64_t delay_ms_;
};

// Waits for at least `delay_ms`. Fails with the reason when the chain is stopped.
inline Sleep sleep_ms(std::uint64_t delay_ms) noexcept { return Sleep(delay_ms); }

// The same with a std::chrono::duration, rounded up to milliseconds. (<chrono> itself is left to those who use it.)
template <class Duration>
  requires requires(const Duration& duration) {
    duration.count();
    Duration::period::num;
  }
Sleep sleep(const Duration& duration) noexcept {
  if (duration.count() <= 0) return Sleep(0);
  if constexpr (std::is_floating_point_v<typename Duration::rep>) {
    const auto exact = static_cast<double>(duration.count()) * 1000 * Duration::period::num / Duration::period::den;
    const auto whole = static_cast<std::uint64_t>(exact);
    return Sleep(static_cast<double>(whole) < exact ? whole + 1 : whole);
  } else {
    const auto scaled = static_cast<unsigned __int128>(duration.count()) * 1000 * Duration::period::num;
    return Sleep(static_cast<std::uint64_t>((scaled + (Duration::period::den - 1)) / Duration::period::den));
  }
}

// Goes on in the next turn of the loop, after what has been waiting.
inline Sleep yield() noexcept { return Sleep(0); }

// ---- the running chain ----------------------------------------------------------------------------------------------

// What a coroutine may ask about its own chain.
class TaskView {
 public:
  explicit TaskView(TaskContext& context) noexcept : context_(&context) {}

  [[nodiscard]] bool is_stopped() const noexcept { return context_->is_stopped(); }
  // Why; ErrorKind::None while it goes on.
  [[nodiscard]] Error why() const noexcept { return context_->why(); }
  // `callback` fires once, on the loop's thread, when the chain is stopped; at once if it is stopped already.
  void on_stop(StopCallback& callback) const noexcept { context_->on_stop(callback); }
  // Milliseconds until the deadline by the exact clock, 0 when it has passed; TaskContext::kNoDeadline without one.
  [[nodiscard]] std::uint64_t remaining_ms() const noexcept;
  // The memory of the chain, nullptr if it has none of its own.
  [[nodiscard]] Arena* arena() const noexcept { return context_->arena(); }

 private:
  TaskContext* context_;
};

// REQUIRES: called by a coroutine; valid until its chain ends.
inline TaskView this_task() noexcept {
  TaskContext* context = TaskContext::current();
  VIOLET_CHECK(context != nullptr);
  return TaskView(*context);
}

// ---- groups ---------------------------------------------------------------------------------------------------------

namespace detail {

class ChildGroup;

// What a task of type T gives in a group: void becomes std::monostate.
template <class T>
using GroupValue = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

// One child of a group: a chain below that of the awaiting coroutine.
class Child : public TaskContext {
 public:
  Child() noexcept = default;
  ~Child() { destroy_frames(task_); }

  template <class T>
  void set(Task<T>& task) noexcept {
    VIOLET_CHECK(task);
    task_.frame_ = std::exchange(task.frame_, nullptr);
    on_child_end_ = &Child::end<T>;
  }
  // Its value, or throws what it threw. REQUIRES: it ended and was not abandoned.
  template <class T>
  GroupValue<T> take() {
    Task<T> task(std::exchange(task_.frame_, nullptr));
    if constexpr (std::is_void_v<T>) {
      task.take();
      return {};
    } else {
      return task.take();
    }
  }
  [[nodiscard]] bool is_abandoned() const noexcept { return task_.frame_ == nullptr; }

 private:
  friend class ChildGroup;
  template <class T>
  static void end(TaskContext& context) noexcept {
    Child& child = static_cast<Child&>(context);
    if (!child.has_ended()) {
      child.on_abandoned();
    } else {
      using Handle = std::coroutine_handle<TaskPromise<T>>;
      child.on_end(Handle::from_address(child.task_.frame_).promise().outcome.has_exception());
    }
  }
  void on_end(bool threw) noexcept;
  void on_abandoned() noexcept;

  AnyTask task_;
  EndCallback on_child_end_ = nullptr;
  ChildGroup* group_ = nullptr;
};

// Runs children and resumes when all of them have ended. They stand side by side in the derived object.
class ChildGroup : public Waiter {
 public:
  bool await_suspend(std::coroutine_handle<> handle) noexcept;

 protected:
  enum class Kind : std::uint8_t {
    All,       // the first exception stops the others
    Any,       // the first end stops the others
    One,       // the group goes on although its child was abandoned
    Shielded,  // the same, and neither stop nor deadline of the chain reach the child
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  explicit ChildGroup(Kind kind, std::uint64_t limit_ms = TaskContext::kNoDeadline) noexcept
      : limit_ms_(limit_ms), kind_(kind) {}
  void set_children(Child* children, std::size_t count) noexcept {
    children_ = children;
    child_count_ = count;
  }
  // The child that decided: the first that threw (All), the first that ended (Any); kNone without one.
  [[nodiscard]] std::size_t decided_by() const noexcept { return decided_by_; }

 private:
  friend class Child;
  void on_child_end(Child& child, bool threw) noexcept;
  void stop_children(Error why) noexcept;
  void on_stop(Error why) noexcept override;

  Child* children_ = nullptr;
  std::size_t child_count_ = 0;
  std::size_t pending_count_ = 0;
  std::size_t decided_by_ = kNone;
  std::uint64_t limit_ms_;
  Kind kind_;
};

template <class... Ts>
class [[nodiscard("co_await it")]] WhenAll : public ChildGroup {
 public:
  explicit WhenAll(Task<Ts>&... tasks) noexcept : ChildGroup(Kind::All) {
    Child* child = children_;
    (child++->set(tasks), ...);
    set_children(children_, sizeof...(Ts));
  }
  bool await_ready() const noexcept { return false; }
  auto await_resume() { return values(std::index_sequence_for<Ts...>()); }

 private:
  template <std::size_t... I>
  auto values(std::index_sequence<I...>) {
    if (decided_by() != kNone) ((decided_by() == I ? void(children_[I].template take<Ts>()) : void()), ...);
    if constexpr (!(std::is_void_v<Ts> && ...))
      return std::tuple<GroupValue<Ts>...>{children_[I].template take<Ts>()...};
  }
  Child children_[sizeof...(Ts)];
};

template <class T>
class [[nodiscard("co_await it")]] WhenAllOf : public ChildGroup {
 public:
  explicit WhenAllOf(std::vector<Task<T>>& tasks)
      : ChildGroup(Kind::All), children_(new Child[tasks.size()]), count_(tasks.size()) {
    for (std::size_t i = 0; i < count_; ++i) children_[i].set(tasks[i]);
    set_children(children_.get(), count_);
  }
  bool await_ready() const noexcept { return count_ == 0; }
  auto await_resume() {
    if (decided_by() != kNone) children_[decided_by()].template take<T>();
    if constexpr (!std::is_void_v<T>) {
      std::vector<T> values;
      values.reserve(count_);
      for (std::size_t i = 0; i < count_; ++i) values.push_back(children_[i].template take<T>());
      return values;
    }
  }

 private:
  std::unique_ptr<Child[]> children_;
  std::size_t count_;
};

}  // namespace detail

// The first of several tasks: its place among them and what it gave.
template <class T>
struct First {
  std::size_t index;
  T value;
};
template <>
struct First<void> {
  std::size_t index;
};

namespace detail {

template <class T, class... Ts>
struct AnyOf {
  static constexpr bool is_same = (std::is_same_v<T, Ts> && ...);
  using Value = std::conditional_t<is_same, T, std::variant<GroupValue<T>, GroupValue<Ts>...>>;
};

template <class... Ts>
class [[nodiscard("co_await it")]] WhenAny : public ChildGroup {
 public:
  explicit WhenAny(Task<Ts>&... tasks) noexcept : ChildGroup(Kind::Any) {
    Child* child = children_;
    (child++->set(tasks), ...);
    set_children(children_, sizeof...(Ts));
  }
  bool await_ready() const noexcept { return false; }
  First<typename AnyOf<Ts...>::Value> await_resume() { return take_from<0, Ts...>(); }

 private:
  template <std::size_t I, class T, class... Rest>
  First<typename AnyOf<Ts...>::Value> take_from() {
    if constexpr (sizeof...(Rest) > 0) {
      if (decided_by() != I) return take_from<I + 1, Rest...>();
    }
    if constexpr (!AnyOf<Ts...>::is_same) {
      return {I, typename AnyOf<Ts...>::Value(std::in_place_index<I>, children_[I].template take<T>())};
    } else if constexpr (std::is_void_v<T>) {
      children_[I].template take<T>();
      return {I};
    } else {
      return {I, children_[I].template take<T>()};
    }
  }
  Child children_[sizeof...(Ts)];
};

template <class T>
class [[nodiscard("co_await it")]] WhenAnyOf : public ChildGroup {
 public:
  explicit WhenAnyOf(std::vector<Task<T>>& tasks) : ChildGroup(Kind::Any), children_(new Child[tasks.size()]) {
    VIOLET_CHECK(!tasks.empty());
    for (std::size_t i = 0; i < tasks.size(); ++i) children_[i].set(tasks[i]);
    set_children(children_.get(), tasks.size());
  }
  bool await_ready() const noexcept { return false; }
  First<T> await_resume() {
    if constexpr (std::is_void_v<T>) {
      children_[decided_by()].template take<T>();
      return {decided_by()};
    } else {
      return {decided_by(), children_[decided_by()].template take<T>()};
    }
  }

 private:
  std::unique_ptr<Child[]> children_;
};

template <class T>
struct FlatResult {
  using Type = Result<T>;
  static constexpr bool is_result = false;
};
template <class T>
struct FlatResult<Result<T>> {
  using Type = Result<T>;
  static constexpr bool is_result = true;
};

template <class T>
class [[nodiscard("co_await it")]] Limited : public ChildGroup {
 public:
  Limited(Task<T>& task, std::uint64_t limit_ms, bool is_shielded) noexcept
      : ChildGroup(is_shielded ? Kind::Shielded : Kind::One, limit_ms) {
    child_.set(task);
    set_children(&child_, 1);
  }
  bool await_ready() const noexcept { return false; }
  typename FlatResult<T>::Type await_resume() {
    if (child_.is_abandoned()) return fail(child_.why());
    if constexpr (std::is_void_v<T>) {
      child_.template take<T>();
      if (child_.is_stopped()) return fail(child_.why());
      return {};
    } else {
      T value = child_.template take<T>();
      if (!child_.is_stopped()) return value;
      if constexpr (FlatResult<T>::is_result) {
        if (!value) return value;
      }
      return fail(child_.why());
    }
  }

 private:
  Child child_;
};

}  // namespace detail

// Result<T> of a T, and Result<T> of a Result<T>.
template <class T>
using Flat = typename detail::FlatResult<T>::Type;

// Runs all at once and gives their values as a tuple, std::monostate for void; nothing if all are void. The first
// exception stops the others with Cancelled and is thrown when they have ended. A Result with an error is a value.
template <class... Ts>
  requires(sizeof...(Ts) > 0)
detail::WhenAll<Ts...> when_all(Task<Ts>... tasks) noexcept {
  return detail::WhenAll<Ts...>(tasks...);
}
// The same for any number: a vector of values, nothing for void.
template <class T>
detail::WhenAllOf<T> when_all(std::vector<Task<T>> tasks) {
  return detail::WhenAllOf<T>(tasks);
}

// Runs all at once; the first that ends stops the others with Cancelled. Gives its index and value (a variant if the
// types differ), or throws what it threw, when the others have ended.
template <class... Ts>
  requires(sizeof...(Ts) > 0)
detail::WhenAny<Ts...> when_any(Task<Ts>... tasks) noexcept {
  return detail::WhenAny<Ts...>(tasks...);
}
// REQUIRES: at least one.
template <class T>
detail::WhenAnyOf<T> when_any(std::vector<Task<T>> tasks) {
  return detail::WhenAnyOf<T>(tasks);
}

// Stops the task with Timeout after `limit_ms`; the nearer deadline counts when they are nested. Gives Flat<T>: its
// value, or why it was stopped (then a value that it gave all the same is dropped; an Error of its own is kept).
template <class T>
detail::Limited<T> with_deadline(Task<T> task, std::uint64_t limit_ms) noexcept {
  return detail::Limited<T>(task, limit_ms, false);
}

// For what must be done although the chain is stopped, such as a rollback: neither its stop nor its deadline reach the
// task, which has `limit_ms` of its own. Destroying the chain destroys it all the same.
template <class T>
detail::Limited<T> shielded(Task<T> task, std::uint64_t limit_ms) noexcept {
  return detail::Limited<T>(task, limit_ms, true);
}

// ---- background -----------------------------------------------------------------------------------------------------

namespace detail {

// A task that nobody awaits; belongs to its loop, deletes itself when it ends.
class Spawned : public ListNode<Spawned> {
 public:
  Spawned() noexcept = default;
  virtual ~Spawned() = default;
  static void start(Loop& loop, std::unique_ptr<Spawned> spawned, Task<void>&& task) noexcept;
  void stop(Error why) noexcept { root_.stop(why); }

  TaskRoot root_;
};

template <class F>
class SpawnedFunction final : public Spawned {
 public:
  explicit SpawnedFunction(F&& fn) : fn_(std::move(fn)) {}
  ~SpawnedFunction() override { root_.reset(); }  // before what the coroutine captured
  F fn_;
};

}  // namespace detail

// Runs a coroutine that nobody awaits: `fn`, a callable that returns Task<void>, is kept until it has ended, so its
// captures stay valid. It starts at once (inside a coroutine: when that one suspends). Its frames come from the heap.
// Exceptions are logged. It is stopped with ShuttingDown when loop.run() ends. Call it on the loop's thread or before
// run().
template <class F>
  requires std::is_same_v<std::invoke_result_t<F&>, Task<void>>
void spawn(Loop& loop, F fn) {
  auto spawned = std::make_unique<detail::SpawnedFunction<F>>(std::move(fn));
  auto& function = *spawned;
  TaskRoot::Enter scope(function.root_);
  Task<void> task = function.fn_();
  detail::Spawned::start(loop, std::move(spawned), std::move(task));
}
// The same for a Task made outside of any chain that has an arena (checked).
void spawn(Loop& loop, Task<void> task);

}  // namespace violet
