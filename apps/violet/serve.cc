#include "command.h"
#include <violet/violet.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

namespace violet::cli {
namespace {

constexpr const char* kUsage =
    "usage: violet serve [flags] [DIR]\n"
    "Serves the files of DIR (the folder it is started in) until SIGTERM or SIGINT.\n"
    "  --listen URL         where (http://127.0.0.1:8080); port 0 takes a free one\n"
    "  --no-listing         404 for folders without an index.html, instead of a page of their names\n"
    "  --spa                DIR/index.html is the answer to navigation to paths that do not exist\n"
    "  --not-found FILE     the page of a 404, below DIR\n"
    "  --follow-links       symbolic links are followed as long as they stay below DIR\n"
    "  --dotfiles           shows files whose names begin with a dot\n"
    "  --immutable-hashed   files with a hash in their name may be kept by browsers for ever\n"
    "  --events             follows the disk by events (inotify) instead of looking at it for each request\n"
    "  --loops N            event loops (one for each processor)\n"
    "  --processes N        serves by N worker processes, which are replaced when they die\n";

struct Serve {
  std::string folder = ".";
  std::string url = "http://127.0.0.1:8080";
  int loops = 0;
  int processes = -1;  // not said
  FileOptions options{.listing = true};
};

// Flags without a value.
bool read_switch(std::string_view name, Serve& serve) {
  if (name == "--no-listing") {
    serve.options.listing = false;
  } else if (name == "--spa") {
    serve.options.spa = "index.html";
  } else if (name == "--follow-links") {
    serve.options.symlinks = Symlinks::Inside;
  } else if (name == "--dotfiles") {
    serve.options.dotfiles = Dotfiles::Show;
  } else if (name == "--immutable-hashed") {
    serve.options.immutable_hashed = true;
  } else if (name == "--events") {
    serve.options.revalidate = Revalidate::ByEvents;
  } else {
    return false;
  }
  return true;
}

bool takes_value(std::string_view name) {
  return name == "--listen" || name == "--not-found" || name == "--loops" || name == "--processes";
}

bool read_count(std::string_view value, int& count) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  return error == std::errc() && end == value.data() + value.size() && count > 0;
}

bool read_value(std::string_view name, std::string_view value, Serve& serve) {
  if (name == "--listen") {
    serve.url = value;
  } else if (name == "--not-found") {
    serve.options.not_found = value;
  } else {
    return read_count(value, name == "--loops" ? serve.loops : serve.processes);
  }
  return !value.empty();
}

// The status to exit with; -1: go on.
int parse(Arguments arguments, Serve& serve) {
  bool has_folder = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--help") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    if (read_switch(name, serve)) continue;
    if (takes_value(name)) {
      if (++i == arguments.size()) return wrong("serve: a value is missing behind", name);
      if (!read_value(name, arguments[i], serve))
        return wrong("serve: a wrong value of " + std::string(name) + ":", arguments[i]);
      continue;
    }
    if (name.starts_with('-') || has_folder) return wrong("serve does not take", name);
    serve.folder = name;
    has_folder = true;
  }
  return -1;
}

}  // namespace

int serve(Arguments arguments) {
  Serve serve;
  if (const int status = parse(arguments, serve); status >= 0) return status;
  App app;
  app.loops(serve.loops).listen(serve.url);
  if (serve.processes > 0) app.processes(serve.processes);
  app.files("/", serve.folder, std::move(serve.options));
  app.on_listen([&](const std::vector<std::string>& urls) {
    for (const std::string& url : urls) std::printf("serving %s at %s\n", serve.folder.c_str(), url.c_str());
    std::fflush(stdout);
  });
  return app.run();
}

}  // namespace violet::cli
