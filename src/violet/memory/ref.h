#pragma once

// Ref<T>: an owner by plain (not atomic) count, for objects that live on one loop. T has
//   void retain() noexcept;  void release() noexcept;   // release frees at zero
// Counted<T> gives both, with `delete this` at zero; a pooled class writes its own.

#include "violet/base/check.h"

#include <cstdint>
#include <utility>

namespace violet {

template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(std::nullptr_t) noexcept {}
  // Takes over a count that is already ours.
  static Ref adopt(T* object) noexcept {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  // Adds a count.
  explicit Ref(T* object) noexcept : object_(object) {
    if (object_ != nullptr) object_->retain();
  }
  Ref(const Ref& other) noexcept : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->release();
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  // Gives the count away.
  [[nodiscard]] T* detach() noexcept { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

template <class T>
class Counted {
 public:
  void retain() noexcept { ++count_; }
  void release() noexcept {
    VIOLET_ASSERT(count_ > 0);
    if (--count_ == 0) delete static_cast<T*>(this);
  }

 protected:
  Counted() noexcept = default;  // starts at one: hold it with Ref<T>::adopt(new T)
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() = default;

 private:
  std::uint32_t count_ = 1;
};

}  // namespace violet
