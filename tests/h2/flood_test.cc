// What a peer may cost: floods end with ENHANCE_YOUR_CALM and in bounded memory, and honest clients are not cut
// (RFC 9113 §10.5).

#include "tests/h2/verdicts.h"
#include "violet/h2/guard.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace violet::test {
namespace {

using h2::Code;
using h2::FrameType;
using h2::Setting;

// Sends what `next` gives, in pieces of about a read, until the connection is over or `count` were sent.
std::optional<Code> flood(H2Wire& wire, std::uint32_t count, const std::function<std::string(std::uint32_t)>& next) {
  std::string piece;
  for (std::uint32_t i = 0; i < count && !wire.has_hung_up(); ++i) {
    piece += next(i);
    if (piece.size() < 8000 && i + 1 < count) continue;
    wire.send(piece);
    piece.clear();
  }
  return wire.goaway();
}

TEST(H2Flood, RapidReset) {
  for (const bool is_answered_at_once : {true, false}) {
    H2Wire wire;
    wire.service.handler = [&](Exchange& exchange) {
      if (is_answered_at_once) exchange.reply(Slice::literal("x"));
      if (!is_answered_at_once) wire.service.hold(exchange);
    };
    EXPECT_EQ(flood(wire, 10'000, [](std::uint32_t i) { return get(2 * i + 1) + reset(2 * i + 1); }),
              Code::EnhanceYourCalm);
    EXPECT_LT(wire.service.call_count, 1500u);
    EXPECT_NE(wire.read().goaway()->payload.find("h2_stream_deaths_max"), std::string::npos) << "names its limit";
    wire.service.held.clear();
  }
}

TEST(H2Flood, ResetsThatThePeerMakesUsSend) {
  // MadeYouReset: each stream is given up for a fault, while the handler works on.
  for (const auto& fault : std::vector<std::function<std::string(std::uint32_t)>>{
           [](std::uint32_t id) { return window_update(id, 0); },
           [](std::uint32_t id) { return window_update(id, h2::kWindowMax); },
           [](std::uint32_t id) { return data(id, "beyond the end"); },
       }) {
    H2Wire wire;
    wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
    EXPECT_EQ(flood(wire, 10'000, [&](std::uint32_t i) { return get(2 * i + 1) + fault(2 * i + 1); }),
              Code::EnhanceYourCalm);
    EXPECT_LT(wire.service.call_count, 1500u);
    wire.service.held.clear();
  }
}

TEST(H2Flood, MalformedRequestsWithoutEnd) {
  H2Wire wire;
  EXPECT_EQ(flood(wire, 10'000, [](std::uint32_t i) { return get(2 * i + 1, "/", {{"te", "gzip"}}); }),
            Code::EnhanceYourCalm);
}

TEST(H2Flood, HonestClientsThatResetFinishedStreamsAreNotCut) {
  H2Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("x")); };
  // Half of the answers are followed by a reset, as by a client that has seen enough.
  for (std::uint32_t id = 1; id < 4800; id += 2) {
    wire.send(get(id) + (id > 2 ? reset(id - 2) : std::string()));
  }
  EXPECT_FALSE(wire.goaway().has_value());
  EXPECT_EQ(wire.stream(4799).status, 200);
}

TEST(H2Flood, HonestClientsThatCancelNowAndThenAreNotCut) {
  H2Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  for (std::uint32_t id = 1; id < 1800; id += 2) {
    wire.send(get(id) + reset(id));
    wire.service.held.clear();
  }
  EXPECT_FALSE(wire.goaway().has_value());
}

TEST(H2Flood, ControlFrames) {
  const std::string unread(8, 'p');
  for (const auto& [name, one] : std::vector<std::pair<const char*, std::string>>{
           {"SETTINGS", settings()},
           {"PING", ping(unread)},
           {"PING ACK", ping(unread, true)},
           {"PRIORITY", frame(FrameType::Priority, 0, 1, "12345")},
           {"PRIORITY_UPDATE", frame(FrameType::PriorityUpdate, 0, 0, std::string("\0\0\0\1u=1", 7))},
           {"WINDOW_UPDATE", window_update(0, 1)},
           {"unknown", frame(FrameType{77}, 0, 0)},
       }) {
    SCOPED_TRACE(name);
    H2Wire wire;
    wire.wire->set_room(0);  // 20,000 answers that nobody reads
    std::string piece;
    for (int i = 0; i < 20'000 && wire.wire->wants_to_read(); ++i) {
      piece += one;
      if (piece.size() < 8000 && i != 19'999) continue;
      wire.send(piece);
      piece.clear();
    }
    wire.wire->add_room(1 << 20);
    wire.settle();
    EXPECT_EQ(wire.goaway(), Code::EnhanceYourCalm);
    EXPECT_TRUE(wire.has_hung_up());
    EXPECT_LT(wire.read().frames().size(), 1200u);
  }
}

TEST(H2Flood, EmptyData) {
  for (const std::string& nothing : {data(1, ""), padded_data(1, "", 0), padded_data(1, "", 255)}) {
    H2Wire wire;
    wire.service.handler = Echo::serve;
    wire.send(post(1));
    EXPECT_EQ(flood(wire, 20'000, [&](std::uint32_t) { return nothing; }), Code::EnhanceYourCalm);
  }
}

TEST(H2Flood, EndlessContinuation) {
  H2Wire wire;
  wire.send(headers(1, test::block(request("GET", "/")), true, false));
  EXPECT_EQ(flood(wire, 1000, [](std::uint32_t) { return continuation(1, "", false); }), Code::EnhanceYourCalm);
  EXPECT_NE(wire.read().goaway()->payload.find("h2_continuations_max"), std::string::npos);
}

TEST(H2Flood, SettingsOfManyEntries) {
  std::vector<h2::SettingValue> many;
  for (std::uint32_t i = 0; i < 2700; ++i) many.push_back({Setting::InitialWindowSize, i});
  H2Wire wire;
  EXPECT_EQ(flood(wire, 100, [&](std::uint32_t) { return settings(many); }), Code::EnhanceYourCalm);
  EXPECT_LT(wire.read().count(FrameType::Settings), 10u);
}

TEST(H2Flood, WindowUpdatesThatGoWithDataAreNoFlood) {
  H2Wire wire({}, settings({{Setting::InitialWindowSize, 100}}) + settings_ack());
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::of(pattern(200'000))); };
  wire.send(get(1));
  while (!wire.stream(1).is_ended) {
    ASSERT_FALSE(wire.goaway().has_value());
    wire.send(window_update(1, 100) + window_update(0, 100));
  }
  EXPECT_EQ(wire.stream(1).body, pattern(200'000));
}

TEST(H2Flood, StreamsBeyondTheLimitAreRefusedAndTheOthersFinish) {
  H2Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  std::string many;
  for (std::uint32_t id = 1; id <= 203; id += 2) many += get(id);
  wire.send(many);
  EXPECT_EQ(wire.session->stream_count(), 100u);
  EXPECT_FALSE(wire.stream(199).is_reset);
  for (std::uint32_t id : {201, 203}) EXPECT_EQ(wire.stream(id).code, Code::RefusedStream);
  for (auto& held : wire.service.held) held->reply(Slice::literal("x"));
  wire.service.held.clear();
  wire.settle();
  for (std::uint32_t id = 1; id <= 199; id += 2) EXPECT_EQ(wire.stream(id).body, "x");
  EXPECT_EQ(wire.ask(205, get(205)).status, 0);
  wire.service.held.clear();
}

TEST(H2Flood, AClientThatReadsNothingIsAnsweredNothing) {
  H2Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("0123456789")); };
  wire.wire->set_room(0);
  for (std::uint32_t id = 1; id < 200'000 && wire.wire->wants_to_read() && !wire.has_hung_up(); id += 2)
    wire.send(get(id));
  // A flush of answers; what comes then waits, and beyond the limit of streams it is refused.
  EXPECT_LT(wire.service.call_count, 4000u);
  wire.wire->add_room(1 << 20);
  wire.settle();
  EXPECT_EQ(wire.goaway(), Code::EnhanceYourCalm);
}

// --- the budgets themselves

TEST(H2Guard, ABudgetFillsAtItsRate) {
  h2::Budget budget;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(budget.take(1, 1000, 10, 2));
  EXPECT_FALSE(budget.take(1, 1000, 10, 2));
  EXPECT_FALSE(budget.take(1, 1500, 10, 2)) << "one came back for the one that was over";
  EXPECT_TRUE(budget.take(1, 2500, 10, 2));
  budget.earn(5);
  EXPECT_TRUE(budget.take(5, 2500, 10, 2));
  EXPECT_FALSE(budget.take(1, 2500, 10, 2));
}

TEST(H2Guard, PatienceIsNotBegunAnewByDrops) {
  h2::Patience patience;
  std::uint64_t now = 0;
  // A byte each second: opened, used, closed again.
  while (now < 1'000'000) {
    patience.block(now, 30'000);
    now += 1000;
    if (patience.due_ms() <= now) break;
    patience.unblock(now);
    patience.moved(1, 240);
  }
  EXPECT_GT(now, 29'000u);
  EXPECT_LT(now, 32'000u);
  // At the least rate it lasts.
  h2::Patience honest;
  for (now = 0; now < 1'000'000; now += 1000) {
    honest.block(now, 30'000);
    EXPECT_GT(honest.due_ms(), now + 1000);
    honest.unblock(now + 1000);
    honest.moved(240, 240);
  }
}

TEST(H2Guard, ClosedStreamsAreRememberedForAWhile) {
  using Past = h2::ClosedStreams::Past;
  h2::ClosedStreams closed;
  closed.advance(1);
  closed.advance(3);  // two were passed by
  closed.note_reset(0);
  EXPECT_EQ(closed.past(0), Past::ResetByUs);
  EXPECT_EQ(closed.past(1), Past::NeverUsed);
  EXPECT_EQ(closed.past(3), Past::Ended);
  closed.advance(70);
  EXPECT_EQ(closed.past(0), Past::Ended);
  EXPECT_EQ(closed.past(63), Past::NeverUsed);
  EXPECT_EQ(closed.past(64), Past::Forgotten) << "one of those was reset by us";
}

TEST(H2Guard, AStreamFromLongAgoIsForgottenOnlyWhenItMayBeOneThatWeEnded) {
  using Past = h2::ClosedStreams::Past;
  h2::ClosedStreams all;
  for (int i = 0; i < 70; ++i) all.advance(1);
  EXPECT_EQ(all.past(69), Past::Ended);
  h2::ClosedStreams one_late;
  for (int i = 0; i < 3; ++i) one_late.advance(2);
  for (int i = 0; i < 70; ++i) one_late.advance(1);
  EXPECT_EQ(one_late.past(71), Past::NeverUsed);
  for (const std::uint32_t step : {64u, 65u, 100u}) {
    h2::ClosedStreams leap;
    leap.advance(step);
    EXPECT_EQ(leap.past(step - 1), Past::NeverUsed) << step;
  }
  h2::ClosedStreams late;
  for (int i = 0; i < 70; ++i) late.advance(1);
  late.note_reset(65);
  EXPECT_EQ(late.past(65), Past::Forgotten);
}

}  // namespace
}  // namespace violet::test
