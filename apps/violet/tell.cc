#include "command.h"
#include <violet/app/tell.h>
#include <violet/json/reader.h>

#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

// violet openapi and violet routes: start a program with VIOLET_TELL in its environment (app/tell.h) and show what it
// has written.
namespace violet::cli {
namespace {

constexpr const char* kOpenApiUsage =
    "usage: violet openapi [flags] PROGRAM [ARGUMENT]...\n"
    "Writes the OpenAPI document of a program that is built on violet. PROGRAM is started and comes as far as\n"
    "App::run() or App::start(); it listens nowhere.\n"
    "  -o FILE          there instead of standard output\n"
    "  --wait SECONDS   how long PROGRAM may take (10)\n";
constexpr const char* kRoutesUsage =
    "usage: violet routes [flags] PROGRAM [ARGUMENT]...\n"
    "Shows the routes of a program that is built on violet: what each takes at most, how long it may take, what runs\n"
    "around it, and its line in the source. PROGRAM is started and comes as far as App::run() or App::start(); it\n"
    "listens nowhere.\n"
    "  --json           as JSON\n"
    "  -o FILE          there instead of standard output\n"
    "  --wait SECONDS   how long PROGRAM may take (10)\n";

struct Options {
  Tell::What what;
  bool is_json = false;
  int wait_seconds = 10;
  std::string out;
  std::vector<char*> program;  // with its arguments
};

// Starts a program and waits for its end, a limited time.
class Child {
 public:
  Child() { uv_loop_init(&loop_); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { uv_loop_close(&loop_); }

  // False: it cannot be started.
  bool run(std::vector<char*> arguments, const std::string& variable, int seconds) {
    arguments.push_back(nullptr);
    std::vector<char*> environment;
    for (char** at = environ; *at != nullptr; ++at) environment.push_back(*at);
    environment.push_back(const_cast<char*>(variable.c_str()));
    environment.push_back(nullptr);
    // What it says goes to where errors go: standard output is for the answer.
    uv_stdio_container_t streams[3] = {};
    streams[0].flags = UV_IGNORE;
    streams[1].flags = streams[2].flags = UV_INHERIT_FD;
    streams[1].data.fd = streams[2].data.fd = STDERR_FILENO;
    uv_process_options_t options = {};
    options.file = arguments.front();
    options.args = arguments.data();
    options.env = environment.data();
    options.stdio = streams;
    options.stdio_count = 3;
    options.exit_cb = [](uv_process_t* process, std::int64_t, int) { static_cast<Child*>(process->data)->end(); };
    process_.data = timer_.data = this;
    const int error = uv_spawn(&loop_, &process_, &options);
    if (error != 0) {
      std::fprintf(stderr, "violet: cannot start %s: %s\n", options.file, uv_strerror(error));
      uv_close(reinterpret_cast<uv_handle_t*>(&process_), nullptr);
    } else {
      uv_timer_init(&loop_, &timer_);
      uv_timer_start(
          &timer_, [](uv_timer_t* timer) { static_cast<Child*>(timer->data)->kill(); },
          static_cast<std::uint64_t>(seconds) * 1000, 0);
    }
    uv_run(&loop_, UV_RUN_DEFAULT);
    return error == 0;
  }
  [[nodiscard]] bool is_late() const noexcept { return is_late_; }

 private:
  void kill() noexcept {
    is_late_ = true;
    uv_process_kill(&process_, SIGKILL);
  }
  void end() noexcept {
    uv_close(reinterpret_cast<uv_handle_t*>(&process_), nullptr);
    uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
  }

  uv_loop_t loop_;
  uv_process_t process_;
  uv_timer_t timer_;
  bool is_late_ = false;
};

// A folder of its own, which nobody else can write into; gone at the end.
class Folder {
 public:
  Folder() {
    const char* const base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr && *base == '/' ? base : "/tmp") + "/violet-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    if (path_.empty()) return;
    unlink(file().c_str());
    rmdir(path_.c_str());
  }
  [[nodiscard]] bool is_good() const noexcept { return !path_.empty(); }
  [[nodiscard]] std::string file() const { return path_ + "/told"; }

 private:
  std::string path_;
};

std::optional<std::string> ask(const Options& options) {
  const Folder folder;
  if (!folder.is_good()) {
    std::fprintf(stderr, "violet: no temporary folder: %s\n", std::strerror(errno));
    return std::nullopt;
  }
  Child child;
  const Tell tell{options.what, folder.file()};
  if (!child.run(options.program, tell.variable(), options.wait_seconds)) return std::nullopt;
  std::ifstream in(folder.file(), std::ios::binary);
  if (in) return std::string(std::istreambuf_iterator<char>(in), {});
  std::fprintf(stderr, "violet: %s %s\n", options.program.front(),
               child.is_late() ? "has not come to App::run() in time; --wait says how long it may take"
                               : "ended without an answer; is it built on violet, and does it call App::run()?");
  return std::nullopt;
}

// The status to exit with; -1: go on.
int parse(Arguments arguments, std::string_view name, const char* usage, Options& options) {
  std::size_t i = 0;
  for (; i < arguments.size() && arguments[i][0] == '-'; ++i) {
    const std::string_view flag = arguments[i];
    if (flag == "--help") {
      std::fputs(usage, stdout);
      return 0;
    }
    if (flag == "--json" && options.what == Tell::What::Routes) {
      options.is_json = true;
      continue;
    }
    if (flag != "-o" && flag != "--wait") return wrong(std::string(name) + " does not take", flag);
    if (++i == arguments.size()) return wrong(std::string(name) + ": a value is missing behind", flag);
    const std::string_view value = arguments[i];
    if (flag == "-o") {
      options.out = value;
    } else if (const auto [end, error] =
                   std::from_chars(value.data(), value.data() + value.size(), options.wait_seconds);
               error != std::errc() || end != value.data() + value.size() || options.wait_seconds < 1) {
      return wrong(std::string(name) + ": a wrong value of --wait:", value);
    }
  }
  options.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
  if (options.program.empty()) return wrong(std::string(name) + " wants", "a program");
  return -1;
}

int give(const Options& options, const std::string& text) {
  std::FILE* const out = options.out.empty() ? stdout : std::fopen(options.out.c_str(), "wb");
  bool is_good = out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size();
  if (out != nullptr) is_good = (options.out.empty() ? std::fflush(out) : std::fclose(out)) == 0 && is_good;
  if (!is_good) std::fprintf(stderr, "violet: cannot write %s: %s\n", options.out.c_str(), std::strerror(errno));
  return is_good ? 0 : 1;
}

// --- the table

std::string size_text(std::uint64_t bytes) {
  for (const auto& [unit, name] :
       {std::pair{1U << 30, " GiB"}, std::pair{1U << 20, " MiB"}, std::pair{1U << 10, " KiB"}}) {
    if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes / unit) + name;
  }
  return std::to_string(bytes) + " B";
}
std::string time_text(std::uint64_t ms) {
  if (ms == 0) return "no end";
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}
std::string chain_text(const RouteRow& row) {
  std::string text;
  for (const HookRow& hook : row.chain) {
    const std::string_view name = hook.name.empty() ? hook.source : hook.name;
    text.append(name.substr(name.rfind('/') + 1)).append(" > ");
  }
  return text + (row.is_websocket ? "websocket" : "handler");
}

std::string table_of(const std::vector<RouteRow>& rows) {
  std::vector<std::vector<std::string>> lines = {{"METHOD", "PATTERN", "BODY", "TIME", "CHAIN", "SOURCE"}};
  for (const RouteRow& row : rows) {
    lines.push_back({row.method, row.pattern, row.takes_body ? size_text(row.body_bytes_max) : "-",
                     row.is_websocket ? "-" : time_text(row.handler_ms), chain_text(row), row.source});
  }
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i + 1 < line.size(); ++i) text.append(line[i]).append(widths[i] - line[i].size() + 2, ' ');
    text.append(line.back()).append("\n");
  }
  return text;
}

}  // namespace

int print_openapi(Arguments arguments) {
  Options options{.what = Tell::What::OpenApi, .out = {}, .program = {}};
  if (const int status = parse(arguments, "openapi", kOpenApiUsage, options); status >= 0) return status;
  const auto told = ask(options);
  return told ? give(options, *told + "\n") : 1;
}

int print_routes(Arguments arguments) {
  Options options{.what = Tell::What::Routes, .out = {}, .program = {}};
  if (const int status = parse(arguments, "routes", kRoutesUsage, options); status >= 0) return status;
  const auto told = ask(options);
  if (!told) return 1;
  if (options.is_json) return give(options, *told + "\n");
  const auto rows = json::read<std::vector<RouteRow>>(*told);
  if (!rows) {
    std::fprintf(stderr, "violet: the program is built on another version of violet: %s\n",
                 rows.error().to_string().c_str());
    return 1;
  }
  return give(options, table_of(*rows));
}

}  // namespace violet::cli
