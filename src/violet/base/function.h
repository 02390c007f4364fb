#pragma once

// Function<R(Args...)>: a move-only callable with 48 bytes of room inside; larger callables go to the heap. It stands
// in for std::function in headers, which must not pull in <functional>.

#include "violet/base/check.h"

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace violet {

template <class Signature>
class Function;

template <class R, class... Args>
class Function<R(Args...)> {
 public:
  Function() noexcept = default;
  Function(std::nullptr_t) noexcept {}
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Function> && std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  Function(F&& f) {
    using Callable = std::decay_t<F>;
    if constexpr (is_inline<Callable>) {
      ::new (storage_) Callable(std::forward<F>(f));
    } else {
      *reinterpret_cast<Callable**>(storage_) = new Callable(std::forward<F>(f));
    }
    table_ = &table_of<Callable>;
  }
  Function(Function&& other) noexcept : table_(std::exchange(other.table_, nullptr)) {
    if (table_ != nullptr) table_->move(storage_, other.storage_);
  }
  Function& operator=(Function&& other) noexcept {
    if (this != &other) {
      reset();
      table_ = std::exchange(other.table_, nullptr);
      if (table_ != nullptr) table_->move(storage_, other.storage_);
    }
    return *this;
  }
  ~Function() { reset(); }

  explicit operator bool() const noexcept { return table_ != nullptr; }

  // REQUIRES: not empty.
  R operator()(Args... args) {
    VIOLET_ASSERT(table_ != nullptr);
    return table_->call(storage_, std::forward<Args>(args)...);
  }

  void reset() noexcept {
    if (table_ != nullptr) std::exchange(table_, nullptr)->destroy(storage_);
  }

 private:
  static constexpr std::size_t kRoom = 48;
  struct Table {
    R (*call)(void*, Args&&...);
    void (*move)(void* to, void* from) noexcept;
    void (*destroy)(void*) noexcept;
  };

  template <class F>
  static constexpr bool is_inline =
      sizeof(F) <= kRoom && alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;

  template <class F>
  static F& callable(void* storage) noexcept {
    if constexpr (is_inline<F>) {
      return *std::launder(static_cast<F*>(storage));
    } else {
      return **static_cast<F**>(storage);
    }
  }
  template <class F>
  static constexpr Table table_of{
      [](void* storage, Args&&... args) -> R {
        if constexpr (std::is_void_v<R>) {
          callable<F>(storage)(std::forward<Args>(args)...);
        } else {
          return callable<F>(storage)(std::forward<Args>(args)...);
        }
      },
      [](void* to, void* from) noexcept {
        if constexpr (is_inline<F>) {
          F& source = callable<F>(from);
          ::new (to) F(std::move(source));
          source.~F();  // NOLINT(bugprone-use-after-move): a moved-from object still has to end
        } else {
          *static_cast<F**>(to) = *static_cast<F**>(from);
        }
      },
      [](void* storage) noexcept {
        if constexpr (is_inline<F>) {
          callable<F>(storage).~F();
        } else {
          delete *static_cast<F**>(storage);
        }
      }};

  alignas(void*) std::byte storage_[kRoom];
  const Table* table_ = nullptr;
};

}  // namespace violet
