// files: a folder with everything that a small site needs. Run it in a folder that has a site/, or name another one:
//
//   files examples/files/site
//   curl -i http://127.0.0.1:8080/
//   curl -i -H 'Range: bytes=0-15' http://127.0.0.1:8080/style.css
#include <violet/violet.h>

#include <cstdio>
#include <string>
#include <vector>

using namespace violet;

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "site";

  App app;
  Files& files = app.files("/", folder,
                           {.listing = true,
                            .not_found = "404.html",
                            .cache_control = {{"*.html", "no-cache"}, {"*.css", "max-age=3600"}},
                            .immutable_hashed = true,
                            .download = {"*.zip"}});
  // What is in memory is served without a word to the disk but one look.
  files.prewarm("");

  // A route of its own goes before the files, because its path is a literal.
  app.get("/stats", [&files] {
    const Files::Stats stats = files.stats();
    return std::to_string(stats.cached_files) + " files in memory, " + std::to_string(stats.cached_bytes) + " bytes\n";
  });

  app.on_listen([](const std::vector<std::string>& urls) {
    std::printf("serving at %s\n", urls.front().c_str());
    std::fflush(stdout);
  });
  return app.listen(argc > 2 ? argv[2] : "http://127.0.0.1:8080").run();
}
