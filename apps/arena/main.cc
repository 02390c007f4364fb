// arena: violet's entry to HttpArena, a thin program on the public API. `arena --help` shows its flags; what it serves
// stands in routes.cc. Prints its listeners, one a line, then serves until SIGTERM or SIGINT, drains and exits 0.

#include "options.h"
#include "routes.h"
#include <violet/violet.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace {

// The listeners that violet has no wire for yet, or that have no certificate here: left out, and said so.
void leave_out(const arena::Options& options) {
  std::error_code ignored;
  const bool has_certificate = std::filesystem::exists(options.certs + "/server.crt", ignored) &&
                               std::filesystem::exists(options.certs + "/server.key", ignored);
  const struct {
    std::string_view flag;
    const std::string& place;
    bool is_secure;
    std::string_view what;
  } missing[] = {
      {"--h1-tls", options.h1_tls, true, "TLS"},
      {"--h2c", options.h2c, false, "HTTP/2"},
      {"--h2", options.h2, true, "HTTP/2 over TLS"},
      {"--h3", options.h3, true, "HTTP/3"},
  };
  for (const auto& [flag, place, is_secure, what] : missing) {
    if (place.empty()) continue;
    std::string why = "violet has no " + std::string(what) + " yet";
    if (is_secure && !has_certificate) why = "no server.crt and server.key in " + options.certs;
    std::fprintf(stderr, "arena: %s %s is left out: %s\n", std::string(flag).c_str(), place.c_str(), why.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  arena::Options options;
  if (const int status = arena::parse(argc, argv, options); status >= 0) return status;

  // Blocked in all threads, so that main() can wait for them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  violet::App app;
  arena::add_routes(app);
  app.loops(options.loops);
  if (!options.h1.empty()) app.listen("http://" + options.h1);
  leave_out(options);
  if (!app.start()) {
    for (const std::string& error : app.errors()) std::fprintf(stderr, "arena: %s\n", error.c_str());
    return 1;
  }
  for (const std::string& url : app.urls()) std::printf("listening %s\n", url.c_str());
  std::fflush(stdout);

  int signal = 0;
  sigwait(&signals, &signal);
  app.stop();
  app.wait();
  return 0;
}
