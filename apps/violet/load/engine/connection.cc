#include "load/engine/connection.h"

#include "load/engine/worker.h"
#include <violet/net/io/connect.h>

#include <cstring>

namespace violet::load {
namespace {

constexpr std::uint64_t kAgainMs = 10;  // before a connection that did not come about is tried again

// What the client refuses, and it parses strictly: no HTTP, or more of it than was asked for.
bool is_malformation(Error why) { return why.kind() == ErrorKind::Protocol || why.kind() == ErrorKind::TooLarge; }

}  // namespace

Connection::Connection(Worker& worker)
    : worker_(worker),
      slots_(std::make_unique<Slot[]>(static_cast<std::size_t>(worker.options().depth))),
      slot_count_(worker.options().depth) {
  for (int i = 0; i < slot_count_; ++i) slots_[static_cast<std::size_t>(i)].connection = this;
}

Connection::~Connection() { VIOLET_ASSERT(wire_ == nullptr && handshake_ == nullptr); }

// --- coming about

void Connection::open() noexcept {
  if (worker_.is_over()) return;
  const Result<net::SocketTransport*> transport = net::connect(worker_.loop(), worker_.plan().address);
  if (!transport) {
    fail_to_open(&Tally::connect_errors);
    return;
  }
  ++worker_.counts().connects;
  opened_ns_ = Worker::now_ns();
  asked_count_ = answered_count_ = 0;
  is_given_up_ = is_malformed_ = false;
  if (!worker_.plan().is_secure) {
    begin(**transport);
    return;
  }
  handshake_ = tls::Transport::connect(worker_.tls(), worker_.tls_context(), worker_.plan().host, **transport, *this);
  if (handshake_ != nullptr) return;
  (*transport)->close();
  fail_to_open(&Tally::handshake_errors);
}

void Connection::on_secure(tls::Transport& transport) noexcept {
  handshake_ = nullptr;
  ++worker_.counts().handshakes;
  const bool speaks_h2 = transport.protocol() == "h2";
  if (speaks_h2 != (worker_.options().protocol == Protocol::Http2)) {
    transport.close();
    fail_to_open(&Tally::handshake_errors);
    return;
  }
  begin(transport);
}

void Connection::on_refused(tls::Transport& transport, Error) noexcept {
  handshake_ = nullptr;
  transport.close();
  fail_to_open(&Tally::handshake_errors);
}

void Connection::begin(net::Transport& transport) {
  wire_ = make_wire(worker_.wires(), *this, transport);
  fill();
}

// Counts as a request that gets no answer, so that a counted run ends.
void Connection::fail_to_open(std::uint64_t Tally::* kind) noexcept {
  worker_.on_failure(kind);
  worker_.on_lost();
  again();
}

void Connection::again() noexcept {
  if (!worker_.is_over()) worker_.loop().timers().arm_after(again_, kAgainMs);
}

void Connection::close() noexcept {
  again_.cancel();
  if (handshake_ != nullptr) std::exchange(handshake_, nullptr)->close();
  if (wire_ != nullptr) wire_->abort(Error(ErrorKind::ShuttingDown));
}

void Connection::note_malformed() noexcept {
  if (!std::exchange(is_malformed_, true)) worker_.on_failure(&Tally::malformed);
}

void Connection::on_wire_closed(Error why) noexcept {
  if (is_malformation(why)) note_malformed();
  wire_.reset();
  if (worker_.is_over()) return;
  if (answered_count_ == 0) {
    again();
  } else {
    open();
  }
}

void Connection::on_wire_refused() noexcept {
  wire_.reset();
  fail_to_open(&Tally::handshake_errors);
}

// --- asking

bool Connection::may_ask() const noexcept {
  const std::uint64_t most = worker_.options().per_connection;
  return wire_ != nullptr && wire_->is_ready() && !wire_->is_leaving() && (most == 0 || asked_count_ < most);
}

void Connection::fill() {
  if (busy_count_ == slot_count_ || !may_ask()) return;
  const std::uint64_t now = Worker::now_ns();
  for (int i = 0; i < slot_count_; ++i) {
    Slot& slot = slots_[static_cast<std::size_t>(i)];
    if (slot.stream == nullptr && !ask(slot, now)) return;
  }
}

// False when there is nothing to send now, or no room for it.
bool Connection::ask(Slot& slot, std::uint64_t now_ns) {
  if (!may_ask() || !worker_.has_request(now_ns)) return false;
  slot.stream = wire_->open(slot);
  if (slot.stream == nullptr) return false;
  slot.request = worker_.take_request(now_ns, slot.since_ns);
  slot.sent_ns = now_ns;
  slot.status = 0;
  slot.bytes = slot.body_bytes = 0;
  slot.is_right = true;
  slot.learns = worker_.learns(slot.request);
  slot.learned.clear();
  ++busy_count_;
  ++asked_count_;
  wire_->send(*slot.stream, worker_.prepared(slot.request));
  return true;
}

void Connection::on_slot_free(Slot& slot, std::uint64_t now_ns) {
  if (ask(slot, now_ns) || busy_count_ > 0 || wire_ == nullptr) return;
  const std::uint64_t most = worker_.options().per_connection;
  if (most != 0 && asked_count_ >= most) wire_->drain();
}

void Connection::look(std::uint64_t then_ns) noexcept {
  if (handshake_ != nullptr && opened_ns_ < then_ns) {
    std::exchange(handshake_, nullptr)->close();
    fail_to_open(&Tally::timeouts);
  }
  if (wire_ == nullptr || is_given_up_) return;
  if (!wire_->is_ready()) {
    if (opened_ns_ >= then_ns) return;
    is_given_up_ = true;
    worker_.on_failure(&Tally::timeouts);
    worker_.on_lost();
    wire_->abort(Error(ErrorKind::Timeout));
    return;
  }
  for (int i = 0; i < slot_count_; ++i) {
    const Slot& slot = slots_[static_cast<std::size_t>(i)];
    if (slot.stream == nullptr || slot.sent_ns >= then_ns) continue;
    is_given_up_ = true;
    worker_.on_failure(&Tally::timeouts);
    wire_->abort(Error(ErrorKind::Timeout));
    return;
  }
  // A server that allowed fewer streams than there are slots may allow more by now.
  fill();
}

// --- one request

void Connection::Slot::on_head(http::Head& head, bool) {
  bytes += head.raw.size();
  if (head.status >= 200 || head.status == 101) status = head.status;
}

void Connection::Slot::on_data(Slice data) {
  const std::string_view text = data.text();
  bytes += text.size();
  if (learns) {
    learned.append(text);
  } else if (const std::string* wanted = connection->worker_.expected(request); wanted != nullptr && is_right) {
    is_right = text.size() <= wanted->size() - body_bytes &&
               std::memcmp(wanted->data() + body_bytes, text.data(), text.size()) == 0;
  }
  body_bytes += text.size();
  stream->credit(text.size());
}

void Connection::Slot::on_end(const http::Fields*) {
  Worker& worker = connection->worker_;
  const std::string* const wanted = worker.expected(request);
  if (wanted == nullptr) {
    if (learns) worker.learn(request, std::move(learned));
  } else {
    is_right = is_right && body_bytes == wanted->size() && (!learns || learned == *wanted);
  }
}

void Connection::Slot::on_close(Error why) noexcept {
  Connection& on = *connection;
  Worker& worker = on.worker_;
  stream = nullptr;
  --on.busy_count_;
  const std::uint64_t now = Worker::now_ns();
  if (!why) {
    ++on.answered_count_;
    worker.on_answer(status, now - since_ns, bytes, is_right);
  } else {
    if (is_malformation(why)) {
      on.note_malformed();
    } else if (!worker.is_over() && !on.is_given_up_) {
      worker.on_failure(on.answered_count_ == 0 && bytes == 0 ? &Tally::connect_errors : &Tally::broken);
    }
    worker.on_lost();
  }
  if (!worker.is_over()) on.on_slot_free(*this, now);
}

}  // namespace violet::load
