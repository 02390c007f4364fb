#include "load/engine/wire.h"

#include "load/engine/socket_wire.h"

#include <algorithm>

namespace violet::load {
namespace {

class H1Wire final : public Wire, h1::client::Session::Host {
 public:
  H1Wire(WireShared& shared, Owner& owner, net::Transport& transport)
      : owner_(owner), session_(new h1::client::Session(shared.h1, *this, transport, violet::Connection())) {
    session_->open();
  }

  Stream* open(Receiver& receiver) override { return session_->open_stream(receiver); }
  void send(Stream& stream, const Prepared& prepared) override {
    static_cast<h1::client::Stream&>(stream).start_prepared(prepared.request.bytes, prepared.request.method);
  }
  [[nodiscard]] bool is_leaving() const noexcept override { return session_->is_closing(); }
  void drain() noexcept override { session_->drain(); }
  void abort(Error why) noexcept override { session_->abort(why); }

 private:
  void on_session_closed(h1::client::Session& session, Error why) noexcept override {
    delete &session;
    owner_.on_wire_closed(why);
  }

  Owner& owner_;
  h1::client::Session* session_;
};

class H2Wire final : public Wire, h2::Session::Host {
 public:
  H2Wire(WireShared& shared, Owner& owner, net::Transport& transport)
      : owner_(owner), session_(new h2::Session(shared.h2, *this, transport, violet::Connection(), h2::Role::Client)) {
    session_->open();
  }

  Stream* open(Receiver& receiver) override { return session_->request(receiver); }
  void send(Stream& stream, const Prepared& prepared) override {
    const std::string& body = prepared.request.body;
    stream.start(prepared.head, body.empty() ? Body() : Body(Slice::borrowed(body)));
  }
  [[nodiscard]] bool is_leaving() const noexcept override { return session_->is_leaving(); }
  void drain() noexcept override { session_->drain(); }
  void abort(Error why) noexcept override { session_->abort(why); }

 private:
  void on_session_closed(h2::Session& session) noexcept override {
    delete &session;
    owner_.on_wire_closed(Error(ErrorKind::Closed));
  }

  Owner& owner_;
  h2::Session* session_;
};

ws::Settings socket_settings(const Options& options, const Plan& plan) {
  ws::Options wanted;
  wanted.message_bytes_max = ~std::uint64_t{0} >> 1;
  wanted.ping_ms = 0;
  // All that may be in flight has room.
  std::uint64_t most = std::uint64_t{1} << 20;
  for (const Request& request : plan.requests) {
    most = std::max(most, static_cast<std::uint64_t>(options.depth) * (request.body.size() + ws::kFrameHeadMax) + 1);
  }
  wanted.backlog_bytes_max = most;
  return ws::Settings(wanted, Limits());
}

}  // namespace

WireShared::WireShared(Loop& on, const Limits& within, const Options& options, const Plan& plan)
    : limits(within), protocol(options.protocol), loop(&on), h1(on, within, buffers), h2(on, limits, buffers) {
  if (!plan.is_socket) return;
  handshake = &plan.requests.front().bytes;
  socket_settings.emplace(load::socket_settings(options, plan));
}

// Names and values were checked when the plan was made; the plan outlives all heads.
Prepared::Prepared(const Request& of) : request(of) {
  head.method_text = of.method_text;
  head.method = of.method;
  head.scheme = of.scheme;
  head.authority = of.authority;
  head.target = of.target;
  head.path = std::string_view(of.target).substr(0, of.target.find('?'));
  if (head.path.size() < of.target.size()) head.query = std::string_view(of.target).substr(head.path.size() + 1);
  for (const auto& [name, value] : of.fields) {
    head.fields.push({.name = name, .value = value, .id = http::find_field(name)});
  }
}

std::unique_ptr<Wire> make_wire(WireShared& shared, Wire::Owner& owner, net::Transport& transport) {
  if (shared.handshake != nullptr) return std::make_unique<SocketWire>(shared, owner, transport);
  if (shared.protocol == Protocol::Http2) return std::make_unique<H2Wire>(shared, owner, transport);
  return std::make_unique<H1Wire>(shared, owner, transport);
}

}  // namespace violet::load
