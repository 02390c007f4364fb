#pragma once

// run_task(loop, task): steps the loop until the task has ended and gives its value, or throws what it threw.

#include "violet/event/loop.h"
#include "violet/event/task.h"

#include <exception>
#include <optional>
#include <utility>

namespace violet {

template <class T>
T run_task(Loop& loop, Task<T> task) {
  Loop::Scope scope(loop);
  TaskRoot root;
  std::optional<Outcome<T>> end;
  root.start(std::move(task), [&end](Outcome<T>&& outcome) noexcept { end.emplace(std::move(outcome)); });
  while (!end) loop.step(1000);
  if (end->has_exception()) std::rethrow_exception(end->exception());
  if (!end->has_value()) throw end->error();
  if constexpr (!std::is_void_v<T>) return std::move(end->value());
}

}  // namespace violet
