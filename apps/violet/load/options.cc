#include "load/options.h"

#include <charconv>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace violet::load {
namespace {

constexpr const char* kUsage =
    "usage: violet load [options] http[s]://HOST:PORT/PATH, or ws[s]://HOST:PORT/PATH for an echo of messages\n"
    "  -c N             connections (64)\n"
    "  -t N             threads, each with its share of the connections (1)\n"
    "  -p N, -m N       requests in flight on a connection: pipelined, streams of --h2, or messages (1)\n"
    "  --size N         of a WebSocket's messages, in bytes; without it and -b: hello\n"
    "  --binary         they are binary, not text\n"
    "  --h2             HTTP/2, over TLS or with prior knowledge\n"
    "  -k               takes any certificate\n"
    "  -r N             requests until a connection is closed and made anew\n"
    "  -d SECONDS       how long (10); or\n"
    "  -n COUNT         how many requests\n"
    "  -w SECONDS       before that, the same without counting (0)\n"
    "  --rate N         N requests a second in all, whether they are answered or not; latencies count from the moment\n"
    "                   that a request was due. Keeps each thread busy. Without it: as many as are answered\n"
    "  --timeout S      a connection without an answer for so long is given up (10)\n"
    "  -X METHOD        GET, or POST where there is a body\n"
    "  -H 'NAME: VALUE' a field of every request; any number of them\n"
    "  -b BODY          a body; @FILE takes it from a file\n"
    "  --mix FILE       requests of several kinds, a line each: WEIGHT METHOD TARGET [BODY or @FILE], or\n"
    "                   WEIGHT raw FILE; # begins a comment\n"
    "  --raw FILE       a request that is sent byte for byte; several take turns\n"
    "  --verify         every body has to be what the first one to the same request was, every message what was sent\n"
    "  --expect BODY    every body has to be this one; @FILE takes it from a file\n"
    "  --server-pid PID reads that process: CPU a request, memory, context switches\n"
    "  --json FILE      the result as JSON; - for standard output\n"
    "  --csv FILE       a line for each second\n"
    "  -q               no lines while it runs\n"
    "  --ab A B         starts the commands A and B in turn, A B B A, each to serve the URL, and compares them\n"
    "  --rounds N       of --ab (3)\n"
    "exit status: 0; 1 when an answer was wrong or an error occurred; 2 for a wrong command line\n";

int wrong(std::string_view what, std::string_view argument) {
  std::fprintf(stderr, "violet load: %.*s: %.*s; --help shows the options\n", static_cast<int>(what.size()),
               what.data(), static_cast<int>(argument.size()), argument.data());
  return 2;
}

template <class T>
bool read_number(std::string_view text, T least, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= least;
}

bool read_header(std::string_view text, Options& options) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::size_t value = text.find_first_not_of(' ', colon + 1);
  options.headers.emplace_back(text.substr(0, colon), value == std::string_view::npos ? "" : text.substr(value));
  return true;
}

bool read_body(std::string_view text, std::string& body) {
  if (!text.starts_with('@')) {
    body = text;
    return true;
  }
  std::ifstream file(std::string(text.substr(1)), std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  body = std::move(bytes).str();
  return file.good();
}

bool expect(std::string_view text, Options& options) {
  options.verifies = options.has_expected = true;
  return read_body(text, options.expected);
}

struct Option {
  std::string_view name;
  bool (*read)(std::string_view value, Options& options);
};

using View = std::string_view;
constexpr Option kOptions[] = {
    {"-c", [](View value, Options& options) { return read_number(value, 1, options.connections); }},
    {"-t", [](View value, Options& options) { return read_number(value, 1, options.threads); }},
    {"-p", [](View value, Options& options) { return read_number(value, 1, options.depth); }},
    {"-m", [](View value, Options& options) { return read_number(value, 1, options.depth); }},
    {"-r", [](View value, Options& options) { return read_number(value, std::uint64_t{1}, options.per_connection); }},
    {"-d", [](View value, Options& options) { return read_number(value, 0.001, options.seconds); }},
    {"-n", [](View value, Options& options) { return read_number(value, std::uint64_t{1}, options.count); }},
    {"--size", [](View value, Options& options) { return read_number(value, std::size_t{1}, options.size); }},
    {"-w", [](View value, Options& options) { return read_number(value, 0.0, options.warm_up); }},
    {"--rate", [](View value, Options& options) { return read_number(value, 0.001, options.rate); }},
    {"--timeout", [](View value, Options& options) { return read_number(value, 0.001, options.timeout); }},
    {"-X", [](View value, Options& options) { return !(options.method = value).empty(); }},
    {"-H", read_header},
    {"-b", [](View value, Options& options) { return read_body(value, options.body); }},
    {"--mix", [](View value, Options& options) { return !(options.mix = value).empty(); }},
    {"--raw", [](View value, Options& options) { return !options.raw.emplace_back(value).empty(); }},
    {"--expect", expect},
    {"--server-pid", [](View value, Options& options) { return read_number(value, 1, options.server_pid); }},
    {"--json", [](View value, Options& options) { return !(options.json = value).empty(); }},
    {"--csv", [](View value, Options& options) { return !(options.csv = value).empty(); }},
    {"--rounds", [](View value, Options& options) { return read_number(value, 1, options.rounds); }},
};

const Option* find(View name) {
  for (const Option& option : kOptions) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

// Options without a value; nullopt: it is none of them.
std::optional<int> read_flag(View name, Options& options) {
  if (name == "--help" || name == "-h") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (name == "--verify") {
    options.verifies = true;
    return -1;
  }
  if (name == "--binary") {
    options.is_binary = true;
    return -1;
  }
  if (name == "--h2") {
    options.protocol = Protocol::Http2;
    return -1;
  }
  if (name == "-k") {
    options.verifies_certificate = false;
    return -1;
  }
  if (name == "-q") {
    options.is_quiet = true;
    return -1;
  }
  return std::nullopt;
}

int check(const Options& options) {
  if (options.url.empty()) return wrong("what is missing", "a URL");
  if (options.threads > options.connections)
    return wrong("more threads than connections", std::to_string(options.threads));
  if (options.protocol == Protocol::Http2 && !options.raw.empty()) return wrong("HTTP/2 has no raw requests", "--raw");
  if (is_socket(options)) {
    if (options.protocol == Protocol::Http2) return wrong("WebSocket is asked over HTTP/1.1", "--h2");
    if (!options.mix.empty() || !options.raw.empty() || !options.method.empty())
      return wrong("WebSocket has messages, not requests", options.url);
  } else if (options.size > 0 || options.is_binary) {
    return wrong("what is of WebSocket only", "--size, --binary");
  }
  if (options.rate > 0 && options.count > 0) return wrong("with --rate give -d, not", "-n");
  return -1;
}

}  // namespace

int parse(cli::Arguments arguments, Options& options) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const View name = arguments[i];
    if (!name.starts_with('-')) {
      if (!options.url.empty()) return wrong("a second URL", name);
      options.url = name;
      continue;
    }
    if (const auto status = read_flag(name, options)) {
      if (*status >= 0) return *status;
      continue;
    }
    if (name == "--ab") {
      if (i + 2 >= arguments.size()) return wrong("it needs two commands", name);
      options.ab = {arguments[i + 1], arguments[i + 2]};
      i += 2;
      continue;
    }
    const Option* const option = find(name);
    if (option == nullptr) return wrong("there is no such option", name);
    if (++i == arguments.size()) return wrong("it needs a value", name);
    if (!option->read(arguments[i], options)) return wrong(name, arguments[i]);
  }
  return check(options);
}

}  // namespace violet::load
