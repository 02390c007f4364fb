#include "violet/tls/transport.h"

#include "violet/tls/certificate/identity.h"
#include "violet/tls/error.h"
#include "violet/tls/openssl.h"

#include <openssl/err.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

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

}  // namespace

// What OpenSSL reads records from and writes them to. It never refuses to take a record: what does not leave is kept,
// so that no call of OpenSSL has to be made twice.
struct RecordBio {
  static Transport& of(BIO* bio) noexcept { return *static_cast<Transport*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* to, int size) noexcept {
    BIO_clear_retry_flags(bio);
    const ssize_t n = of(bio).read_below(to, static_cast<std::size_t>(size));
    if (n == -EAGAIN) BIO_set_retry_read(bio);
    return n < 0 ? -1 : static_cast<int>(n);
  }

  static int write(BIO* bio, const char* data, int size) noexcept {
    BIO_clear_retry_flags(bio);
    of(bio).take_records(data, static_cast<std::size_t>(size));
    return size;
  }

  static long control(BIO* bio, int command, long, void*) noexcept {
    switch (command) {
      case BIO_CTRL_FLUSH: return 1;
      case BIO_CTRL_EOF: return of(bio).below_error_ == 0 && !of(bio).is_blocked_ ? 1 : 0;
      default: return 0;
    }
  }

  // Each step of OpenSSL's state machine, and alerts. A message behind the handshake begins in the state "ok".
  static void on_step(const SSL* ssl, int where, int) noexcept {
    const bool is_message = (where & SSL_CB_LOOP) != 0 && SSL_get_state(ssl) == TLS_ST_OK;
    if (is_message || (where & SSL_CB_ALERT) != 0) of(SSL_get_rbio(ssl)).count_upkeep();
  }

  static BIO_METHOD* make_method() noexcept {
    BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "violet records");
    VIOLET_CHECK(method != nullptr);
    BIO_meth_set_read(method, &RecordBio::read);
    BIO_meth_set_write(method, &RecordBio::write);
    BIO_meth_set_ctrl(method, &RecordBio::control);
    return method;
  }

  static BIO* make(Transport& transport) noexcept {
    static const BIO_METHOD* const kMethod = make_method();
    BIO* const bio = BIO_new(kMethod);
    if (bio == nullptr) return nullptr;
    BIO_set_data(bio, &transport);
    BIO_set_init(bio, 1);
    return bio;
  }
};

class Transport::Event {
 public:
  explicit Event(Transport& transport) noexcept : transport_(transport) { ++transport_.depth_; }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (--transport_.depth_ == 0 && transport_.is_closed_) delete &transport_;
  }

 private:
  Transport& transport_;
};

// Plaintext in pieces, taken off in records: a record that one piece fills is a view of it, others are joined.
class PieceReader {
 public:
  PieceReader(const iovec* pieces, int count) noexcept : piece_(pieces), end_(pieces + count) { pass_empty(); }

  [[nodiscard]] bool is_empty() const noexcept { return piece_ == end_; }
  void skip(std::size_t n) noexcept {
    while (n > 0 && !is_empty()) n -= advance(std::min(n, left()));
    VIOLET_ASSERT(n == 0);  // what write() did not take was not offered again
  }
  // At most `max` bytes, at most Shared::kRecordBytes; "" on an error.
  std::string_view next(std::size_t max, char* join) noexcept {
    const char* const from = at();
    if (left() >= max || piece_ + 1 == end_) return {from, advance(std::min(left(), max))};
    std::size_t size = 0;
    while (size < max && !is_empty()) {
      const char* const part = at();
      const std::size_t n = std::min(max - size, left());
      std::memcpy(join + size, part, n);
      size += advance(n);
    }
    return {join, size};
  }

 private:
  [[nodiscard]] const char* at() const noexcept { return static_cast<const char*>(piece_->iov_base) + used_; }
  [[nodiscard]] std::size_t left() const noexcept { return piece_->iov_len - used_; }
  std::size_t advance(std::size_t n) noexcept {
    used_ += n;
    pass_empty();
    return n;
  }
  void pass_empty() noexcept {
    while (piece_ != end_ && used_ == piece_->iov_len) {
      ++piece_;
      used_ = 0;
    }
  }

  const iovec* piece_;
  const iovec* end_;
  std::size_t used_ = 0;  // of the piece
};

namespace {

// The same for a range of a file.
class FileReader {
 public:
  FileReader(int descriptor, std::uint64_t offset, std::size_t size) noexcept
      : descriptor_(descriptor), offset_(offset), left_(size) {}

  [[nodiscard]] bool is_empty() const noexcept { return left_ == 0; }
  [[nodiscard]] int error() const noexcept { return error_; }
  void skip(std::size_t n) noexcept {
    VIOLET_ASSERT(n <= left_);
    offset_ += n;
    left_ -= std::min(n, left_);
  }
  std::string_view next(std::size_t max, char* join) noexcept {
    ssize_t n;
    do {
      n = ::pread(descriptor_, join, std::min(left_, max), static_cast<off_t>(offset_));
    } while (n < 0 && errno == EINTR);
    if (n < 0) error_ = errno;
    if (n <= 0) {
      left_ = 0;  // the file ends before its range does
      return {};
    }
    skip(static_cast<std::size_t>(n));
    return {join, static_cast<std::size_t>(n)};
  }

 private:
  int descriptor_;
  std::uint64_t offset_;
  std::size_t left_;
  int error_ = 0;
};

}  // namespace

// --- its life

Transport::Transport(Shared& shared, Ref<ServerContext> context, ssl_st* ssl, net::Transport& below,
                     Handshake& handshake)
    : shared_(shared), context_(std::move(context)), ssl_(ssl), below_(below), handshake_(&handshake) {}

Transport::~Transport() { VIOLET_ASSERT(is_closed_ && depth_ == 0); }

Transport* Transport::open(Shared& shared, Ref<ServerContext> context, ssl_st* ssl, net::Transport& below,
                           Handshake& handshake) {
  if (ssl == nullptr) return nullptr;
  auto* transport = new Transport(shared, std::move(context), ssl, below, handshake);
  BIO* const bio = RecordBio::make(*transport);
  if (bio == nullptr) {
    transport->is_closed_ = true;
    SSL_free(ssl);
    delete transport;
    return nullptr;
  }
  SSL_set_bio(ssl, bio, bio);
  SSL_set_info_callback(ssl, &RecordBio::on_step);
  below.set_owner(*transport);
  return transport;
}

Transport* Transport::accept(Shared& shared, ServerContext& context, net::Transport& below, Handshake& handshake) {
  Transport* const transport = open(shared, Ref<ServerContext>(&context), context.open(), below, handshake);
  if (transport != nullptr) below.want(true, false);
  return transport;
}

Transport* Transport::connect(Shared& shared, ClientContext& context, std::string_view host, net::Transport& below,
                              Handshake& handshake) {
  Transport* const transport = open(shared, {}, context.open(host), below, handshake);
  if (transport != nullptr) below.want(true, true);  // the client speaks first
  return transport;
}

void Transport::close() noexcept {
  if (is_closed_) return;
  say_goodbye();
  release(&net::Transport::close);
}

void Transport::close_by_reset() noexcept {
  if (!is_closed_) release(&net::Transport::close_by_reset);
}

void Transport::release(void (net::Transport::*close_below)() noexcept) noexcept {
  is_closed_ = true;
  (below_.*close_below)();
  SSL_free(std::exchange(ssl_, nullptr));
  pending_ = {};
  ready_.unlink();
  if (depth_ == 0) delete this;
}

// close_notify, once, where the connection is in order (RFC 8446 §6.1).
void Transport::say_goodbye() noexcept {
  if (!is_open_ || error_ || below_error_ != 0 || (SSL_get_shutdown(ssl_) & SSL_SENT_SHUTDOWN) != 0) return;
  sends_at_once_ = true;
  SSL_shutdown(ssl_);
  sends_at_once_ = false;
}

void Transport::shutdown() noexcept {
  if (is_closed_) return;
  say_goodbye();
  is_ending_ = has_pending();
  if (is_ending_) {
    update_interest();
  } else {
    below_.shutdown();
  }
}

// --- events

void Transport::on_readable() noexcept {
  const Event event(*this);
  if (handshake_ != nullptr) {
    step();
  } else {
    owner_->on_readable();
  }
}

void Transport::on_writable() noexcept {
  const Event event(*this);
  // What write() has not said it took is flushed by write(), which tells how much it was.
  if (owed_ == 0 && has_pending()) {
    flush_pending();
    if (!has_pending() && is_ending_) {
      is_ending_ = false;
      below_.shutdown();
    }
    if (handshake_ == nullptr) update_interest();
  }
  if (handshake_ != nullptr) {
    step();
  } else if (wants_write_) {
    owner_->on_writable();
  }
}

void Transport::on_peer_closed() noexcept {
  const Event event(*this);
  if (handshake_ != nullptr) {
    step();
  } else {
    owner_->on_peer_closed();
  }
}

void Transport::on_broken() noexcept {
  const Event event(*this);
  below_error_ = ECONNRESET;
  if (handshake_ != nullptr) {
    refuse(Error(ErrorKind::Closed));
  } else {
    owner_->on_broken();
  }
}

// Bytes that were read below already, or an end that read() has seen behind bytes.
void Transport::on_ready() noexcept {
  if (is_closed_ || !wants_read_ || handshake_ != nullptr) return;
  const Event event(*this);
  owner_->on_readable();
}

void Transport::want(bool read, bool write) noexcept {
  if (is_closed_) return;
  wants_read_ = read;
  wants_write_ = write;
  update_interest();
  // Part of a record is no reason: once OpenSSL has asked below in vain, below will tell.
  const bool has_more = end_ != kOpen || (is_open_ && !is_blocked_ && SSL_has_pending(ssl_) == 1);
  if (read && has_more) shared_.loop.defer(ready_);
}

void Transport::update_interest() noexcept { below_.want(wants_read_, wants_write_ || has_pending()); }

// --- the handshake

void Transport::step() noexcept {
  is_drained_ = is_blocked_ = false;
  const int result = SSL_do_handshake(ssl_);
  flush_gathered();
  if (result == 1) {
    is_open_ = true;
    std::exchange(handshake_, nullptr)->on_secure(*this);
  } else if (is_blocked_ && below_error_ == 0) {
    below_.want(true, has_pending());
  } else {
    refuse(below_error_ != 0 ? Error(ErrorKind::System, below_error_) : take_error());
  }
}

void Transport::refuse(Error why) noexcept {
  error_ = why;
  std::exchange(handshake_, nullptr)->on_refused(*this, why);
}

void Transport::answer_plainly(std::string_view text) noexcept {
  const iovec piece{const_cast<char*>(text.data()), text.size()};
  [[maybe_unused]] const ssize_t sent = below_.write(&piece, 1);
}

std::string_view Transport::protocol() const noexcept {
  const unsigned char* data = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_, &data, &size);
  return {reinterpret_cast<const char*>(data), size};
}

std::string_view Transport::version() const noexcept { return SSL_get_version(ssl_); }

std::string_view Transport::cipher() const noexcept { return SSL_CIPHER_get_name(SSL_get_current_cipher(ssl_)); }

std::string_view Transport::server_name() const noexcept {
  const char* const name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
  return name != nullptr ? name : std::string_view();
}

bool Transport::is_resumed() const noexcept { return SSL_session_reused(ssl_) == 1; }

bool Transport::peer_certificate(PeerCertificate& certificate) const {
  const X509* const shown = SSL_get0_peer_certificate(ssl_);
  if (shown == nullptr || SSL_get_verify_result(ssl_) != X509_V_OK) return false;
  const BioPtr text(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(text.get(), X509_get_subject_name(shown), 0, XN_FLAG_RFC2253);
  const char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  certificate.subject.assign(data, static_cast<std::size_t>(std::max(size, 0L)));
  certificate.names = alternative_names(const_cast<X509*>(shown));
  return true;
}

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
  std::size_t total = 0;
  ssize_t why_ended = kOpen;
  while (total < size) {
    std::size_t n = 0;
    if (SSL_read_ex(ssl_, to + total, size - total, &n) != 1) {
      why_ended = why_not_read();
      break;
    }
    total += n;
    if (SSL_has_pending(ssl_) == 0) break;
  }
  if (shared_.gathered_bytes > 0) [[unlikely]]
    flush_gathered();  // an alert, or the answer to a key update
  if (total == 0) return why_ended;
  // There may be more than fitted, or the end: nobody below will tell.
  if (end_ != kOpen || (total == size && SSL_has_pending(ssl_) == 1)) shared_.loop.defer(ready_);
  return static_cast<ssize_t>(total);
}

ssize_t Transport::peek(char* to, std::size_t size) noexcept {
  if (end_ != kOpen) return end_;
  if (!is_open_) return -EAGAIN;
  is_drained_ = is_blocked_ = false;
  std::size_t n = 0;
  const bool has_some = SSL_peek_ex(ssl_, to, size, &n) == 1;
  const ssize_t result = has_some ? static_cast<ssize_t>(n) : why_not_read();
  flush_gathered();
  if (has_some || end_ != kOpen) shared_.loop.defer(ready_);
  return result;
}

std::uint64_t Transport::unread_bytes_max() const noexcept {
  // What OpenSSL has read and not handed up is less than two records.
  const std::uint64_t below = below_.unread_bytes_max();
  const std::uint64_t here = SSL_has_pending(ssl_) == 1 ? 2 * Shared::kRecordBytes : 0;
  return below > ~here ? ~std::uint64_t{0} : below + here;
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
  std::size_t n = 0;
  sends_at_once_ = is_last;
  if (SSL_write_ex(ssl_, record.data(), record.size(), &n) != 1) error_ = take_error();
  sends_at_once_ = false;
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
