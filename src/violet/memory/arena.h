#pragma once

// Arena: memory that is given back all at once. The first piece is lent by the owner (an exchange has 4 KiB inside
// itself), further blocks come from the heap and are kept by reset(), so that a reused arena allocates nothing.
// Nothing in it is destroyed: put trivially destructible things here, or destroy them by hand. One thread.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

namespace violet {

class Arena {
 public:
  // `first` must outlive the arena.
  Arena(void* first, std::size_t size) noexcept
      : next_(static_cast<char*>(first)), end_(next_ + size), first_(next_), first_end_(end_) {}
  Arena() noexcept : Arena(nullptr, 0) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // Uninitialised bytes, `alignment` a power of two up to 16.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) {
    const auto address = reinterpret_cast<std::uintptr_t>(next_);
    const std::uintptr_t start = (address + alignment - 1) & ~(static_cast<std::uintptr_t>(alignment) - 1);
    const std::uintptr_t limit = reinterpret_cast<std::uintptr_t>(end_);
    if (start <= limit && size <= limit - start) [[likely]] {
      next_ = reinterpret_cast<char*>(start + size);
      return reinterpret_cast<void*>(start);
    }
    return allocate_slow(size, alignment);
  }

  // Gives back the newest allocation (a coroutine frame in a loop, a buffer that grows); without effect on others.
  void give_back(void* memory, std::size_t size) noexcept {
    if (static_cast<char*>(memory) + size == next_) next_ = static_cast<char*>(memory);
  }

  template <class T, class... Args>
  T* make(Args&&... args) {
    return ::new (allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  // An array without initial values.
  template <class T>
  T* array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(allocate(sizeof(T) * count, alignof(T)));
  }

  [[nodiscard]] std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    char* memory = static_cast<char*>(allocate(text.size(), 1));
    std::memcpy(memory, text.data(), text.size());
    return {memory, text.size()};
  }

  // Everything allocated becomes invalid. Blocks up to `kept_bytes` in total stay for the next use.
  void reset(std::size_t kept_bytes = 64 * 1024) noexcept {
    if (blocks_ != nullptr) [[unlikely]]
      reset_slow(kept_bytes);
    next_ = first_;
    end_ = first_end_;
  }

  // Bytes on the heap, those waiting for reuse included.
  [[nodiscard]] std::size_t heap_bytes() const noexcept { return heap_bytes_; }

 private:
  struct Block {
    Block* next;
    std::size_t size;  // bytes behind this head
  };
  void* allocate_slow(std::size_t size, std::size_t alignment);
  void reset_slow(std::size_t kept_bytes) noexcept;

  char* next_;
  char* end_;
  char* first_;
  char* first_end_;
  Block* blocks_ = nullptr;  // in use or used before, newest first
  Block* spare_ = nullptr;   // kept by reset()
  std::size_t heap_bytes_ = 0;
};

}  // namespace violet
