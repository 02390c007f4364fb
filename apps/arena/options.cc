#include "options.h"

#include <charconv>
#include <cstdio>
#include <string_view>

namespace arena {
namespace {

constexpr const char* kUsage =
    "usage: arena [flags]\n"
    "  --h1 HOST:PORT       HTTP/1.1 (0.0.0.0:8080); port 0 takes a free one\n"
    "  --h1-tls HOST:PORT   HTTP/1.1 over TLS (0.0.0.0:8081)\n"
    "  --h2c HOST:PORT      HTTP/2 without TLS, prior knowledge (0.0.0.0:8082)\n"
    "  --h2 HOST:PORT       HTTP/2 over TLS (0.0.0.0:8443)\n"
    "  --h3 HOST:PORT       HTTP/3 (0.0.0.0:8443)\n"
    "  --tls-check HOST:PORT  HTTP/1.1 over TLS with certificates that are replaced (0.0.0.0:9000)\n"
    "                       each of them takes off; what cannot be had is left out with a notice\n"
    "  --loops N            event loops (one for each processor of the affinity mask)\n"
    "  --processes N        worker processes (none); --loops then counts for each of them\n"
    "  --idle SECONDS       how long idle connections and silent WebSockets are kept (75 and 30)\n"
    "  --data DIR           files (DIR/static) and data sets (/data)\n"
    "  --certs DIR          server.crt and server.key (/certs)\n"
    "  --tls-check-certs DIR  the same for --tls-check (/certs-tls)\n"
    "  --help               this text\n";

int wrong(std::string_view what, std::string_view argument) {
  std::fprintf(stderr, "arena: %.*s: %.*s; --help shows the flags\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(argument.size()), argument.data());
  return 2;
}

bool read_place(std::string_view value, std::string& place) {
  place = value == "off" ? "" : value;
  if (place.empty()) return value == "off";
  const std::size_t colon = value.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view digits = value.substr(colon + 1);
  unsigned port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return error == std::errc() && end == digits.data() + digits.size() && port <= 65535;
}

bool read_seconds(std::string_view value, int& seconds) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  return error == std::errc() && end == value.data() + value.size() && seconds >= 1 && seconds <= 86'400;
}

bool read_count(std::string_view value, int& count) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  return error == std::errc() && end == value.data() + value.size() && count >= 1 && count <= 1024;
}

bool read_folder(std::string_view value, std::string& folder) {
  folder = value;
  return !value.empty();
}

struct Flag {
  std::string_view name;
  bool (*read)(std::string_view value, Options& options);
};

constexpr Flag kFlags[] = {
    {"--h1", [](std::string_view value, Options& options) { return read_place(value, options.h1); }},
    {"--h1-tls", [](std::string_view value, Options& options) { return read_place(value, options.h1_tls); }},
    {"--h2c", [](std::string_view value, Options& options) { return read_place(value, options.h2c); }},
    {"--h2", [](std::string_view value, Options& options) { return read_place(value, options.h2); }},
    {"--h3", [](std::string_view value, Options& options) { return read_place(value, options.h3); }},
    {"--tls-check", [](std::string_view value, Options& options) { return read_place(value, options.tls_check); }},
    {"--loops", [](std::string_view value, Options& options) { return read_count(value, options.loops); }},
    {"--processes", [](std::string_view value, Options& options) { return read_count(value, options.processes); }},
    {"--idle", [](std::string_view value, Options& options) { return read_seconds(value, options.idle_seconds); }},
    {"--data", [](std::string_view value, Options& options) { return read_folder(value, options.data); }},
    {"--certs", [](std::string_view value, Options& options) { return read_folder(value, options.certs); }},
    {"--tls-check-certs",
     [](std::string_view value, Options& options) { return read_folder(value, options.tls_check_certs); }},
};

const Flag* find(std::string_view name) {
  for (const Flag& flag : kFlags) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

}  // namespace

int parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    std::string_view name = argv[i];
    if (name == "--help" || name == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    // "--loops=1" is "--loops 1".
    const std::size_t equals = name.find('=');
    const bool is_joined = equals != std::string_view::npos;
    std::string_view value;
    if (is_joined) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    }
    const Flag* const flag = find(name);
    if (flag == nullptr) return wrong("there is no such flag", name);
    if (!is_joined) {
      if (++i == argc) return wrong("it needs a value", name);
      value = argv[i];
    }
    if (!flag->read(value, options)) return wrong(name, value);
  }
  return -1;
}

}  // namespace arena
