// What stands between the markers // [name] and // [end] is what the
// page shows beside the feature of that name.
#include "routes.h"

#include "assets.h"
#include "report.h"
#include <violet/violet.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace showcase {

using namespace violet;

namespace {

// [query]
struct Search {
  std::string q = "everything";
  unsigned limit = 20;
  bool exact = false;
  std::vector<std::string> tag;
};

std::string search(Query<Search> query) {
  std::string found = query->exact ? "exactly " : "about ";
  found += query->q;
  found += ", at most " + std::to_string(query->limit) + "\n";
  for (const auto& tag : query->tag) found += "tagged " + tag + "\n";
  return found;
}
// [end]

// [slow]
struct Wait {
  unsigned ms = 3000;
};

Task<std::string> slow(Query<Wait> wait, Board& board) {
  const Waiting counted(board);
  const Result<void> slept = co_await sleep_ms(wait->ms);
  if (!slept) {
    const bool is_late = slept.error().kind() == ErrorKind::Timeout;
    ++(is_late ? board.overdue : board.left);
    co_return "";  // nobody waits for it any more
  }
  co_return "waited " + std::to_string(wait->ms) + " ms\n";
}
// [end]

// [stream]
struct Lines {
  unsigned count = 10;
  unsigned pause_ms = 300;
};

Generator<std::string> stream(Query<Lines> lines) {
  for (unsigned i = 1; i <= lines->count; ++i) {
    co_yield "line " + std::to_string(i) + "\n";
    co_await sleep_ms(lines->pause_ms);
  }
}
// [end]

// [connection]
std::string connection(Request request) {
  std::string text(name(request.version()));
  if (const Security* security = request.security()) {
    text += " over " + std::string(security->version) + " with " +
            std::string(security->cipher);
    if (security->is_resumed) text += ", resumed";
  } else {
    text += " without TLS";
  }
  return text + ", from " + request.peer().to_string() + "\n";
}
// [end]

// [upload]
struct Pace {
  unsigned pause_ms = 0;
};

Task<Result<std::string>> upload(BodyStream body, Query<Pace> pace,
                                 Board& board) {
  std::uint64_t size = 0;
  for (;;) {
    Result<Slice> piece = co_await body.read();
    if (!piece) co_return fail(piece.error());  // too large, or gone
    if (piece->is_empty()) break;
    size += piece->size();
    board.upload_bytes += piece->size();
    // While the handler waits, the client has to wait, too.
    if (pace->pause_ms > 0) co_await sleep_ms(pace->pause_ms);
  }
  co_return "received " + std::to_string(size) + " bytes\n";
}
// [end]

// [chat]
// How many are in each room; shared by all loops.
class Presence {
 public:
  std::string count(const std::string& room, int change) {
    const std::lock_guard lock(mutex_);
    const int here = counts_[room] += change;
    if (here == 0) counts_.erase(room);
    return "c" + std::to_string(here);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> counts_;
};

struct Guest {
  App& app;
  Presence& presence;
  std::string room;

  void on_open(WebSocket& socket) {
    socket.subscribe(room);
    app.publish(room, presence.count(room, +1));
  }
  void on_message(WebSocket& socket, ws::Message message) {
    if (!message.is_text()) return;
    if (message.text().starts_with("m"))
      app.publish(room, message.text());
    if (message.text().starts_with("p")) socket.send(message);
  }
  void on_close(WebSocket&) {
    app.publish(room, presence.count(room, -1));
  }
};
// [end]

// [docs]
struct Booking {
  static constexpr std::string_view about = "A table for tea";
  text<1, 40> name;
  email mail;
  range<int, 1, 8> guests = {2};
  std::vector<std::string> wishes;
  static constexpr Note describe[] = {
      {.member = "wishes",
       .optional = true,
       .about = "One each",
       .example = R"(["by the window"])"}};
};
struct Booked {
  std::int64_t number;
  std::string greeting;
};

Created<Booked> book(Json<Booking> in) {
  static std::atomic<std::int64_t> last = 0;
  const std::int64_t number = ++last;
  return {"/bookings/" + std::to_string(number),
          {number, "See you, " + *in->name}};
}
// [end]

// [middleware]
struct SafeFields {
  void on_reply(Exchange&, http::Head& head, Body&) const {
    using enum http::FieldId;
    head.fields.push(XContentTypeOptions, "nosniff");
    head.fields.push(ContentSecurityPolicy, "default-src 'self'");
  }
};
// [end]

}  // namespace

void add_features(App& app) {
  // [middleware]
  app.use(SafeFields{});
  // [end]

  app.provide(std::make_unique<Board>());

  // [hello]
  app.get("/hello", [] { return "hello, world\n"; });
  // [end]

  // [path]
  app.get("/users/{id}", [](Path<std::uint16_t> id) {
    return "user number " + std::to_string(*id) + "\n";
  });
  app.get("/sum/{a}/{b}", [](Path<double> a, Path<double> b) {
    return std::to_string(*a + *b) + "\n";
  });
  // [end]

  // [query]
  app.get("/search", search);
  // [end]

  // [connection]
  app.get("/connection", connection);
  // [end]

  // [echo]
  app.post("/echo", [](Text body) { return body; }).body_max(1000);
  // [end]

  // [slow]
  app.get("/slow", slow).handler_ms(10'000);
  // [end]

  // [stream]
  app.get("/stream", stream);
  // [end]

  // [upload]
  app.post("/upload", upload).body_max(32 << 20).no_deadline();
  // [end]

  // [chat]
  app.provide(std::make_unique<Presence>());
  app.websocket("/chat/{room}",
                [&app](Path<std::string> room, Presence& presence) {
                  return Guest{app, presence, *room};
                },
                {.message_bytes_max = 2000});
  // [end]

  // [docs]
  app.post("/bookings", book)
      .summary("Book a table")
      .describe("What does not fit is a 422 that names **all** of it.");
  app.docs("/docs", {.title = "violet showcase"});
  // [end]

  // [errors]
  app.get("/crash", []() -> std::string {
    throw std::runtime_error("only the log gets to know this");
  });

  // Without it all of them are plain text.
  app.on_error([](const ErrorInfo& error) -> Reply {
    const auto accept = error.request().header("Accept");
    if (!accept.contains("text/html")) return Reply(error.to_string());
    return Reply(error_html(error))
        .content_type("text/html; charset=utf-8");
  });
  // [end]

  // [limits]
  app.get("/limits", [&app] {
    return Reply(limits_json(app.limits()))
        .content_type("application/json");
  });
  // [end]

  // [live]
  app.get("/live", [&app](Board& board) {
    return Reply(live_json(app.counters(), board))
        .content_type("application/json")
        .field("Cache-Control", "no-store");
  });
  // [end]
}

namespace {

// From the folder of its source while there is one, so that the page
// can be changed as the server runs; else the copy in the program.
bool add_folder(App& app) {
  std::error_code ignored;
  const std::string folder = SHOWCASE_PAGE;
  if (!std::filesystem::is_directory(folder, ignored)) return false;
  // [files]
  app.files("/", folder, {.cache_control = {{"*", "no-cache"}}});
  // [end]
  return true;
}

}  // namespace

void add_page(App& app) {
  const bool has_folder = add_folder(app);
  struct Type {
    std::string_view ending;
    std::string_view type;
  };
  static constexpr Type kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {"", "text/plain; charset=utf-8"}};
  for (const Asset& asset : assets()) {
    if (has_folder && asset.name != "routes.cc") continue;
    const Type* type = kTypes;
    while (!asset.name.ends_with(type->ending)) ++type;
    const std::string path = asset.name == "index.html"
                                 ? "/"
                                 : "/" + std::string(asset.name);
    app.get(path,
            [asset, type] {
              return Reply()
                  .body(Slice::literal(asset.text))
                  .content_type(type->type)
                  .field("Cache-Control", "no-cache");
            })
        .hidden();
  }
}

std::span<const Shown> shown() noexcept {
  static constexpr Shown kShown[] = {
      {"GET", "/", "the page: open it in a browser"},
      {"GET", "/hello", "a text"},
      {"GET", "/users/7",
       "a path parameter with a type; try /users/ada"},
      {"GET", "/sum/1.5/2", "two of them"},
      {"GET", "/search?q=tea&limit=5",
       "a query read into a struct with defaults"},
      {"GET", "/connection", "the protocol you speak, and TLS if so"},
      {"POST", "/echo", "what was sent; curl -d tea …"},
      {"GET", "/slow?ms=1000",
       "a handler that waits, and stops when its client leaves"},
      {"GET", "/stream?count=5",
       "a body made piece by piece; curl -N …"},
      {"POST", "/upload",
       "up to 32 MiB, read as they come; curl -X POST -T file …"},
      {"GET", "/style.css",
       "a file, from memory while it is the disk's"},
      {"GET", "/chat/lobby",
       "a chat with rooms, for WebSockets: plain GET is a 426"},
      {"GET", "/docs", "all of this as OpenAPI, to be tried out"},
      {"GET", "/docs/openapi.json", "the document itself"},
      {"GET", "/crash", "a handler that throws: 500 with an id"},
      {"GET", "/nothing", "no such route: 404"},
      {"DELETE", "/hello", "no such method: 405 with Allow"},
      {"GET", "/limits", "every limit with its value"},
      {"GET", "/live", "what the server counts"},
  };
  return kShown;
}

}  // namespace showcase
