#include "violet/ws/pool/shared.h"

#include "violet/ws/session.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace violet::ws {

// --- buffers

void MessageBuffer::give_back(Buffer* self) noexcept {
  auto* buffer = static_cast<MessageBuffer*>(self);
  buffer->pool_->give(*buffer);
}

Ref<MessageBuffer> MessagePool::take(std::size_t capacity) {
  for (std::size_t i = 0; i < std::size(kSizes); ++i) {
    if (capacity > kSizes[i]) continue;
    capacity = kSizes[i];
    if (MessageBuffer* buffer = lists_[i].first; buffer != nullptr) {
      lists_[i].first = buffer->next_;
      --lists_[i].count;
      return Ref<MessageBuffer>::adopt(::new (buffer) MessageBuffer(*this, capacity));
    }
    break;
  }
  void* memory = ::operator new(sizeof(MessageBuffer) + capacity + kScanPadding);
  return Ref<MessageBuffer>::adopt(::new (memory) MessageBuffer(*this, capacity));
}

void MessagePool::give(MessageBuffer& buffer) noexcept {
  for (std::size_t i = 0; kPoolsKeep && i < std::size(kSizes); ++i) {
    if (buffer.capacity() != kSizes[i] || lists_[i].count >= kKept[i]) continue;
    buffer.next_ = lists_[i].first;
    lists_[i].first = &buffer;
    ++lists_[i].count;
    return;
  }
  ::operator delete(static_cast<void*>(&buffer));
}

MessagePool::~MessagePool() {
  for (List& list : lists_) {
    while (MessageBuffer* buffer = list.first) {
      list.first = buffer->next_;
      ::operator delete(static_cast<void*>(buffer));
    }
  }
}

void MaskKeys::refill() noexcept {
  // Without random numbers no frame may be sent; the system always has some.
  VIOLET_CHECK(uv_random(nullptr, nullptr, keys_, sizeof keys_, 0, nullptr) == 0);
  left_ = kCount;
}

// --- what a loop's sockets share

Shared::~Shared() {
  if (totals_ != nullptr) totals_->leave(counters);
  for (Session* session : drained_) session->release();
  if (spare_outbox_ != nullptr) outboxes_.give(spare_outbox_);
}

void Shared::make_room(Assembly& assembly, std::size_t extra) {
  const std::size_t wanted = assembly.size + extra;
  if (assembly.buffer && wanted <= assembly.buffer->capacity()) return;
  const std::size_t before = assembly.buffer ? assembly.buffer->capacity() : 0;
  Ref<MessageBuffer> larger = messages.take(std::max(wanted, before * 2));
  if (assembly.size > 0) std::memcpy(larger->data(), assembly.buffer->data(), assembly.size);
  assembly.buffer = std::move(larger);
}

void Shared::call_when_turn_ends(Session& session) {
  session.retain();
  drained_.push_back(&session);
  loop.defer(turn_end_);
}

void Shared::on_turn_end() noexcept {
  std::vector<Session*> sessions;
  sessions.swap(drained_);
  for (Session* session : sessions) {
    session->on_drained();
    session->release();
  }
  sessions.clear();
  if (drained_.empty()) drained_.swap(sessions);  // keeps the room
}

}  // namespace violet::ws
