// The showcase of violet: a page in the browser on which each feature
// works. `make run` starts it. Serves until SIGTERM or SIGINT, drains
// and exits 0.
#include "options.h"
#include "routes.h"
#include <violet/violet.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

void print_table(const std::vector<std::string>& urls) {
  std::printf("\nviolet showcase\n\n");
  std::string base;
  for (const std::string& url : urls) {
    if (base.empty() && url.starts_with("http")) base = url;
  }
  std::size_t width = 0;
  for (const showcase::Shown& shown : showcase::shown())
    width = std::max(width, base.size() + shown.target.size());
  for (const showcase::Shown& shown : showcase::shown()) {
    const std::string url = base + std::string(shown.target);
    std::printf(
        "  %-6.*s  %-*s  %.*s\n", static_cast<int>(shown.method.size()),
        shown.method.data(), static_cast<int>(width), url.c_str(),
        static_cast<int>(shown.what.size()), shown.what.data());
  }
  for (const std::string& url : urls) {
    if (url != base) std::printf("\n  also on %s\n", url.c_str());
  }
  std::printf(
      "\nCtrl-C ends it: open requests are answered first.\n\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  showcase::Options options;
  if (const int status = showcase::parse(argc, argv, options);
      status >= 0)
    return status;

  violet::App app;
  showcase::add_page(app);
  showcase::add_features(app);
  for (const std::string& url : options.urls) app.listen(url);
  return app.loops(options.loops).on_listen(print_table).run();
}
