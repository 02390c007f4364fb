// Runs over HTTP/2, against a server's session on a listener.

#include "load/engine/run.h"
#include "tests/support/script.h"
#include "violet/core/site.h"
#include "violet/h2/session.h"
#include "violet/net/io/buffers.h"
#include "violet/net/listener.h"
#include "violet/net/socket.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace violet::load {
namespace {

class H2Server final : net::Listener::Acceptor, h2::Session::Host {
 public:
  explicit H2Server(const Limits& limits = {}) : site_(loop_, service_, limits), shared_(site_, buffers_) {
    service_.handler = [](Exchange& exchange) {
      if (exchange.has_body()) {
        test::Echo::serve(exchange);
      } else {
        exchange.reply(Slice::literal("hello"));
      }
    };
    net::Endpoint endpoint = *net::Endpoint::parse("http://127.0.0.1:0");
    EXPECT_TRUE(listener_.open(endpoint, {}));
    url_ = listener_.endpoint().to_string();
    listener_.start();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~H2Server() {
    loop_.post([this] {
      listener_.close();
      for (h2::Session* session = sessions_.front(); session != nullptr; session = sessions_.next(*session)) {
        session->abort(Error(ErrorKind::ShuttingDown));
      }
      loop_.stop();
    });
    thread_.join();
    while (!listener_.is_closed() || !sessions_.is_empty()) loop_.step(0);
  }
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  void on_accept(int descriptor, const Address& peer) noexcept override {
    const auto transport = net::SocketTransport::open(loop_, descriptor);
    Connection connection;
    connection.peer = peer;
    connection.version = http::Version::Http2;
    auto* session = new h2::Session(shared_, *this, **transport, connection);
    sessions_.push_back(*session);
    session->open();
  }
  bool has_room() noexcept override { return true; }
  void on_accept_paused(Error) noexcept override {}
  void on_session_closed(h2::Session& session) noexcept override {
    session.unlink();
    delete &session;
  }

  Loop loop_;
  test::ScriptService service_;
  Site site_;
  net::Buffers buffers_;
  h2::Shared shared_;
  net::Listener listener_{loop_, *this};
  List<h2::Session, h2::Session> sessions_;
  std::string url_;
  std::thread thread_;
};

Result run_with(Options options, const std::string& url) {
  options.url = url;
  options.protocol = Protocol::Http2;
  options.is_quiet = true;
  const auto plan = make_plan(options);
  EXPECT_TRUE(plan);
  return run(options, *plan, 0);
}

TEST(LoadH2, StreamsAreAllAnswered) {
  H2Server server;
  const Result result =
      run_with({.connections = 3, .threads = 2, .depth = 16, .count = 3000, .verifies = true}, server.url() + "/?a=1");
  EXPECT_EQ(result.tally.answers, 3000u);
  EXPECT_EQ(result.tally.status[2], 3000u);
  EXPECT_EQ(result.tally.failure_count(), 0u);
}

TEST(LoadH2, BodiesGoBothWays) {
  H2Server server;
  Options options{.body = std::string(200'000, 'x'),
                  .connections = 2,
                  .depth = 4,
                  .count = 60,
                  .verifies = true,
                  .has_expected = true};
  options.expected = options.body;
  const Result result = run_with(options, server.url() + "/");
  EXPECT_EQ(result.tally.answers, 60u);
  EXPECT_EQ(result.tally.failure_count(), 0u);
}

// More slots than the server allows streams: what there is room for goes on.
TEST(LoadH2, AServerThatAllowsFewerStreamsIsHeeded) {
  Limits limits;
  limits.h2_streams_max = 3;
  H2Server server(limits);
  const Result result = run_with({.connections = 1, .depth = 10, .count = 500}, server.url() + "/");
  EXPECT_EQ(result.tally.answers, 500u);
  EXPECT_LE(result.tally.failure_count(), 7u);  // those that were sent before its settings had come
}

TEST(LoadH2, ConnectionsAreMadeAnewAfterTheirShare) {
  H2Server server;
  const Result result =
      run_with({.connections = 1, .depth = 4, .per_connection = 20, .count = 100}, server.url() + "/");
  EXPECT_EQ(result.tally.answers, 100u);
  EXPECT_EQ(result.tally.connects, 5u);
  EXPECT_EQ(result.tally.failure_count(), 0u);
}

}  // namespace
}  // namespace violet::load
