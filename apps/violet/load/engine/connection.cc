#include "load/engine/connection.h"

#include "load/engine/worker.h"
#include <violet/net/io/connect.h>

#include <cstring>

namespace violet::load {
namespace {

constexpr std::uint64_t kAgainMs = 10;  // before a connection that did not come about is tried again

}  // namespace

Connection::Connection(Worker& worker)
    : worker_(worker),
      slots_(std::make_unique<Slot[]>(static_cast<std::size_t>(worker.options().pipeline))),
      slot_count_(worker.options().pipeline) {
  for (int i = 0; i < slot_count_; ++i) slots_[static_cast<std::size_t>(i)].connection = this;
}

Connection::~Connection() { VIOLET_ASSERT(session_ == nullptr); }

void Connection::open() noexcept {
  if (worker_.is_over()) return;
  const Result<net::SocketTransport*> transport = net::connect(worker_.loop(), worker_.plan().address);
  if (!transport) {
    worker_.on_failure(&Tally::connect_errors);
    worker_.on_lost();
    if (worker_.is_over()) return;
    worker_.loop().timers().arm_after(again_, kAgainMs);
    return;
  }
  ++worker_.counts().connects;
  asked_count_ = answered_count_ = 0;
  is_given_up_ = false;
  session_ = new h1::client::Session(worker_.h1(), *this, **transport, violet::Connection());
  session_->open();
  fill();
}

void Connection::close() noexcept {
  again_.cancel();
  if (session_ != nullptr) session_->abort(Error(ErrorKind::ShuttingDown));
}

bool Connection::may_ask() const noexcept {
  const std::uint64_t most = worker_.options().per_connection;
  return session_ != nullptr && session_->can_open() && !worker_.is_over() && (most == 0 || asked_count_ < most);
}

void Connection::fill() {
  if (busy_count_ == slot_count_ || !may_ask()) return;
  const std::uint64_t now = Worker::now_ns();
  for (int i = 0; i < slot_count_; ++i) {
    Slot& slot = slots_[static_cast<std::size_t>(i)];
    if (slot.stream == nullptr && !(may_ask() && ask(slot, now))) return;
  }
}

// False when there is nothing to send now.
bool Connection::ask(Slot& slot, std::uint64_t now_ns) {
  if (!worker_.take_request(now_ns, slot.request, slot.since_ns)) return false;
  slot.stream = session_->open_stream(slot);
  slot.sent_ns = now_ns;
  slot.status = 0;
  slot.bytes = slot.body_bytes = 0;
  slot.is_right = true;
  slot.learns = worker_.learns(slot.request);
  slot.learned.clear();
  ++busy_count_;
  ++asked_count_;
  const Request& request = worker_.plan().requests[slot.request];
  slot.stream->start_prepared(request.bytes, request.method);
  return true;
}

void Connection::on_slot_free(std::uint64_t now_ns) {
  --busy_count_;
  ++answered_count_;
  if (may_ask()) {
    // The slot that has just become free is the first free one only without pipelining.
    for (int i = 0; i < slot_count_; ++i) {
      Slot& slot = slots_[static_cast<std::size_t>(i)];
      if (slot.stream != nullptr) continue;
      if (!may_ask() || !ask(slot, now_ns)) return;
    }
  } else if (busy_count_ == 0 && session_ != nullptr && worker_.options().per_connection != 0 &&
             asked_count_ >= worker_.options().per_connection) {
    session_->drain();
  }
}

void Connection::look(std::uint64_t then_ns) noexcept {
  if (session_ == nullptr || is_given_up_) return;
  for (int i = 0; i < slot_count_; ++i) {
    const Slot& slot = slots_[static_cast<std::size_t>(i)];
    if (slot.stream == nullptr || slot.sent_ns >= then_ns) continue;
    is_given_up_ = true;
    worker_.on_failure(&Tally::timeouts);
    session_->abort(Error(ErrorKind::Timeout));
    return;
  }
}

void Connection::on_session_closed(h1::client::Session& session, Error why) noexcept {
  // The client parses strictly: what it refuses is no HTTP, or more of it than was asked for.
  if (why.kind() == ErrorKind::Protocol || why.kind() == ErrorKind::TooLarge) worker_.on_failure(&Tally::malformed);
  delete &session;
  session_ = nullptr;
  if (worker_.is_over()) return;
  if (answered_count_ == 0) {
    worker_.loop().timers().arm_after(again_, kAgainMs);
  } else {
    open();
  }
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
  Worker& worker = connection->worker_;
  stream = nullptr;
  if (!why) {
    const std::uint64_t now = Worker::now_ns();
    worker.on_answer(status, now - since_ns, bytes, is_right);
    connection->on_slot_free(now);
    return;
  }
  --connection->busy_count_;
  // What is no HTTP, and who was given up, has been counted with the connection.
  const bool is_counted =
      connection->is_given_up_ || why.kind() == ErrorKind::Protocol || why.kind() == ErrorKind::TooLarge;
  if (!worker.is_over() && !is_counted) {
    worker.on_failure(connection->answered_count_ == 0 && bytes == 0 ? &Tally::connect_errors : &Tally::broken);
  }
  worker.on_lost();
}

}  // namespace violet::load
