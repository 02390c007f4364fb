#include "violet/server/worker.h"

#include "violet/base/log.h"
#include "violet/net/socket.h"

#include <csignal>
#include <malloc.h>
#include <pthread.h>
#include <string>

namespace violet {
namespace {

constexpr std::uint64_t kCleanUpMs = 5'000;  // that tasks may take after the last connection has gone
constexpr std::uint64_t kCleanUpLookMs = 5;  // between two looks whether they have ended
constexpr std::uint64_t kTrimMs = 500;       // without a connection, until pools are emptied

}  // namespace

Worker::Worker(Server& server)
    : server_(server), loop_ref_(loop_.ref()), site_(loop_, server.service_, server.options_.limits), h1_(site_) {
  site_.error_page = server.options_.error_page;
  site_.server_name = server.options_.server_name;
}

Worker::~Worker() {
  VIOLET_ASSERT(!thread_.joinable() && sessions_.is_empty());
  for (const auto& listener : listeners_) listener->close();
  // Listeners die before the loop does, so their close callbacks have to run now.
  while (!listeners_.empty() && !listeners_.back()->is_closed()) loop_.step(0);
}

Result<net::Endpoint> Worker::listen(const net::Endpoint& endpoint, const net::ListenOptions& options,
                                     const Worker* first) {
  auto listener = std::make_unique<net::Listener>(loop_, *this);
  if (first != nullptr && endpoint.address.family == Address::Family::Unix) {
    VIOLET_TRY_VOID(listener->share(*first->listeners_[listeners_.size()]));
  } else {
    VIOLET_TRY_VOID(listener->open(endpoint, options));
  }
  listeners_.push_back(std::move(listener));
  return listeners_.back()->endpoint();
}

void Worker::start() {
  // Signals are for the thread that runs Server::run().
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::run() {
  for (const auto& listener : listeners_) listener->start();
  loop_.run();
  server_.on_worker_end();
}

void Worker::drain(std::chrono::milliseconds delay, std::chrono::milliseconds deadline) {
  loop_ref_.post([this, delay, deadline] {
    if (!site_.is_draining && !drain_timer_.is_armed()) {
      loop_.timers().arm_after(drain_timer_, static_cast<std::uint64_t>(delay.count()));
    }
    const std::uint64_t due = loop_.now_ms() + static_cast<std::uint64_t>((delay + deadline).count());
    if (!cut_timer_.is_armed() || due < cut_timer_.due_ms()) loop_.timers().arm(cut_timer_, due);
  });
}

void Worker::begin_drain() noexcept {
  site_.begin_drain();
  for (const auto& listener : listeners_) listener->close();
  for (h1::Session* session = sessions_.front(); session != nullptr;) {
    h1::Session* next = sessions_.next(*session);
    session->drain();
    session = next;
  }
  end_if_empty();
}

void Worker::cut() noexcept {
  if (!site_.is_draining) begin_drain();
  for (h1::Session* session = sessions_.front(); session != nullptr; session = sessions_.next(*session)) {
    session->abort(Error(ErrorKind::ShuttingDown));
  }
  end_if_empty();
}

void Worker::end_if_empty() noexcept {
  if (!site_.is_draining || !sessions_.is_empty()) return;
  // A handler's shielded clean-up may go on after its client has left; it gets a while.
  if (site_.exchanges.used_count() > (h1_.has_spare_stream() ? 1u : 0u)) {
    if (give_up_ms_ == 0) give_up_ms_ = loop_.now_ms() + kCleanUpMs;
    if (loop_.now_ms() < give_up_ms_) {
      loop_.timers().arm_after(end_timer_, kCleanUpLookMs);
      return;
    }
    log(LogLevel::Warn, "a handler's task did not end with its client; it is left behind");
  }
  drain_timer_.cancel();
  cut_timer_.cancel();
  end_timer_.cancel();
  trim_timer_.cancel();
  loop_.stop();
}

// Nobody has been here for a while: what the last burst needed goes back to the system.
void Worker::trim() noexcept {
  if (!sessions_.is_empty()) return;
  h1_.trim();
  site_.blocks.trim(0);
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

void Worker::on_accept(int descriptor, const Address& peer) noexcept {
  server_.connection_count_.fetch_add(1, std::memory_order_relaxed);
  Result<net::SocketTransport*> transport = net::SocketTransport::open(loop_, descriptor);
  if (!transport) {
    server_.connection_count_.fetch_sub(1, std::memory_order_relaxed);
    log(LogLevel::Warn, "a connection was accepted but cannot be watched: " + message(transport.error()));
    return;
  }
  ++site_.counters.connections_opened;
  Connection connection;
  connection.peer = peer;
  connection.id = server_.next_connection_id_.fetch_add(1, std::memory_order_relaxed);
  auto* session = new h1::Session(h1_, *this, **transport, connection);
  sessions_.push_back(*session);
  session->open();
}

// All loops share one count; each asks before each connection, so they can pass the limit by one each at most.
bool Worker::has_room() noexcept {
  return server_.connection_count_.load(std::memory_order_relaxed) < server_.connections_max_;
}

void Worker::on_accept_paused(Error why) noexcept {
  if (site_.counters.accept_pauses++ % 1000 != 0) return;
  log(LogLevel::Warn, why.kind() == ErrorKind::Busy
                          ? "accepting pauses: connections_max = " + std::to_string(server_.connections_max_)
                          : "accepting pauses: " + message(why));
}

void Worker::on_session_closed(h1::Session& session) noexcept {
  session.unlink();
  delete &session;
  ++site_.counters.connections_closed;
  server_.connection_count_.fetch_sub(1, std::memory_order_relaxed);
  for (const auto& listener : listeners_) listener->resume();
  if (sessions_.is_empty() && !site_.is_draining) loop_.timers().arm(trim_timer_, loop_.now_ms() + kTrimMs);
  end_if_empty();
}

}  // namespace violet
