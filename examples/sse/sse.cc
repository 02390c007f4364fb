// Server-sent events: open http://127.0.0.1:8080/ in a browser, or curl -N http://127.0.0.1:8080/ticks?every_ms=200
#include <violet/violet.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

using namespace violet;

constexpr std::string_view kPage = R"(<!doctype html>
<title>ticks</title>
<pre id="log"></pre>
<script>
  new EventSource("/ticks").addEventListener("tick", (event) => { log.textContent += event.data + "\n"; });
</script>
)";

struct Pace {
  range<int, 10, 60'000> every_ms = {1000};
};
struct Tick {
  std::int64_t number;
  std::string_view text;
};

// Goes on behind the last event that the browser has seen, and ends when it leaves.
Task<> ticks(EventStream out, Query<Pace> pace) {
  std::int64_t number = 0;
  const std::string_view last = out.last_event_id();
  std::from_chars(last.data(), last.data() + last.size(), number);
  for (;;) {
    ++number;
    const std::string id = std::to_string(number);
    const Tick tick{number, "tick"};
    if (!co_await out.send_json(tick, "tick", id)) co_return;
    if (!co_await sleep_ms(static_cast<std::uint64_t>(*pace->every_ms))) co_return;
  }
}

int main(int argc, char** argv) {
  App app;
  app.get("/", [] { return Reply(kPage).content_type("text/html; charset=utf-8"); });
  app.get("/ticks", ticks);
  return app.listen(argc > 1 ? argv[1] : "http://127.0.0.1:8080").run();
}
