#include "violet/ws/client/stream.h"

#include <cerrno>

namespace violet::ws {
namespace {

constexpr std::size_t kOwedMax = 64 * 1024;   // received and not used: beyond it reading pauses
constexpr std::size_t kFlushMax = 64 * 1024;  // asked of the source before the transport has taken the last

}  // namespace

ClientStream::ClientStream(Loop& loop, net::Transport& transport, const Connection& connection) noexcept
    : loop_(loop), buffers_(loop.local<LoopBuffers>()), transport_(&transport), connection_(connection) {
  transport.set_owner(*this);
}

void ClientStream::open(Receiver& receiver, Body&& body, std::string_view early) {
  receiver_ = &receiver;
  source_ = body.take_source();
  if (!early.empty()) early_ = Slice::of(std::string(early));
  if (source_ != nullptr) source_->attach(this);
  later();
}

Address ClientStream::local_address() const noexcept { return is_open() ? transport_->local() : Address{}; }

// --- calls of the application

void ClientStream::wake() {
  if (!is_source_waiting_) return;
  is_source_waiting_ = false;
  if (!is_in_turn_) later();
}

void ClientStream::credit(std::size_t n) {
  const bool was_full = owed_bytes_ >= kOwedMax;
  owed_bytes_ -= std::min(n, owed_bytes_);
  if (was_full && owed_bytes_ < kOwedMax && !is_in_turn_) later();
}

void ClientStream::reset(Error why) {
  if (is_open()) close(why);
}

// --- events of the transport

void ClientStream::on_readable() noexcept {
  is_in_turn_ = true;
  read();
  is_in_turn_ = false;
  settle();
}

void ClientStream::on_writable() noexcept {
  is_write_blocked_ = false;
  settle();
}

void ClientStream::on_broken() noexcept { close(Error(ErrorKind::Closed)); }

void ClientStream::read() noexcept {
  char* to = buffers_.input.lend();
  const ssize_t n = transport_->read(to, buffers_.input.room());
  if (n == 0) {
    take_end();
  } else if (n > 0) {
    buffers_.input.commit(static_cast<std::size_t>(n));
    owed_bytes_ += static_cast<std::size_t>(n);
    receiver_->on_data(Slice(buffers_.input.owner(), to, static_cast<std::size_t>(n)));
  } else if (n != -EAGAIN) {
    close(Error(ErrorKind::System, static_cast<std::int32_t>(-n)));
  }
}

void ClientStream::take_end() noexcept {
  if (std::exchange(is_input_ended_, true)) return;
  receiver_->on_end(nullptr);
}

// --- writing

void ClientStream::pull() {
  while (source_ != nullptr && !is_source_waiting_ && !is_write_blocked_ && is_open()) {
    if (output_ == nullptr) output_ = &buffers_.take_output();
    if (output_->size() >= kFlushMax) {
      flush();
      continue;
    }
    Chain chain;
    const Pull verdict = source_->pull(chain, kFlushMax - output_->size());
    while (!chain.is_empty()) output_->append(chain.pop_front());
    if (verdict == Pull::Wait) is_source_waiting_ = true;
    if (verdict == Pull::End) source_.reset();
    if (verdict == Pull::Failed) close(Error(ErrorKind::Handler));
  }
}

void ClientStream::flush() noexcept {
  if (output_ == nullptr || is_write_blocked_ || !is_open()) return;
  std::uint64_t written = 0;
  switch (output_->flush(*transport_, written)) {
    case net::Output::Flushed::All: buffers_.give_empty_output(*std::exchange(output_, nullptr)); break;
    case net::Output::Flushed::Blocked: is_write_blocked_ = true; break;
    case net::Output::Flushed::Failed: close(output_->error()); break;
  }
}

// Everything that follows from a change; at the end of each turn that has brought one.
void ClientStream::settle() noexcept {
  if (is_open()) {
    is_in_turn_ = true;
    if (!early_.is_empty()) {
      owed_bytes_ += early_.size();
      receiver_->on_data(std::exchange(early_, Slice()));
    }
    pull();
    flush();
    is_in_turn_ = false;
  }
  if (is_open() && source_ == nullptr && output_ == nullptr && !std::exchange(is_output_ended_, true)) {
    transport_->shutdown();
  }
  if (is_open() && is_output_ended_ && is_input_ended_) close({});
  if (is_open()) {
    transport_->want(!is_input_ended_ && owed_bytes_ < kOwedMax, is_write_blocked_);
    return;
  }
  turn_end_.unlink();
  if (source_ != nullptr) source_->attach(nullptr);
  receiver_->on_close(why_);
  delete this;
}

void ClientStream::close(Error why) noexcept {
  if (!is_open()) return;
  why_ = why;
  std::exchange(transport_, nullptr)->close();
  if (output_ != nullptr) buffers_.give_output(*std::exchange(output_, nullptr));
  later();
}

}  // namespace violet::ws
