// Call, over a stream that is driven by hand.

#include "violet/core/call/call.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace violet::test {
namespace {

class HandStream final : public Stream {
 public:
  void inform(const http::Head&) override {}
  void start(const http::Head& head, Body&&) override {
    started = std::string(head.method_text) + " " + std::string(head.target);
  }
  void wake() override {}
  void credit(std::size_t n) override { credited += n; }
  void reset(Error why) override { reset_why = why; }
  void set_receiver(Receiver&) override {}
  [[nodiscard]] const Connection& connection() const noexcept override { return connection_; }
  [[nodiscard]] Address local_address() const noexcept override { return {}; }

  std::string started;
  std::size_t credited = 0;
  Error reset_why;

 private:
  Connection connection_;
};

class Owner final : public CallOwner {
 public:
  void on_informational(Call&, const http::Head& head) override {
    events.push_back("1xx " + std::to_string(head.status));
  }
  void on_response(Call& call, bool) override { events.push_back("head " + std::to_string(call.response().status)); }
  void on_response_data(Call& call, Slice data) override {
    events.push_back("data " + std::string(data.text()));
    call.credit(data.size());
  }
  void on_response_end(Call&, const http::Fields*) override { events.emplace_back("end"); }
  void on_call_closed(Call&, Error why) noexcept override { events.push_back("closed " + message(why)); }
  std::vector<std::string> events;
};

TEST(Call, TellsItsOwnerInOrderAndKeepsTheHead) {
  Loop loop;
  Owner owner;
  HandStream stream;
  Call call(loop, owner);
  ASSERT_TRUE(call.set_request("GET", "/a?b", "example.com"));
  EXPECT_EQ(call.request().path, "/a");
  call.start(stream, Body());
  EXPECT_EQ(stream.started, "GET /a?b");
  {
    Arena arena;
    std::string text = "value";
    http::Head head(arena);
    head.status = 103;
    call.on_head(head, false);
    head.status = 200;
    head.fields.push({.name = "X-One", .value = text});
    call.on_head(head, true);
    text = "gone!";
  }
  EXPECT_EQ(call.response().fields.get("x-one"), "value");
  call.on_data(Slice::literal("hi"));
  call.on_end(nullptr);
  call.on_close({});
  EXPECT_EQ(owner.events,
            (std::vector<std::string>{"1xx 103", "head 200", "data hi", "end", "closed " + message(Error())}));
  EXPECT_EQ(stream.credited, 2u);
}

TEST(Call, RefusesATargetThatIsNone) {
  Loop loop;
  Owner owner;
  Call call(loop, owner);
  EXPECT_FALSE(call.set_request("GET", "no/slash", "a"));
  EXPECT_FALSE(call.set_request("GET", "/a b", "a"));
}

TEST(Call, EndsWhenItsTimeIsOverAndHearsNothingMore) {
  Loop loop;
  Owner owner;
  HandStream stream;
  Call call(loop, owner);
  ASSERT_TRUE(call.set_request("GET", "/", "a"));
  call.set_timeout_ms(1);
  call.start(stream, Body());
  for (int i = 0; i < 1000 && !stream.reset_why; ++i) loop.step(5);
  EXPECT_EQ(stream.reset_why.kind(), ErrorKind::Timeout);
  EXPECT_TRUE(owner.events.empty());
  call.on_data(Slice::literal("late"));
  call.on_close(Error(ErrorKind::Cancelled));
  EXPECT_EQ(owner.events, std::vector<std::string>{"closed " + message(Error(ErrorKind::Timeout))});
}

TEST(Call, CancelGoesDownOnce) {
  Loop loop;
  Owner owner;
  HandStream stream;
  Call call(loop, owner);
  ASSERT_TRUE(call.set_request("GET", "/", "a"));
  call.start(stream, Body());
  call.cancel();
  EXPECT_EQ(stream.reset_why.kind(), ErrorKind::Cancelled);
  EXPECT_TRUE(call.is_open());
  call.on_close(stream.reset_why);
  EXPECT_FALSE(call.is_open());
  call.cancel();
  EXPECT_EQ(owner.events.size(), 1u);
}

}  // namespace
}  // namespace violet::test
