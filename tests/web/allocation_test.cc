// What a request takes from the heap once everything is warm: nothing.

#include "tests/support/counting_new.h"
#include "tests/web/fake_wire.h"
#include "violet/data/rule/checked.h"
#include "violet/event/wait.h"
#include "violet/web/content/json.h"
#include "violet/web/input/body.h"
#include "violet/web/input/fields.h"
#include "violet/web/input/path.h"
#include "violet/web/input/query.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace violet::web {
namespace {

struct Sum {
  int a;
  int b;
};

class Allocation : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  }

  // Allocations of one warm request, sent ten times; the body is in a buffer made before.
  std::size_t count(FakeRequest request) {
    const Loop::Scope scope(server_.loop);
    Site& site = server_.site();
    StringBuffer* body = StringBuffer::make(request.body.value_or(""));
    std::size_t before = 0;
    for (int i = 0; i < 20; ++i) {
      if (i == 10) before = test::allocation_count();
      FakeStream stream(server_.connection);
      stream.keeps_answer = false;
      Exchange& exchange = site.exchanges.open(stream);
      http::Head& head = exchange.request();
      head.method = request.method;
      head.method_text = http::name(request.method);
      head.target = request.target;
      head.raw = request.target;
      for (const auto& [name, value] : request.fields) {
        head.fields.push({.name = name, .value = value, .id = http::find_field(name)});
      }
      EXPECT_TRUE(http::split_target(head));
      exchange.on_head(head, request.body.has_value());
      if (request.body) {
        exchange.on_data(Slice(*body, body->text().data(), body->text().size()));
        exchange.on_end(nullptr);
      }
      for (int turn = 0; turn < 100 && stream.answer.status == 0; ++turn) server_.loop.step(1);
      EXPECT_EQ(stream.answer.status, 200);
      exchange.on_close({});
    }
    const std::size_t made = test::allocation_count() - before;
    body->release();
    return made;
  }

  FakeServer server_;
};

TEST_F(Allocation, SynchronousHandlers) {
  server_.router.get("/text", [] { return "hello"; });
  server_.router.get("/sum", [](Query<Sum> sum) { return sum->a + sum->b; });
  server_.router.get("/users/{id}/{rest...}", [](Path<int> id, Path<std::string_view> rest, Header<"Host"> host) {
    return *id + static_cast<int>(rest->size() + host->size());
  });
  server_.router.get("/reply", [] { return Reply("page").field("X-Own", "1").content_type("text/html"); });
  server_.router.get("/status", [] { return Status::Ok; });
  EXPECT_EQ(count({.target = "/text"}), 0u);
  EXPECT_EQ(count({.target = "/sum?a=13&b=42"}), 0u);
  EXPECT_EQ(count({.target = "/users/7/a/b/c", .fields = {{"Host", "example.com"}}}), 0u);
  EXPECT_EQ(count({.target = "/users/7/a%20b/c", .fields = {{"Host", "example.com"}}}), 0u);
  EXPECT_EQ(count({.target = "/reply"}), 0u);
  EXPECT_EQ(count({.target = "/status"}), 0u);
}

struct Row {
  std::int64_t id = 7;
  std::string_view name = "a name that is longer than a short string";
  double price = 2.5;
};
TEST_F(Allocation, TypedJson) {
  struct Order {
    std::int64_t id;
    text_view<1, 80> name;
    std::string_view note;
    std::array<std::int64_t, 40> amounts;
    std::optional<double> price;
  };
  server_.router.get("/row", [] { return Row(); });
  server_.router.post("/orders", [](Json<Order> order) { return Row{order->id, *order->name, *order->price}; });
  std::string body = R"({"id":1,"name":"a name of more than fifteen bytes","note":")" + std::string(500, 'x');
  body += R"(","amounts":[)";
  for (int i = 0; i < 40; ++i) body += (i == 0 ? "" : ",") + std::to_string(1'000'000'000 + i);
  body += R"(],"price":1.5})";
  ASSERT_GT(body.size(), 1000u);
  EXPECT_EQ(count({.target = "/row"}), 0u);
  EXPECT_EQ(count({.method = http::Method::Post,
                   .target = "/orders",
                   .fields = {{"Content-Type", "application/json"}},
                   .body = body}),
            0u);
}

TEST_F(Allocation, CollectedBodies) {
  server_.router.post("/text", [](Text text) { return text->size(); });
  server_.router.post("/task", [](Text text) -> Task<std::size_t> {
    static_cast<void>(co_await yield());
    co_return text->size();
  });
  EXPECT_EQ(count({.method = http::Method::Post, .target = "/text", .body = "hello"}), 0u);
  EXPECT_EQ(count({.method = http::Method::Post, .target = "/task", .body = "hello"}), 0u);
}

TEST_F(Allocation, CoroutineHandlers) {
  server_.router.get("/now", [](Query<Sum> sum) -> Task<int> { co_return sum->a + sum->b; });
  server_.router.get("/later/{ms}", [](Path<unsigned> ms) -> Task<const char*> {
    static_cast<void>(co_await sleep_ms(*ms));
    co_return "slept";
  });
  server_.router.post("/stream", [](BodyStream body) -> Task<std::size_t> {
    std::size_t size = 0;
    for (;;) {
      Result<Slice> piece = co_await body.read();
      if (!piece || piece->is_empty()) break;
      size += piece->size();
    }
    co_return size;
  });
  EXPECT_EQ(count({.target = "/now?a=1&b=2"}), 0u);
  EXPECT_EQ(count({.target = "/later/1"}), 0u);
  EXPECT_EQ(count({.method = http::Method::Post, .target = "/stream", .body = "hello"}), 0u);
}

TEST_F(Allocation, Middleware) {
  server_.router.use([](Header<"Host"> host) -> std::optional<Status> {
    if (host->empty()) return Status::BadRequest;
    return {};
  });
  Group waiting = server_.router.group("/waits");
  waiting.use([]() -> Task<Verdict> {
    static_cast<void>(co_await yield());
    co_return Verdict::Continue;
  });
  waiting.get("/x", [] { return "x"; });
  server_.router.get("/x", [] { return "x"; });
  EXPECT_EQ(count({.target = "/x", .fields = {{"Host", "a"}}}), 0u);
  EXPECT_EQ(count({.target = "/waits/x", .fields = {{"Host", "a"}}}), 0u);
}

}  // namespace
}  // namespace violet::web
