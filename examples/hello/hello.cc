// The smallest server: http://127.0.0.1:8080/ and http://127.0.0.1:8080/hello/you.
#include <violet/violet.h>

#include <string>

using namespace violet;

int main() {
  App app;
  app.get("/", [] { return "hello, world\n"; });
  app.get("/hello/{name}", [](Path<std::string> name) { return "hello, " + *name + "\n"; });
  return app.listen("http://127.0.0.1:8080").run();
}
