// A whole h1::Session with the real router over memory: parameters, middleware, tasks, generators, error pages.
//
//   byte 0: limits     byte 1: how the bytes are cut     byte 2: how fast the peer reads
//   byte 3: the peer's end (stays, FIN, RST)             the rest: what it sends
//
// What must hold: no assertion; what comes back is a sequence of well-formed answers, whatever handlers make of what
// they are given (a field or a target of the request in a field of the answer); the same answers however the bytes are
// cut and the peer reads; everything is given back at the end.

#include "fuzz/expect.h"
#include "fuzz/wire.h"
#include "violet/base/log.h"
#include "violet/event/wait.h"
#include "violet/web/error_pages.h"
#include "violet/web/input/body.h"
#include "violet/web/input/fields.h"
#include "violet/web/input/path.h"
#include "violet/web/input/query.h"
#include "violet/web/output/generator.h"
#include "violet/web/router.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace violet;

struct Page {
  int limit = 20;
  std::optional<std::string> sort;
  std::vector<int> tag;
  bool exact = false;
};

struct Mark {
  Verdict on_request(Exchange& exchange) {
    return exchange.request().fields.has("X-Stop") ? stop(exchange) : Verdict::Continue;
  }
  void on_reply(Exchange& exchange, http::Head& head, Body&) {
    static_cast<void>(head.fields.add("X-Path", exchange.request().path));
  }
  static Verdict stop(Exchange& exchange) {
    exchange.response().status = 403;
    exchange.reply();
    return Verdict::Answered;
  }
};

Task<std::string> count(BodyStream body) {
  std::size_t size = 0;
  for (;;) {
    const Result<Slice> piece = co_await body.read();
    if (!piece) co_return "broken";
    if (piece->is_empty()) break;
    size += piece->size();
  }
  co_return std::to_string(size);
}

Generator<std::string> lines(Path<std::uint8_t> wanted) {
  const int limit = *wanted;
  for (int i = 0; i < limit; ++i) {
    if (i % 4 == 3) static_cast<void>(co_await yield());
    co_yield std::to_string(i) + "\n";
  }
}

Task<std::string> later(const Request& request) {
  std::string path(request.path());
  static_cast<void>(co_await yield());
  co_return path;
}

void add_routes(Router& router) {
  router.use(Mark{});
  router.get("/", [] { return "hello"; });
  router.get("/u/{id}", [](Path<std::uint16_t> id) { return std::to_string(*id); });
  router.get("/s", [](Query<Page> page) { return std::to_string(page->limit) + page->sort.value_or("-"); });
  router.get("/f/{rest...}", [](Path<std::string_view> rest) { return std::string(*rest); });
  router.post("/t", [](Text text) { return std::string(*text); });
  router.post("/b", count);
  router.get("/g/{count}", lines);
  router.get("/l", later);
  router.get("/e", []() -> std::string { throw std::runtime_error("on purpose"); });
  // Whatever the request says, no line of the answer ends early.
  router.get("/r", [](Header<"X-Echo"> echo, RawQuery query) {
    return Reply("x").field("X-Echo", *echo).field("Location", std::string(*query));
  });
  router.any("/a", [](Cookies cookies) { return std::string(cookies.get("k").value_or("none")); });
  Group inner = router.group("/i/{name}");
  inner.use([](Path<std::string_view> name) -> Task<std::optional<Status>> {
    const bool is_known = *name != "nobody";
    static_cast<void>(co_await yield());
    if (!is_known) co_return Status::Forbidden;
    co_return std::nullopt;
  });
  inner.post("/t", [](Text text) { return text->size(); }).body_max(8);
}

struct Server {
  Server() {
    add_routes(router);
    EXPECT(router.freeze().empty());
    // The built-in page of a handler that threw names a log line, which is another one each time.
    pages.set_hook([](const ErrorInfo& error) { return Reply(std::string(error.reason())); });
  }
  Router router;
  ErrorPages pages;
};

Limits choose_limits(std::uint8_t byte) {
  Limits limits = fuzz::limits_without_time();
  if ((byte & 1) != 0) limits.field_bytes_max = 160;
  if ((byte & 2) != 0) limits.body_bytes_max = 16;
  if ((byte & 4) != 0) limits.pipeline_max = 2;
  if ((byte & 8) != 0) limits.receive_bytes_max = 8;
  if ((byte & 16) != 0) limits.flush_bytes_max = 64;
  if ((byte & 32) != 0) limits.unsent_bytes_max = 32;
  return limits;
}

std::size_t or_all(std::uint8_t byte) { return byte == 0 ? ~std::size_t{0} : byte; }

// Answers to HEAD cannot be read without knowing which they are.
bool is_readable(std::string_view bytes) { return bytes.find("HEAD") == std::string_view::npos; }

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  violet::set_log_level(violet::LogLevel::Off);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server server;
  if (size < 4) return 0;
  const Limits limits = choose_limits(data[0]);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 4, size - 4);

  std::vector<fuzz::Answer> whole;
  {
    fuzz::Wire wire(limits, &server.router, &server.pages);
    const std::string received = wire.run(bytes);
    if (is_readable(bytes)) EXPECT(fuzz::read_answers(received, {}, false, whole));
    if (!whole.empty() && whole.back().closes) EXPECT(wire.was_closed_by_session());
  }
  {
    fuzz::Wire wire(limits, &server.router, &server.pages);
    wire.read_max = or_all(data[1]);
    wire.room = or_all(data[2]);
    const std::string received = wire.run(bytes);
    std::vector<fuzz::Answer> cut;
    if (is_readable(bytes)) {
      EXPECT(fuzz::read_answers(received, {}, false, cut));
      // A head that drips in is looked at when a line ends, so a line that never does may not have been refused yet.
      const bool may_wait = !bytes.ends_with('\n') && !whole.empty() && whole.back().status >= 400;
      if (may_wait && cut.size() + 1 == whole.size()) whole.pop_back();
      EXPECT(cut == whole);
    }
  }
  {
    fuzz::Wire wire(limits, &server.router, &server.pages);
    wire.room = or_all(data[2]);
    wire.open();
    const std::size_t step = data[1] == 0 ? bytes.size() + 1 : data[1];
    const std::size_t stop = data[3] < 192 ? bytes.size() : bytes.size() * (data[3] - 192u) / 64;
    for (std::size_t at = 0; at < stop; at += step) wire.send(bytes.substr(at, std::min(step, stop - at)));
    if (data[3] >= 128) {
      wire.break_off();
    } else if (data[3] >= 64) {
      wire.end();
    }
    std::vector<fuzz::Answer> answers;
    if (is_readable(bytes)) EXPECT(fuzz::read_answers(wire.received(), {}, true, answers));
  }
  return 0;
}
