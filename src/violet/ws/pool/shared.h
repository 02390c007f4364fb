#pragma once

// Shared: what the sockets of one loop have in common: pools of what a socket needs only while it is at work. There is
// one for each loop (Loop::local), used by that loop alone. An idle socket holds nothing of it.

#include "violet/event/loop.h"
#include "violet/memory/block.h"
#include "violet/memory/pool.h"
#include "violet/memory/ref.h"
#include "violet/ws/codec/frame.h"
#include "violet/ws/codec/utf8.h"
#include "violet/ws/deflate/deflate.h"
#include "violet/ws/pool/outbox.h"
#include "violet/ws/pool/totals.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace violet::ws {

class Session;
class MessagePool;

// What a message is gathered in, behind slices.
class MessageBuffer final : public Buffer {
 public:
  [[nodiscard]] char* data() noexcept { return reinterpret_cast<char*>(this + 1); }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  friend class MessagePool;
  MessageBuffer(MessagePool& pool, std::size_t capacity) noexcept
      : Buffer(Kind::Heap, &give_back), pool_(&pool), capacity_(capacity) {}
  static void give_back(Buffer* self) noexcept;

  MessagePool* pool_;
  std::size_t capacity_;
  MessageBuffer* next_ = nullptr;  // in the pool
};

// Buffers of three sizes are kept for reuse, so that messages up to 64 KiB allocate nothing once a loop is warm.
class MessagePool {
 public:
  MessagePool() noexcept = default;
  MessagePool(const MessagePool&) = delete;
  MessagePool& operator=(const MessagePool&) = delete;
  ~MessagePool();

  // At least `capacity` bytes.
  [[nodiscard]] Ref<MessageBuffer> take(std::size_t capacity);

 private:
  friend class MessageBuffer;
  static constexpr std::size_t kSizes[] = {4096, 16'384, 65'536};
  static constexpr std::size_t kKept[] = {64, 16, 16};
  struct List {
    MessageBuffer* first = nullptr;
    std::size_t count = 0;
  };
  void give(MessageBuffer& buffer) noexcept;
  List lists_[3];
};

// A message that did not come in one piece, or comes compressed.
struct Assembly {
  Ref<MessageBuffer> buffer;
  std::size_t size = 0;
  Utf8 utf8;
  std::uint64_t wire_bytes = 0;        // as they came, of a compressed one
  std::unique_ptr<Inflater> inflater;  // lent for this message

  [[nodiscard]] char* end() noexcept { return buffer->data() + size; }
};

// The beginning of a frame whose head is not all there, or of a control frame that is not.
struct Stash {
  std::size_t size = 0;
  char bytes[kFrameHeadMax + kControlBytesMax];
};

// Keys that nobody can foretell (RFC 6455 §10.3), drawn from the system many at a time.
class MaskKeys {
 public:
  [[nodiscard]] MaskKey next() noexcept {
    if (left_ == 0) [[unlikely]]
      refill();
    return keys_[--left_];
  }

 private:
  void refill() noexcept;
  static constexpr std::size_t kCount = 256;
  std::size_t left_ = 0;
  MaskKey keys_[kCount];
};

struct Shared {
  explicit Shared(Loop& on) noexcept : loop(on) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared();

  // What is counted here counts for `totals` too. A loop's sockets belong to one App: the first one decides.
  void count_for(Totals& totals) {
    if (totals_ == nullptr) [[unlikely]]
      (totals_ = &totals)->join(counters);
  }
  // Room for `extra` more bytes.
  void make_room(Assembly& assembly, std::size_t extra);
  [[nodiscard]] Outbox& take_outbox(std::size_t bytes_max) {
    if (spare_outbox_ == nullptr) spare_outbox_ = outboxes_.take(blocks);
    // The wire has taken what the last one who had it has sent.
    spare_outbox_->rewind();
    spare_outbox_->set_bytes_max(bytes_max);
    return *std::exchange(spare_outbox_, nullptr);
  }
  void give_outbox(Outbox& outbox) noexcept {
    outbox.clear();
    if (spare_outbox_ == nullptr) {
      spare_outbox_ = &outbox;
    } else {
      outboxes_.give(&outbox);
    }
  }
  // Calls session.on_drained() at the end of the turn.
  void call_when_turn_ends(Session& session);

  Loop& loop;
  BlockPool blocks;
  MessagePool messages;
  Pool<Assembly> assemblies{64};
  Pool<Stash> stashes{64};
  DeflatePool deflates;
  MaskKeys mask_keys;
  Counters counters;

 private:
  void on_turn_end() noexcept;

  Totals* totals_ = nullptr;
  Pool<Outbox> outboxes_{16};
  Outbox* spare_outbox_ = nullptr;
  std::vector<Session*> drained_;  // each counted
  DeferredTo<&Shared::on_turn_end> turn_end_{*this};
};

}  // namespace violet::ws
