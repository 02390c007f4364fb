#include "options.h"

#include <charconv>
#include <cstdio>
#include <string_view>

namespace showcase {
namespace {

constexpr const char* kUsage =
    "usage: showcase [flags]\n"
    "  --port N       listens on http://127.0.0.1:N alone; 0 takes a "
    "free one\n"
    "  --listen URL   listens there instead: http://[::]:8080, "
    "https://localhost:8443, unix:/run/showcase.sock; may be repeated\n"
    "  --loops N      event loops (one for each usable processor)\n"
    "  --help         this text\n";

int wrong(std::string_view flag, std::string_view what) {
  std::fprintf(stderr, "showcase: %s %s; --help shows the flags\n",
               std::string(flag).c_str(), std::string(what).c_str());
  return 2;
}

bool read_number(std::string_view text, int least, int most, int& out) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() &&
         out >= least && out <= most;
}

}  // namespace

int parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    std::string_view flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    if (flag != "--port" && flag != "--listen" && flag != "--loops")
      return wrong(flag, "is no flag");
    if (++i == argc) return wrong(flag, "needs a value");
    const std::string_view value = argv[i];
    if (flag == "--listen") {
      options.urls.emplace_back(value);
    } else if (flag == "--loops") {
      if (!read_number(value, 1, 1024, options.loops))
        return wrong(flag, "takes a number from 1 to 1024");
    } else {
      int port = 0;
      if (!read_number(value, 0, 65535, port))
        return wrong(flag, "takes a number from 0 to 65535");
      options.urls.push_back("http://127.0.0.1:" +
                             std::to_string(port));
    }
  }
  if (options.urls.empty())
    options.urls = {"http://127.0.0.1:8080", "https://127.0.0.1:8443"};
  return -1;
}

}  // namespace showcase
