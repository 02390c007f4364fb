#pragma once

// Published: one message on its way to the subscribers of a topic; its frames are made once and shared by all loops.

#include "violet/memory/slice.h"
#include "violet/ws/message.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace violet::ws {

struct Shared;

class Published {
 public:
  // Counted from any thread: hold it with PublishedRef.
  Published(std::string_view topic, Kind kind, std::string_view payload);
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  [[nodiscard]] std::string_view topic() const noexcept { return topic_; }
  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] std::string_view payload() const noexcept { return payload_; }
  // The frame as a server sends it.
  [[nodiscard]] const Slice& frame() const noexcept { return frame_; }
  // The same compressed, without a window before it; made by the first loop that asks. What does not shrink stays
  // plain.
  [[nodiscard]] Slice compressed(int window_bits, int level, Shared& shared);

  void retain() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~Published() = default;
  struct Form {
    int window_bits;
    int level;
    Slice frame;
  };
  std::atomic<std::uint32_t> count_ = 1;
  std::string topic_;
  Kind kind_;
  Slice frame_;
  std::string_view payload_;
  std::mutex mutex_;
  std::vector<Form> forms_;
};

// One loop's view of a message: it counts on the shared bytes once, and its sockets count on the view without atomics.
class PublishedHere {
 public:
  PublishedHere(Published& published, Shared& shared);

  [[nodiscard]] Kind kind() const noexcept { return published_.kind(); }
  [[nodiscard]] std::string_view payload() const noexcept { return published_.payload(); }
  [[nodiscard]] const Slice& frame() const noexcept { return plain_; }
  [[nodiscard]] const Slice& compressed(int window_bits, int level);

 private:
  Published& published_;
  Shared& shared_;
  Slice plain_;
  int window_bits_ = 0;
  int level_ = 0;
  Slice compressed_;
};

}  // namespace violet::ws
