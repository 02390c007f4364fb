#include "routes.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <string_view>
#include <system_error>

// What is wrong with a request whose parts are well-formed one by one.
struct Wrong {
  std::string_view why;
};

template <>
struct violet::Respond<Wrong> {
  static void send(violet::Exchange& exchange, Wrong wrong) {
    exchange.refuse(violet::Error(violet::ErrorKind::Invalid), wrong.why);
  }
};

namespace arena {
namespace {

using namespace violet;

template <class T>
using OrWrong = std::expected<T, Wrong>;

std::unexpected<Wrong> wrong(std::string_view why) { return std::unexpected(Wrong{why}); }

struct Sum {
  std::int64_t a;
  std::int64_t b;
};

OrWrong<std::int64_t> add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return wrong("the sum does not fit into 64 bits");
  return sum;
}

OrWrong<std::int64_t> add_body(Query<Sum> sum, Text body) {
  std::int64_t more = 0;
  const char* const end = body->data() + body->size();
  const auto [at, error] = std::from_chars(body->data(), end, more);
  if (error != std::errc() || at != end) return wrong("the body is not a whole number");
  const OrWrong<std::int64_t> first = add(sum->a, sum->b);
  return first ? add(*first, more) : first;
}

constexpr std::uint32_t kDelayMsMax = 10'000;

Task<OrWrong<std::uint32_t>> delay(Path<std::uint32_t> ms) {
  if (*ms > kDelayMsMax) co_return wrong("the delay is more than 10000 ms");
  if (*ms > 0) {
    // It fails when the client has left; there is nobody to tell then.
    static_cast<void>(co_await sleep_ms(*ms));
  }
  co_return *ms;
}

// How many bytes were really read, whatever the head had announced.
Task<Result<std::uint64_t>> count_upload(BodyStream body) {
  std::uint64_t size = 0;
  for (;;) {
    Result<Slice> piece = co_await body.read();
    if (!piece) co_return fail(piece.error());
    if (piece->is_empty()) co_return size;
    size += piece->size();
  }
}

// echo-ws, -pipeline, -limited: text and binary back as they came. Messages are given only while there is room to
// send, so that nothing has to wait here: an object, which is a third lighter than a task while nothing comes.
struct Echo {
  static void on_message(WebSocket& socket, const ws::Message& message) { socket.send(message); }
};

// A total may not leave 64 bits.
constexpr std::int32_t kMultiplierMax = 1'000'000;
struct Multiplier {
  std::int32_t m = 1;
};

Slice echo(Bytes body) { return Slice::borrowed({reinterpret_cast<const char*>(body->data()), body->size()}); }

}  // namespace

void add_routes(Routes& routes, const Dataset& dataset) {
  routes.get("/baseline11", [](Query<Sum> sum) { return add(sum->a, sum->b); });
  routes.get("/baseline2", [](Query<Sum> sum) { return add(sum->a, sum->b); });
  routes.post("/baseline11", add_body);
  routes.get("/pipeline", [] { return "ok"; });
  routes.get("/delay/{ms}", delay);
  Group json = routes.group("/json");
  json.use(compress);
  json.get("/{count}",
           [&dataset](Path<std::uint32_t> count, Query<Multiplier> multiplier, Arena& arena) -> OrWrong<Listing> {
             if (multiplier->m < -kMultiplierMax || multiplier->m > kMultiplierMax) return wrong("m is beyond 1000000");
             return list_items(dataset, *count, multiplier->m, arena);
           });
  routes.post("/echo", echo).body_max(16 << 20);
  websocket(routes, "/ws", [] { return Echo{}; }, {.origins = {"*"}});
  routes.post("/upload", count_upload).body_max(64 << 20);
}

void add_files(App& app, const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    std::fprintf(stderr, "arena: /static is left out: there is no %s\n", folder.c_str());
    return;
  }
  app.files("/static", folder, {.revalidate = Revalidate::ByEvents});
}

}  // namespace arena
