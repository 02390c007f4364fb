#include "violet/server/worker.h"

#include "violet/base/log.h"
#include "violet/event/signal.h"
#include "violet/h2/message/upgrade.h"
#include "violet/net/socket.h"
#include "violet/tls/error.h"

#include <malloc.h>
#include <string>

namespace violet {
namespace {

constexpr std::uint64_t kCleanUpMs = 5'000;  // that tasks may take after the last connection has gone
constexpr std::uint64_t kCleanUpLookMs = 5;  // between two looks whether they have ended
constexpr std::uint64_t kTrimMs = 500;       // without a connection, until pools are emptied
constexpr std::uint64_t kCrowdMs = 500;      // without a handshake, until the heap of many is given back
constexpr std::size_t kHandshakeCrowd = 128;

// A visited session may leave the list.
template <class Session, class Visit>
void each(const List<Session, Session>& sessions, Visit&& visit) {
  for (Session* session = sessions.front(); session != nullptr;) {
    Session* const next = sessions.next(*session);
    visit(*session);
    session = next;
  }
}

// Free pages in the middle of the heap, too.
void give_back_heap() noexcept {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace

Worker::Worker(Server& server)
    : server_(server),
      loop_ref_(loop_.ref()),
      site_(loop_, server.service_, server.options_.limits),
      h1_(site_),
      h2_(site_, h1_) {
  site_.error_page = server.options_.error_page;
  site_.server_name = server.options_.server_name;
}

Worker::~Worker() {
  VIOLET_ASSERT(!thread_.joinable() && is_empty() && openings_.is_empty());
  for (const auto& port : ports_) port->listener().close();
  // Listeners die before the loop does, so their close callbacks have to run now.
  while (!ports_.empty() && !ports_.back()->listener().is_closed()) loop_.step(0);
}

Result<net::Endpoint> Worker::listen(const net::Endpoint& endpoint, const net::ListenOptions& options,
                                     const Entrance& entrance, const Worker* first, int socket) {
  auto port = std::make_unique<Port>(*this, entrance);
  if (socket >= 0) {
    VIOLET_TRY_VOID(port->listener().take(endpoint, socket));
  } else if (first != nullptr && endpoint.address.family == Address::Family::Unix) {
    VIOLET_TRY_VOID(port->listener().share(first->ports_[ports_.size()]->listener()));
  } else {
    VIOLET_TRY_VOID(port->listener().open(endpoint, options));
  }
  if (entrance.credentials != nullptr && tls_ == nullptr) tls_ = std::make_unique<tls::Shared>(loop_);
  ports_.push_back(std::move(port));
  return ports_.back()->listener().endpoint();
}

void Worker::watch(const std::vector<std::string>& files, tls::FileWatch::OnChange on_change) {
  watch_ = std::make_unique<tls::FileWatch>(loop_, files, std::move(on_change));
  for (const std::string& folder : watch_->unwatched()) {
    log(LogLevel::Warn, folder + " cannot be watched: new certificates there need a reload (SIGHUP)");
  }
}

void Worker::start() {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::run() {
  for (const auto& port : ports_) port->listener().start();
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
  for (const auto& port : ports_) port->listener().close();
  while (Opening* opening = openings_.front()) opening->abort(Error(ErrorKind::ShuttingDown));
  each(sessions_, [](h1::Session& session) { session.drain(); });
  each(http2_sessions_, [](h2::Session& session) { session.drain(); });
  end_if_empty();
}

void Worker::cut() noexcept {
  if (!site_.is_draining) begin_drain();
  each(sessions_, [](h1::Session& session) { session.abort(Error(ErrorKind::ShuttingDown)); });
  each(tunnels_, [](h1::Tunnel& tunnel) { tunnel.abort(Error(ErrorKind::ShuttingDown)); });
  each(http2_sessions_, [](h2::Session& session) { session.abort(Error(ErrorKind::ShuttingDown)); });
  end_if_empty();
}

void Worker::end_if_empty() noexcept {
  if (!site_.is_draining || !is_empty()) return;
  // A handler's shielded clean-up may go on after its client has left; it gets a while.
  const std::size_t spare_count = (h1_.has_spare_stream() ? 1u : 0u) + (h2_.has_spare_stream() ? 1u : 0u);
  if (site_.exchanges.used_count() > spare_count) {
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
  crowd_timer_.cancel();
  loop_.stop();
}

// Nobody has been here for a while: what the last burst needed goes back to the system.
void Worker::trim() noexcept {
  if (!is_empty()) return;
  h1_.trim();
  h2_.trim();
  site_.blocks.trim(0);
  give_back_heap();
}

// OpenSSL takes some 25 KB for a handshake. What a crowd of them leaves lies between what stays, where the heap would
// keep it resident.
void Worker::note_handshake() noexcept {
  if (++handshakes_untrimmed_ >= kHandshakeCrowd) loop_.timers().arm(crowd_timer_, loop_.now_ms() + kCrowdMs);
}

void Worker::trim_after_crowd() noexcept {
  handshakes_untrimmed_ = 0;
  give_back_heap();
}

// --- connections

Worker::Port::Port(Worker& worker, const Entrance& entrance)
    : worker_(worker), entrance_(entrance), listener_(worker.loop_, *this) {}

// What the newest certificates make; a reload since the last connection is taken up here. They were found good when
// they were read, so that only a lack of memory can keep the old ones.
tls::ServerContext* Worker::Port::context() {
  if (entrance_.credentials == nullptr) return nullptr;
  if (context_.get() == nullptr || generation_ != entrance_.credentials->generation()) {
    const tls::Credentials::Snapshot snapshot = entrance_.credentials->snapshot();
    if (auto made = tls::ServerContext::make(*entrance_.credentials, *snapshot.texts)) {
      context_ = std::move(*made);
      generation_ = snapshot.generation;
    } else {
      log(LogLevel::Error, listener_.endpoint().to_string() + ": " + made.error());
    }
  }
  return context_.get();
}

void Worker::Port::on_accept(int descriptor, const Address& peer) noexcept {
  Connection connection;
  net::Transport* const transport = worker_.accept(descriptor, peer, connection);
  if (transport == nullptr) return;
  if (entrance_.credentials == nullptr && !entrance_.expects_proxy) {
    worker_.open_session(*transport, connection, entrance_.protocol);
    return;
  }
  tls::ServerContext* const secure = context();
  if (secure == nullptr && entrance_.credentials != nullptr) {
    // Never plaintext instead.
    transport->close();
    worker_.on_connection_end();
    return;
  }
  auto* opening = new Opening(worker_.loop_, worker_.site_.limits, worker_, *transport, std::move(connection));
  worker_.openings_.push_back(*opening);
  opening->start({.expects_proxy = entrance_.expects_proxy,
                  .protocol = entrance_.protocol,
                  .shared = worker_.tls_.get(),
                  .context = secure});
}

// nullptr when the connection cannot be served; it is closed then.
net::Transport* Worker::accept(int descriptor, const Address& peer, Connection& connection) noexcept {
  server_.connection_count_.fetch_add(1, std::memory_order_relaxed);
  Result<net::SocketTransport*> transport = net::SocketTransport::open(loop_, descriptor);
  if (!transport) {
    server_.connection_count_.fetch_sub(1, std::memory_order_relaxed);
    log(LogLevel::Warn, "a connection was accepted but cannot be watched: " + message(transport.error()));
    return nullptr;
  }
  ++site_.counters.connections_opened;
  connection.peer = peer;
  connection.id = server_.next_connection_id_.fetch_add(1, std::memory_order_relaxed);
  return *transport;
}

// The one place where a protocol becomes a session. "": none was agreed on, so that the client's first bytes tell.
void Worker::open_session(net::Transport& transport, const Connection& connection, std::string_view protocol) noexcept {
  if (protocol == "h2") {
    add_http2(transport, connection).open();
    return;
  }
  h1::Session::Host& host = protocol.empty() ? static_cast<h1::Session::Host&>(*this) : only_http1_;
  auto* session = new h1::Session(h1_, host, transport, connection);
  sessions_.push_back(*session);
  session->open();
}

h2::Session& Worker::add_http2(net::Transport& transport, const Connection& connection) {
  auto* session = new h2::Session(h2_, *this, transport, connection);
  http2_sessions_.push_back(*session);
  return *session;
}

bool Worker::on_http2(h1::Session&, const h1::Http2Wish& wish) noexcept {
  // With TLS it has to be agreed on in the handshake (RFC 9113 §3.2).
  if (wish.connection.is_secure) return false;
  const char* const begin = wish.received.data();
  const h2::Session::Bytes received{begin, begin + wish.received.size(), &wish.owner};
  if (wish.request == nullptr) {
    add_http2(wish.transport, wish.connection).open(received);
    return true;
  }
  const auto settings = h2::decode_settings(wish.settings);
  if (!settings) return false;
  add_http2(wish.transport, wish.connection).open(*wish.request, *settings, received);
  return true;
}

void Worker::on_opened(Opening& opening, net::Transport& transport, const Connection& connection,
                       std::string_view protocol) noexcept {
  if (connection.is_secure) {
    ++site_.counters.handshakes;
    note_handshake();
  }
  open_session(transport, connection, protocol);
  delete &opening;
}

void Worker::on_not_opened(Opening& opening, Error why) noexcept {
  if (why.kind() == ErrorKind::Timeout) ++site_.counters.timeouts;
  if (why.kind() != ErrorKind::ShuttingDown) {
    ++site_.counters.handshake_errors;
    note_handshake();
    log_not_opened(opening, why);
  }
  delete &opening;
  on_connection_end();
}

// Whoever can connect can cause such a line, so there is one in a second at most.
void Worker::log_not_opened(const Opening& opening, Error why) noexcept {
  const std::int64_t now = loop_.wall_seconds();
  if (now == not_opened_logged_at_) {
    ++not_opened_unlogged_;
    return;
  }
  not_opened_logged_at_ = now;
  std::string text = "a connection from " + opening.connection().peer.to_string() + " was not opened: ";
  text += why.kind() == ErrorKind::Timeout ? "limit handshake_ms = " + std::to_string(site_.limits.handshake_ms)
                                           : tls::reason(why);
  if (not_opened_unlogged_ > 0) text += " (and " + std::to_string(not_opened_unlogged_) + " others before it)";
  not_opened_unlogged_ = 0;
  // Whoever only looks whether the port is open is not worth a line.
  const bool has_left = why.kind() == ErrorKind::Closed || tls::is_truncation(why);
  log(has_left ? LogLevel::Debug : LogLevel::Info, text);
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
  const bool was_handed_over = session.was_handed_over();
  session.unlink();
  delete &session;
  if (!was_handed_over) on_connection_end();
}

void Worker::on_tunnel_closed(h1::Tunnel& tunnel) noexcept {
  tunnel.ListNode<h1::Tunnel>::unlink();
  delete &tunnel;
  on_connection_end();
}

void Worker::on_session_closed(h2::Session& session) noexcept {
  session.unlink();
  delete &session;
  on_connection_end();
}

void Worker::on_connection_end() noexcept {
  ++site_.counters.connections_closed;
  server_.connection_count_.fetch_sub(1, std::memory_order_relaxed);
  for (const auto& port : ports_) port->listener().resume();
  if (is_empty() && !site_.is_draining) {
    loop_.timers().arm(trim_timer_, loop_.now_ms() + kTrimMs);
  }
  end_if_empty();
}

}  // namespace violet
