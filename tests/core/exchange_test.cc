// Exchanges and sites beyond what the wires' own tests reach: limits as a table, error pages, reply hooks, reuse.

#include "violet/core/exchange.h"

#include "tests/support/h1_wire.h"
#include "tests/support/reply.h"
#include "violet/base/log.h"

#include <gtest/gtest.h>

#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace violet::test {
namespace {

const std::string kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

TEST(Limits, TheTableHoldsEveryLimitOnce) {
  const Limits limits;
  std::set<std::string_view> names;
  int id = 0;
  for (const LimitRow& row : limit_table()) {
    ++id;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(name(static_cast<LimitId>(id)), row.name);
    EXPECT_EQ(value(limits, static_cast<LimitId>(id)), row.value);
    EXPECT_FALSE(row.unit.empty() || row.stops.empty());
    EXPECT_NE(limits_markdown().find("`" + std::string(row.name) + "`"), std::string::npos);
  }
  EXPECT_EQ(sizeof(Limits), names.size() * sizeof(std::uint64_t));
  EXPECT_EQ(name(LimitId::None), "");
}

class Page final : public ErrorPage {
 public:
  Body render(Exchange& exchange, Error why, const std::exception_ptr& exception, std::string_view id) override {
    if (throws) throw std::runtime_error("the page itself");
    ++count;
    last = why;
    has_exception = exception != nullptr;
    has_id = !id.empty();
    detail = exchange.refusal_detail();
    exchange.response().fields.push(http::FieldId::ContentType, "text/x-page");
    return Body(Slice::literal("page"));
  }
  int count = 0;
  bool throws = false;
  Error last;
  bool has_exception = false;
  bool has_id = false;
  std::string detail;
};

TEST(Exchange, EveryAnswerOfTheServersOwnGoesThroughTheErrorPage) {
  set_log_level(LogLevel::Off);
  Page page;
  H1Wire wire;
  wire.site.error_page = &page;
  wire.service.handler = [](Exchange& exchange) {
    if (exchange.request().path == "/throw") throw std::runtime_error("x");
    EXPECT_TRUE(exchange.response().fields.add("X-Dropped", "1"));
    exchange.refuse(Error(ErrorKind::NotFound), "no such thing", http::Field{.name = "Retry-After", .value = "5"});
  };
  Reply reply = reply_of(wire.ask(kGet));
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.body, "page");
  EXPECT_EQ(reply.field("content-type"), "text/x-page");
  EXPECT_EQ(reply.field("retry-after"), "5");
  EXPECT_FALSE(reply.has("x-dropped"));
  EXPECT_EQ(page.detail, "no such thing");
  reply = reply_of(wire.ask("GET /throw HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(reply.status, 500);
  EXPECT_TRUE(page.has_exception && page.has_id);
  reply = reply_of(wire.ask("bad\r\n\r\n"));
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(page.count, 3);
  set_log_level(LogLevel::Info);
}

TEST(Exchange, AnErrorPageThatThrowsCostsNoMoreThanItsConnection) {
  set_log_level(LogLevel::Off);
  for (const char* bytes : {"bad\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                            "POST / HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 1\r\n\r\n"}) {
    Page page;
    page.throws = true;
    H1Wire wire;
    wire.site.error_page = &page;
    wire.service.handler = [](Exchange& exchange) { exchange.refuse(Error(ErrorKind::NotFound)); };
    wire.send(bytes);
    EXPECT_TRUE(wire.is_gone()) << bytes;
  }
  set_log_level(LogLevel::Info);
}

class Adding final : public ReplyHook {
 public:
  explicit Adding(std::string text) : text_(std::move(text)) {}
  void on_reply(Exchange&, http::Head& head, Body& body) override {
    EXPECT_TRUE(head.fields.add("X-Hook", text_));
    body.chain().append(Slice::of(text_));
  }

 private:
  std::string text_;
};

TEST(Exchange, ReplyHooksSeeEachAnswerLastToFirst) {
  Adding first("1");
  Adding second("2");
  ReplyHook* hooks[] = {&first, &second};
  H1Wire wire;
  wire.service.handler = [&](Exchange& exchange) {
    exchange.match.reply_hooks = hooks;
    exchange.reply(Slice::literal("body"));
  };
  const Reply reply = reply_of(wire.ask(kGet));
  EXPECT_EQ(reply.body, "body21");
  EXPECT_EQ(reply.field("content-length"), "6");
}

TEST(Exchange, AHeldOneOutlivesItsStreamAndIsGivenBackOnce) {
  H1Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  wire.send(kGet);
  Ref<Exchange> second = wire.service.held[0];
  wire.wire->break_off();
  wire.settle();
  const std::size_t used = wire.site.exchanges.used_count();
  wire.service.held.clear();
  EXPECT_EQ(wire.site.exchanges.used_count(), used);
  EXPECT_EQ(second->request().path, "/x");
  EXPECT_EQ(second->connection().id, 0u) << "the connection is gone";
  second = {};
  EXPECT_EQ(wire.site.exchanges.used_count(), used - 1);
}

TEST(Exchange, ABodyWaiterHearsAtOnceWhenThereIsNoBody) {
  H1Wire wire;
  wire.service.handler = Echo::serve;
  EXPECT_EQ(reply_of(wire.ask(kGet)).body, "");
  EXPECT_EQ(reply_of(wire.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")).body, "");
}

TEST(Exchange, ASinkMayAnswerAbortOrThrowAtAnyPiece) {
  set_log_level(LogLevel::Off);
  for (int way = 0; way < 3; ++way) {
    for (std::size_t at = 1; at <= 4; ++at) {
      H1Wire wire;
      Sink sink;
      sink.on_piece = [&](Exchange& exchange, std::string_view) {
        if (sink.piece_count != at) return;
        if (way == 0) exchange.reply(Slice::literal("enough"));
        if (way == 1) exchange.abort(Error(ErrorKind::Cancelled));
        if (way == 2) throw std::runtime_error("x");
      };
      sink.on_end = [](Exchange& exchange) { exchange.reply(Slice::literal("end")); };
      wire.service.handler = [&](Exchange& exchange) { exchange.read(sink); };
      wire.send(
          "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
          "chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\nc\r\n1\r\nd\r\n0\r\n\r\n");
      const std::string bytes = wire.wire->take();
      if (way == 0) {
        EXPECT_EQ(reply_of(bytes).body, "enough");
        EXPECT_EQ(sink.end_count, 1);
      } else if (way == 1) {
        EXPECT_EQ(bytes, "");
        EXPECT_TRUE(wire.is_gone());
      } else {
        EXPECT_EQ(reply_of(bytes).status, 500);
      }
      EXPECT_LE(sink.end_count + sink.error_count, 1);
    }
  }
  set_log_level(LogLevel::Info);
}

TEST(Exchange, AnUpgradeTellsItsHooks) {
  struct Hook final : CancelHook {
    void on_cancel(Error why) noexcept override { heard.push_back(why); }
    std::vector<Error> heard;
  } hook;
  struct Nobody final : Receiver {
    void on_head(http::Head&, bool) override {}
    void on_data(Slice) override {}
    void on_end(const http::Fields*) override {}
    void on_close(Error) noexcept override {}
  } nobody;
  H1Wire wire;
  wire.service.handler = [&](Exchange& exchange) {
    exchange.add_cancel_hook(hook);
    exchange.response().status = 101;
    EXPECT_NE(exchange.accept_upgrade(nobody, Body()), nullptr);
  };
  wire.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n");
  ASSERT_EQ(hook.heard.size(), 1u);
  EXPECT_FALSE(hook.heard[0]) << "nothing went wrong";
}

}  // namespace
}  // namespace violet::test
