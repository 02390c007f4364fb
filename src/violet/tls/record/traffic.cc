// tls::Transport once it is open: records from below and their content up, content down and records below.

#include "violet/tls/error.h"
#include "violet/tls/openssl.h"
#include "violet/tls/record/sources.h"
#include "violet/tls/transport.h"

#include <openssl/err.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace violet::tls {
namespace {

// A record is of no use to the client before its last byte has come. On a connection that is new or was idle the
// network takes about ten packets at first, so the first records are small; afterwards few and large ones are cheaper.
constexpr std::size_t kFirstRecordBytes = 4 * 1024;
constexpr std::uint32_t kBurstBytes = 16 * 1024;
constexpr std::uint64_t kPauseMs = 1000;
// Messages of TLS itself behind the handshake: key updates, session tickets, alerts. So many at once, and one more each
// second: deriving keys costs us far more than asking for it costs a peer (RFC 8446 §4.6.3).
constexpr std::uint64_t kUpkeepMax = 32;
constexpr std::uint64_t kUpkeepMs = 1000;
// What a record takes beside its content, and a change of keys before it.
constexpr std::size_t kRoomBeside = RecordLayer::kOverheadBytes + RecordLayer::kMessageBytesMax;

}  // namespace

// --- reading

void Transport::count_upkeep() noexcept {
  if (!is_open_) return;
  const std::uint64_t now = shared_.loop.now_ms();
  upkeep_due_ms_ = std::max(upkeep_due_ms_, now) + kUpkeepMs;
  if (upkeep_due_ms_ > now + kUpkeepMax * kUpkeepMs) below_error_ = EPROTO;
}

ssize_t Transport::read_below(char* to, std::size_t size) noexcept {
  if (below_error_ != 0) [[unlikely]]
    return -below_error_;
  // A short read was all there is; another one would be a system call for nothing.
  const ssize_t n = is_drained_ ? -EAGAIN : below_.read(to, size);
  is_blocked_ = n == -EAGAIN;
  is_drained_ = n < 0 || static_cast<std::size_t>(n) < size;
  if (n < 0 && n != -EAGAIN) below_error_ = static_cast<std::int32_t>(-n);
  return n;
}

ssize_t Transport::read(char* to, std::size_t size) noexcept {
  if (end_ != kOpen) return end_;
  if (!is_open_) return -EAGAIN;
  is_drained_ = is_blocked_ = false;
  restore_input();
  std::size_t total = 0;
  const ssize_t why_ended = layer_ != nullptr ? open_records(to, size, total) : read_openssl(to, size, total);
  keep_input();
  if (shared_.gathered_bytes > 0) [[unlikely]]
    flush_gathered();  // an alert, or the answer to a key update
  if (total == 0) return why_ended;
  // There may be more than fitted, or the end: nobody below will tell.
  if (end_ != kOpen || has_unread()) shared_.loop.defer(ready_);
  return static_cast<ssize_t>(total);
}

// Why it has ended, where nothing was read.
ssize_t Transport::read_openssl(char* to, std::size_t size, std::size_t& total) noexcept {
  while (total < size) {
    std::size_t n = 0;
    if (SSL_read_ex(ssl_, to + total, size - total, &n) != 1) return why_not_read();
    total += n;
    if (SSL_has_pending(ssl_) == 0) break;
  }
  return kOpen;
}

// The same from the record layer.
ssize_t Transport::open_records(char* to, std::size_t size, std::size_t& total) noexcept {
  Input& input = shared_.input;
  for (;;) {
    switch (layer_->open(input, to, size, total)) {
      case RecordLayer::Verdict::Full: return kOpen;
      case RecordLayer::Verdict::Closed: input.clear(); return end_ = 0;
      case RecordLayer::Verdict::Failed: return refuse_record();
      case RecordLayer::Verdict::Upkeep: do_upkeep(); break;
      case RecordLayer::Verdict::More: {
        input.compact();
        const ssize_t n = read_below(input.end(), input.room());
        if (n == -EAGAIN) return n;
        if (n == 0) error_ = Error(ErrorKind::Tls, ERR_PACK(ERR_LIB_SSL, 0, SSL_R_UNEXPECTED_EOF_WHILE_READING));
        if (n <= 0) return end_ = n == 0 ? -ECONNRESET : static_cast<std::int32_t>(n);
        input.added(static_cast<std::size_t>(n));
      }
    }
    if (below_error_ != 0) return end_ = -below_error_;
  }
}

// RFC 8446 §6.2.
ssize_t Transport::refuse_record() noexcept {
  error_ = Error(ErrorKind::Tls, static_cast<std::int32_t>(ERR_PACK(ERR_LIB_SSL, 0, layer_->reason())));
  char alert[RecordLayer::kMessageBytesMax];
  if (layer_->alert() != 0 && !has_said_goodbye_) send_message(alert, layer_->seal_alert(layer_->alert(), alert));
  shared_.input.clear();
  return end_ = -EPROTO;
}

void Transport::do_upkeep() noexcept {
  count_upkeep();
  if (!layer_->owes_keys() || below_error_ != 0 || has_said_goodbye_) return;
  char update[RecordLayer::kMessageBytesMax];
  send_message(update, layer_->seal_keys(update));
}

// A whole record of TLS itself; 0 bytes: OpenSSL could not seal it.
void Transport::send_message(const char* record, std::size_t size) noexcept {
  if (size == 0) {
    error_ = take_error();
    return;
  }
  take_records(record, size);
  flush_gathered();
}

ssize_t Transport::peek(char* to, std::size_t size) noexcept {
  if (end_ != kOpen) return end_;
  if (!is_open_) return -EAGAIN;
  is_drained_ = is_blocked_ = false;
  restore_input();
  std::size_t n = 0;
  const ssize_t why_ended = layer_ != nullptr ? peek_records(to, size, n) : peek_openssl(to, size, n);
  keep_input();
  flush_gathered();
  if (n > 0 || end_ != kOpen) shared_.loop.defer(ready_);
  return n > 0 ? static_cast<ssize_t>(n) : why_ended;
}

ssize_t Transport::peek_openssl(char* to, std::size_t size, std::size_t& total) noexcept {
  return SSL_peek_ex(ssl_, to, size, &total) == 1 ? kOpen : why_not_read();
}

ssize_t Transport::peek_records(char* to, std::size_t size, std::size_t& total) noexcept {
  ssize_t why_ended = kOpen;
  if (layer_->held().empty()) {
    std::size_t opened = 0;
    why_ended = open_records(shared_.join.get(), Shared::kRecordBytes, opened);
    layer_->hold({shared_.join.get(), opened});
  }
  total = layer_->held().copy(to, size);
  return why_ended;
}

std::uint64_t Transport::unread_bytes_max() const noexcept {
  // What has been read below and not handed up is less than two records.
  const std::uint64_t below = below_.unread_bytes_max();
  const bool is_some_here =
      kept_bytes_ > 0 || (layer_ != nullptr ? !layer_->held().empty() : SSL_has_pending(ssl_) == 1);
  const std::uint64_t here = is_some_here ? 2 * Shared::kRecordBytes : 0;
  return below > ~here ? ~std::uint64_t{0} : below + here;
}

// Whether read() has something to give, or a reason to fail, without bytes from below. Part of a record is none: once
// below was asked in vain, it will tell.
bool Transport::has_unread() const noexcept {
  if (layer_ == nullptr) return kept_bytes_ > 0 || (!is_blocked_ && SSL_has_pending(ssl_) == 1);
  return !layer_->held().empty() || (kept_bytes_ > 0 && layer_->has_record({kept_->data(), kept_bytes_}));
}

// --- records on their way up

// A server's handshake is given what it asks for and no more, so that the rest is still ours afterwards.
ssize_t Transport::feed_openssl(char* to, std::size_t size) noexcept {
  Input& input = shared_.input;
  if (input.is_empty()) {
    if (is_open_ || !context_) return read_below(to, size);
    const ssize_t n = read_below(input.end(), input.room());
    if (n <= 0) return n;
    input.added(static_cast<std::size_t>(n));
  }
  const std::size_t n = input.text().copy(to, size);
  input.used(n);
  return static_cast<ssize_t>(n);
}

void Transport::restore_input() noexcept {
  VIOLET_ASSERT(shared_.input.is_empty());
  if (kept_bytes_ > 0) shared_.input.put({kept_->data(), std::exchange(kept_bytes_, 0u)});
}

// What is left of it waits with us: the loop's other connections need the room.
void Transport::keep_input() {
  const std::string_view left = shared_.input.text();
  if (left.empty()) {
    kept_ = {};
    return;
  }
  if (!kept_ || kept_->capacity() < left.size()) kept_ = Ref<HeapBuffer>::adopt(HeapBuffer::make(left.size()));
  left.copy(kept_->data(), left.size());
  kept_bytes_ = static_cast<std::uint32_t>(left.size());
  shared_.input.clear();
}

// After OpenSSL has read nothing. SSL_get_error() is not asked: what other users of OpenSSL leave in the thread's error
// queue would change its answer, and emptying the queue before each call would cost every request.
ssize_t Transport::why_not_read() noexcept {
  if (below_error_ != 0) {
    end_ = -below_error_;
  } else if (is_blocked_) {
    return -EAGAIN;
  } else if (SSL_in_init(ssl_) == 0 && (SSL_get_shutdown(ssl_) & SSL_RECEIVED_SHUTDOWN) != 0) {
    end_ = 0;  // close_notify
  } else {
    error_ = take_error();
    end_ = is_truncation(error_) ? -ECONNRESET : -EPROTO;
  }
  return end_;
}

// --- sealing and writing

std::size_t Transport::record_bytes_max() const noexcept {
  return burst_bytes_ < kBurstBytes ? kFirstRecordBytes : Shared::kRecordBytes;
}

ssize_t Transport::write(const iovec* pieces, int count) noexcept {
  PieceReader source(pieces, count);
  return send(source);
}

ssize_t Transport::send_file(int descriptor, std::uint64_t offset, std::size_t size) noexcept {
  FileReader source(descriptor, offset, size);
  const ssize_t n = send(source);
  return n <= 0 && source.error() != 0 ? -source.error() : n;
}

template <class Source>
ssize_t Transport::send(Source& source) noexcept {
  if (!is_open_) return -EAGAIN;
  std::size_t taken = 0;
  if (has_pending()) {
    taken = flush_pending();
    if (below_error_ != 0) return -below_error_;
    if (has_pending()) return taken > 0 ? static_cast<ssize_t>(taken) : -EAGAIN;
    source.skip(taken);
  }
  if (has_said_goodbye_) return -EPIPE;
  const std::uint64_t now = shared_.loop.now_ms();
  if (now - last_sent_ms_ > kPauseMs) burst_bytes_ = 0;
  last_sent_ms_ = now;
  while (!source.is_empty() && !has_pending() && !error_ && below_error_ == 0) taken += seal_batch(source);
  if (below_error_ != 0) return -below_error_;
  if (error_) return -EPROTO;
  return taken == 0 && has_pending() ? -EAGAIN : static_cast<ssize_t>(taken);
}

// Seals and sends up to kBatchBytes; how many of them have been taken below.
template <class Source>
std::size_t Transport::seal_batch(Source& source) noexcept {
  shared_.sealed_bytes = 0;
  std::size_t plain = 0;
  while (!source.is_empty() && plain < Shared::kBatchBytes && !error_) {
    const std::size_t most = std::min(record_bytes_max(), Shared::kBatchBytes - plain);
    if (Shared::kGatherBytes - shared_.gathered_bytes < most + kRoomBeside) break;
    const std::string_view record = source.next(most, shared_.join.get());
    if (record.empty()) break;
    plain += record.size();
    seal(record, source.is_empty() || plain == Shared::kBatchBytes);
  }
  flush_gathered();
  if (!has_pending()) return plain;
  // What is below of the sealed bytes is told as the same share of the plain ones, so that progress is seen.
  const std::size_t left = pending_end_ - pending_begin_;
  const std::size_t taken =
      plain * (shared_.sealed_bytes - std::min(left, shared_.sealed_bytes)) / shared_.sealed_bytes;
  owed_ = static_cast<std::uint32_t>(plain - taken);
  return taken;
}

void Transport::seal(std::string_view record, bool is_last) noexcept {
  if (layer_ != nullptr) {
    VIOLET_ASSERT(!has_pending());
    const std::size_t n = layer_->seal(record, shared_.gather.get() + shared_.gathered_bytes);
    if (n == 0) error_ = take_error();
    shared_.gathered_bytes += n;
    shared_.sealed_bytes += n;
  } else {
    std::size_t n = 0;
    sends_at_once_ = is_last;
    if (SSL_write_ex(ssl_, record.data(), record.size(), &n) != 1) error_ = take_error();
    sends_at_once_ = false;
  }
  if (burst_bytes_ < kBurstBytes) burst_bytes_ += static_cast<std::uint32_t>(record.size());
}

// --- records on their way below

// From OpenSSL. The last record of a batch leaves from OpenSSL's own buffer.
void Transport::take_records(const char* data, std::size_t size) noexcept {
  shared_.sealed_bytes += size;
  if (below_error_ != 0) return;
  if (has_pending()) {
    keep(data, size);
  } else if (sends_at_once_ || shared_.gathered_bytes + size > Shared::kGatherBytes) {
    send_gathered(data, size);
  } else {
    std::memcpy(shared_.gather.get() + shared_.gathered_bytes, data, size);
    shared_.gathered_bytes += size;
  }
}

void Transport::flush_gathered() noexcept {
  if (shared_.gathered_bytes > 0) send_gathered(nullptr, 0);
}

// One write; what is not taken is kept.
void Transport::send_gathered(const char* more, std::size_t more_bytes) noexcept {
  const std::size_t gathered = std::exchange(shared_.gathered_bytes, 0);
  iovec pieces[2];
  int count = 0;
  if (gathered > 0) pieces[count++] = {shared_.gather.get(), gathered};
  if (more_bytes > 0) pieces[count++] = {const_cast<char*>(more), more_bytes};
  const ssize_t n = below_.write(pieces, count);
  if (n < 0 && n != -EAGAIN) {
    below_error_ = static_cast<std::int32_t>(-n);
    return;
  }
  const std::size_t taken = n > 0 ? static_cast<std::size_t>(n) : 0;
  if (taken < gathered) keep(shared_.gather.get() + taken, gathered - taken);
  const std::size_t taken_more = taken > gathered ? taken - gathered : 0;
  if (taken_more < more_bytes) keep(more + taken_more, more_bytes - taken_more);
}

// How many bytes of plaintext are told as taken by it.
std::size_t Transport::flush_pending() noexcept {
  const std::size_t size = pending_end_ - pending_begin_;
  const iovec piece{pending_->data() + pending_begin_, size};
  const ssize_t n = below_.write(&piece, 1);
  if (n <= 0) {
    if (n != -EAGAIN) below_error_ = static_cast<std::int32_t>(-n);
    return 0;
  }
  pending_begin_ += static_cast<std::uint32_t>(n);
  const std::size_t taken = owed_ * static_cast<std::size_t>(n) / size;  // all of it when nothing is left
  owed_ -= static_cast<std::uint32_t>(taken);
  if (!has_pending()) {
    pending_ = {};
    pending_begin_ = pending_end_ = 0;
  }
  return taken;
}

void Transport::keep(const char* data, std::size_t size) {
  const std::size_t used = pending_end_ - pending_begin_;
  if (!pending_ || pending_->capacity() - pending_end_ < size) {
    const Ref<HeapBuffer> from = std::move(pending_);
    pending_ = Ref<HeapBuffer>::adopt(HeapBuffer::make(used + size));
    if (used > 0) std::memcpy(pending_->data(), from->data() + pending_begin_, used);
    pending_begin_ = 0;
    pending_end_ = static_cast<std::uint32_t>(used);
  }
  std::memcpy(pending_->data() + pending_end_, data, size);
  pending_end_ += static_cast<std::uint32_t>(size);
}

}  // namespace violet::tls
