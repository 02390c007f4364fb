// Ends of one direction over the real network: tunnels, truncated answers, clients that leave behind what nobody reads.

#include "tests/support/client.h"
#include "tests/support/script.h"
#include "violet/server/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <sys/socket.h>

namespace violet::test {
namespace {

using namespace std::chrono_literals;

// Counts what comes, says how much it was once the peer has ended, and ends.
class CountingTunnel final : public Receiver {
 public:
  void on_head(http::Head&, bool) override {}
  void on_data(Slice data) override {
    size_ += data.size();
    stream_->credit(data.size());
  }
  void on_end(const http::Fields*) override {
    watch_.source->push(std::to_string(size_) + " bytes");
    watch_.source->end();
    watch_.source->wake();
  }
  void on_close(Error) noexcept override {}
  void accept(Exchange& exchange) {
    exchange.response().status = 101;
    exchange.response().fields.push(http::FieldId::Upgrade, "count");
    stream_ = exchange.accept_upgrade(*this, Body(SourcePtr(new PushSource(watch_))));
  }

 private:
  Stream* stream_ = nullptr;
  PushSource::Watch watch_;
  std::size_t size_ = 0;
};

class Ends final : public Service, BodySink {
 public:
  void serve(Exchange& exchange) override {
    const std::string_view path = exchange.request().path;
    if (path == "/tunnel") return tunnel_.accept(exchange);
    if (path == "/fail") {
      exchange.reply(Body(SourcePtr(new PatternSource(5000, 1000, Pull::Failed))));
      return;
    }
    // Takes the body and uses none of it.
    exchange.disable_deadline();
    exchange.read(*this);
  }
  std::atomic<int> error_count = 0;

 private:
  CountingTunnel tunnel_;  // the one that is asked for
  void on_body_data(Exchange&, Slice) override {}
  void on_body_end(Exchange&) override {}
  void on_body_error(Exchange&, Error) noexcept override { ++error_count; }
};

class HalfClose : public testing::Test {
 protected:
  void SetUp() override {
    const auto opened = server_.listen("http://127.0.0.1:0");
    ASSERT_TRUE(opened);
    ASSERT_TRUE(server_.start());
    client_ = Client(*opened);
  }
  void TearDown() override {
    server_.stop(1s);
    server_.wait();
  }
  Ends service_;
  Server server_{service_, {.loops = 1}};
  Client client_;
};

TEST_F(HalfClose, ATunnelAnswersAfterItsClientsEnd) {
  ASSERT_TRUE(client_.send("GET /tunnel HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: count\r\n\r\n"));
  EXPECT_EQ(client_.reply().status, 101);
  ASSERT_TRUE(client_.send(pattern(300'000)));
  client_.half_close();
  std::string said;
  for (std::string piece; !(piece = client_.read_some()).empty();) said += piece;
  EXPECT_EQ(said, "300000 bytes");
  EXPECT_TRUE(eventually([this] { return server_.connection_count() == 0; }));
}

TEST_F(HalfClose, AnHttp10AnswerThatFailsIsNoWholeAnswer) {
  ASSERT_TRUE(client_.send("GET /fail HTTP/1.0\r\n\r\n"));
  char bytes[8192];
  ssize_t n = 1;
  while (n > 0) n = ::recv(client_.descriptor(), bytes, sizeof bytes, 0);
  EXPECT_EQ(n, -1);
  EXPECT_EQ(errno, ECONNRESET);
}

TEST_F(HalfClose, AClientThatLeavesBehindAnUnreadBodyIsNoticed) {
  // No more than the system takes for us: its word of the close stands behind what it has not taken.
  ASSERT_TRUE(client_.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + pattern(90'000)));
  client_.close();
  EXPECT_TRUE(eventually([this] { return service_.error_count == 1; }));
  EXPECT_TRUE(eventually([this] { return server_.connection_count() == 0; }));
}

}  // namespace
}  // namespace violet::test
