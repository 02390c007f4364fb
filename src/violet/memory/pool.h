#pragma once

// Pool<T>: a free list of T-sized pieces for one thread. take() constructs, give() destroys; up to `kept_max` pieces
// are kept for reuse, the rest go back to the heap, so that a burst does not pin its memory for ever. The free list
// stands outside the pieces' lifetimes: a piece is raw memory while it is in the list.

#include "violet/base/check.h"

#include <cstddef>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define VIOLET_POOLS_OFF 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VIOLET_POOLS_OFF 1
#endif
#endif

namespace violet {

// Under AddressSanitizer, and where the build asks for it, pools keep nothing, so that a use after free is seen.
#ifdef VIOLET_POOLS_OFF
inline constexpr bool kPoolsKeep = false;
#else
inline constexpr bool kPoolsKeep = true;
#endif

template <class T>
class Pool {
 public:
  explicit Pool(std::size_t kept_max) noexcept : kept_max_(kPoolsKeep ? kept_max : 0) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  // REQUIRES: everything taken has been given back.
  ~Pool() {
    VIOLET_ASSERT(used_count_ == 0);
    trim(0);
  }

  template <class... Args>
  [[nodiscard]] T* take(Args&&... args) {
    void* memory = free_;
    if (memory != nullptr) [[likely]] {
      free_ = static_cast<Free*>(memory)->next;
      --kept_count_;
    } else {
      memory = ::operator new(sizeof(Piece), std::align_val_t{alignof(Piece)});
    }
    ++used_count_;
    return ::new (memory) T(std::forward<Args>(args)...);
  }

  void give(T* object) noexcept {
    VIOLET_ASSERT(used_count_ > 0);
    --used_count_;
    object->~T();
    if (kept_count_ < kept_max_) [[likely]] {
      free_ = ::new (static_cast<void*>(object)) Free{free_};
      ++kept_count_;
    } else {
      ::operator delete(static_cast<void*>(object), std::align_val_t{alignof(Piece)});
    }
  }

  // Frees kept pieces until at most `kept` are left.
  void trim(std::size_t kept) noexcept {
    while (kept_count_ > kept) {
      Free* piece = free_;
      free_ = piece->next;
      --kept_count_;
      ::operator delete(static_cast<void*>(piece), std::align_val_t{alignof(Piece)});
    }
  }

  [[nodiscard]] std::size_t used_count() const noexcept { return used_count_; }
  [[nodiscard]] std::size_t kept_count() const noexcept { return kept_count_; }

 private:
  struct Free {
    Free* next;
  };
  union Piece {
    Free free;
    alignas(T) std::byte object[sizeof(T)];
  };

  Free* free_ = nullptr;
  std::size_t kept_count_ = 0;
  std::size_t used_count_ = 0;
  std::size_t kept_max_;
};

}  // namespace violet
