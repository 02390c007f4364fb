// Two origins for a real browser: pages on the first, what they ask for on the second. Prints "pages URL api URL".

#include <violet/violet.h>

#include <cstdio>
#include <string>
#include <vector>

using namespace violet;

namespace {

void add_api(App& app, const std::string& pages) {
  app.use(
      cors({.origins = {pages}, .headers = {"Content-Type", "X-Own"}, .exposed = {"X-Shown"}, .credentials = true}));
  app.put("/notes", [](Header<"X-Own"> own) { return Reply(std::string(*own)).field("X-Shown", "shown"); });
  app.get("/cookie", [](Request request) {
    return Reply(std::string(request.cookie("seen").value_or("none"))).field("Set-Cookie", "seen=yes; Path=/");
  });
  app.get("/fails", [] { return Status::Teapot; });
}

}  // namespace

int main() {
  App pages;
  pages.use(security_headers({.content_security_policy = "script-src 'self'"}));
  pages.files("/", VIOLET_SOURCE_DIR "/tests/browser/cors_site");
  if (!pages.listen("http://127.0.0.1:0").loops(1).start()) return 1;
  const std::string own = pages.urls().front();
  App api;
  add_api(api, own);
  api.on_listen([&own](const std::vector<std::string>& urls) {
    std::printf("pages %s api %s\n", own.c_str(), urls.front().c_str());
    std::fflush(stdout);
  });
  return api.listen("http://127.0.0.1:0").loops(1).run();
}
