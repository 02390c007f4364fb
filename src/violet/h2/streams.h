#pragma once

// A session's streams: StreamTable finds them by number, Scheduler says which one sends next. Both link what is inside
// the streams and allocate nothing.

#include "violet/h2/stream.h"

#include <cstddef>
#include <cstdint>

namespace violet::h2 {

// Streams by number. A connection has few at a time, and one that is answered at once leaves again before anybody looks
// for it.
class StreamTable {
 public:
  [[nodiscard]] Stream* find(std::uint32_t id) const noexcept {
    Stream* stream = heads_[bucket(id)];
    while (stream != nullptr && stream->id_ != id) stream = stream->next_;
    return stream;
  }
  void insert(Stream& stream) noexcept {
    Stream*& head = heads_[bucket(stream.id_)];
    stream.next_ = head;
    head = &stream;
    ++count_;
  }
  void remove(Stream& stream) noexcept {
    Stream** link = &heads_[bucket(stream.id_)];
    while (*link != &stream) link = &(*link)->next_;
    *link = stream.next_;
    --count_;
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  // Any stream; nullptr when there is none.
  [[nodiscard]] Stream* any() const noexcept {
    for (Stream* head : heads_) {
      if (head != nullptr) return head;
    }
    return nullptr;
  }
  // `visit(stream)` must not remove streams.
  template <class Visit>
  void each(Visit&& visit) const {
    for (Stream* head : heads_) {
      for (Stream* stream = head; stream != nullptr; stream = stream->next_) visit(*stream);
    }
  }

 private:
  static constexpr std::size_t kBuckets = 16;
  static std::size_t bucket(std::uint32_t id) noexcept { return id / 2 % kBuckets; }
  Stream* heads_[kBuckets] = {};
  std::size_t count_ = 0;
};

// Scheduler: which stream sends next (RFC 9218 §10): the most urgent ones first; of one urgency in the order in which
// they became ready, the incremental ones in turns. Holds streams that could send if the connection has room.
class Scheduler {
 public:
  [[nodiscard]] Stream* next() const noexcept {
    return ready_ == 0 ? nullptr : queues_[static_cast<unsigned>(__builtin_ctz(ready_))].front();
  }
  [[nodiscard]] bool is_empty() const noexcept { return ready_ == 0; }
  void add(Stream& stream) noexcept {
    if (stream.is_scheduled_) return;
    stream.is_scheduled_ = true;
    queues_[stream.priority_.urgency].push_back(stream);
    ready_ |= 1u << stream.priority_.urgency;
  }
  void remove(Stream& stream) noexcept {
    if (!stream.is_scheduled_) return;
    stream.is_scheduled_ = false;
    stream.unlink();
    const unsigned urgency = stream.priority_.urgency;
    if (queues_[urgency].is_empty()) ready_ &= ~(1u << urgency);
  }
  // Lets others of its urgency go first.
  void rotate(Stream& stream) noexcept {
    auto& queue = queues_[stream.priority_.urgency];
    stream.unlink();
    queue.push_back(stream);
  }

 private:
  List<Stream, Stream> queues_[Priority::kUrgencyCount];
  unsigned ready_ = 0;
};

}  // namespace violet::h2
