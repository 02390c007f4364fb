// Handlers that cannot work, one for each CASE: the compiler has to say why in one error.
#include "violet/violet.h"

using namespace violet;

struct Stranger {
  explicit Stranger(int n) : number(n) {}
  int number;
};

void register_it(App& app) {
#if CASE == 0  // a good one: the gate itself can pass
  app.get("/", [](Path<int> id) { return *id; });
#elif CASE == 1  // one of the user's own types, which nobody can extract
  app.get("/", [](Stranger stranger) { return stranger.number; });
#elif CASE == 2  // nor answer
  app.get("/", [] { return Stranger{1}; });
#elif CASE == 3
  app.get("/", [](auto anything) { return anything; });
#elif CASE == 4
  app.get("/", [n = 0]() mutable { return n++; });
#elif CASE == 5
  app.get("/", [](const Text& text) { return *text; });
#elif CASE == 6
  app.post("/", [](BodyStream) { return "no coroutine"; });
#elif CASE == 7
  app.use([](Text text) -> std::optional<Status> {
    if (text->empty()) return Status::BadRequest;
    return {};
  });
#elif CASE == 8
  app.use([](Exchange&) { return 7; });
#elif CASE == 9
  app.get("/", []() -> Task<Stranger> { co_return Stranger{1}; });
#elif CASE == 10
  app.get("/{x}", [](Path<void*> x) { return x.value != nullptr; });
#elif CASE == 11
  struct Odd {
    void* pointer = nullptr;
  };
  app.get("/", [](Query<Odd> odd) { return odd->pointer != nullptr; });
#elif CASE == 20  // the third of several
  app.get("/{id}", [](Path<int> id, RawQuery, Stranger stranger) { return *id + stranger.number; });
#elif CASE == 21
  app.post("/", [](Text text, Bytes bytes) { return text->size() + bytes->size(); });
#elif CASE == 22
  struct In {
    int number;
  };
  app.post("/", [](Json<In>, BodyStream) -> Task<int> { co_return 1; });
#elif CASE == 23
  struct Odd {
    void* pointer = nullptr;
  };
  app.post("/", [](Json<Odd> odd) { return odd->pointer != nullptr; });
#elif CASE == 24
  struct In {
    int number;
  };
  app.post("/{id}", [](Path<int> id, const Json<In>& in) { return *id + in->number; });
#elif CASE == 40  // a socket's handler that answers
  app.websocket("/", [](WebSocket) { return "no coroutine"; });
#elif CASE == 41  // a field that is no value
  app.get("/", [](Header<"X-Odd", Stranger> odd) { return odd->number; });
#elif CASE == 42  // nothing makes it
  app.get("/", [](Dep<Stranger> stranger) { return stranger->number; });
#elif CASE == 43  // a struct in an answer with something that has no form
  struct Odd {
    void* pointer = nullptr;
  };
  app.get("/", [] { return Odd{}; });
#elif CASE == 44  // a path in a struct with something that no segment can be
  struct Odd {
    void* pointer;
  };
  app.get("/{pointer}", [](Path<Odd> odd) { return odd->pointer != nullptr; });
#endif
}
