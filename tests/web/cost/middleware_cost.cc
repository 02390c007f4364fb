// middleware_cost REQUESTS HOOKS: so many requests through a router with so many middleware objects that do nothing.
// tests/web/cost/run.py counts its instructions.

#include "tests/web/fake_wire.h"

#include <cstdio>
#include <cstdlib>

namespace {

using namespace violet;

struct Nothing {
  Verdict on_request(Exchange&) const noexcept { return Verdict::Continue; }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  web::FakeServer server;
  for (int i = std::atoi(argv[2]); i > 0; --i) server.router.use(Nothing{});
  server.router.get("/", [] { return "hello"; });
  const Loop::Scope scope(server.loop);
  Site& site = server.site();
  int good = 0;
  for (int i = std::atoi(argv[1]); i > 0; --i) {
    web::FakeStream stream(server.connection);
    stream.keeps_answer = false;
    Exchange& exchange = site.exchanges.open(stream);
    http::Head& head = exchange.request();
    head.method_text = "GET";
    head.target = head.raw = "/";
    if (!http::split_target(head)) return 1;
    exchange.on_head(head, false);
    good += stream.answer.status == 200;
    exchange.on_close({});
  }
  std::printf("%d answered\n", good);
  return good == std::atoi(argv[1]) ? 0 : 1;
}
