// arena: violet's entry to HttpArena, a thin program on the public API. `arena --help` shows its flags; what it serves
// stands in routes.cc. Prints its listeners, one a line, then serves until SIGTERM or SIGINT, drains and exits 0.

#include "items.h"
#include "options.h"
#include "routes.h"
#include <violet/violet.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

void leave_out(std::string_view flag, const std::string& place, const std::string& why) {
  std::fprintf(stderr, "arena: %s %s is left out: %s\n", std::string(flag).c_str(), place.c_str(), why.c_str());
}

// Listens with the pair in `folder`, which may be replaced while it serves; without one it is left out.
void listen_secure(violet::App& app, std::string_view flag, const std::string& place, const std::string& folder,
                   std::string_view protocol) {
  if (place.empty()) return;
  const std::string certificate = folder + "/server.crt";
  const std::string key = folder + "/server.key";
  std::error_code ignored;
  if (!std::filesystem::exists(certificate, ignored) || !std::filesystem::exists(key, ignored)) {
    leave_out(flag, place, "no server.crt and server.key in " + folder);
    return;
  }
  app.listen("https://" + place, {.certificate = certificate, .key = key, .protocols = {std::string(protocol)}});
}

}  // namespace

int main(int argc, char** argv) {
  arena::Options options;
  if (const int status = arena::parse(argc, argv, options); status >= 0) return status;

  const auto dataset = arena::load_dataset(options.data + "/dataset.json");
  if (!dataset) {
    std::fprintf(stderr, "arena: %s\n", dataset.error().c_str());
    return 1;
  }
  violet::App app;
  arena::add_routes(app, *dataset);
  arena::add_files(app, options.data + "/static");
  app.loops(options.loops).processes(options.processes);
  if (options.idle_seconds > 0) {
    violet::Limits limits = app.limits();
    limits.keep_alive_ms = limits.websocket_ping_ms = static_cast<std::uint64_t>(options.idle_seconds) * 1000;
    app.limits(limits);
  }
  // The order in which they are printed.
  if (!options.h1.empty()) app.listen("http://" + options.h1);
  listen_secure(app, "--h1-tls", options.h1_tls, options.certs, "http/1.1");
  if (!options.h2c.empty()) app.listen("http://" + options.h2c, {.protocols = {"h2"}});
  listen_secure(app, "--h2", options.h2, options.certs, "h2");
  listen_secure(app, "--tls-check", options.tls_check, options.tls_check_certs, "http/1.1");
  if (!options.h3.empty()) leave_out("--h3", options.h3, "violet has no HTTP/3 yet");
  app.on_listen([](const std::vector<std::string>& urls) {
    for (const std::string& url : urls) std::printf("listening %s\n", url.c_str());
    std::fflush(stdout);
  });
  return app.run();
}
