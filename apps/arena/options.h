#pragma once

// What the command line of arena says.

#include <string>

namespace arena {

// Listeners are HOST:PORT, or empty for none.
struct Options {
  std::string h1 = "0.0.0.0:8080";
  std::string h1_tls = "0.0.0.0:8081";
  std::string h2c = "0.0.0.0:8082";
  std::string h2 = "0.0.0.0:8443";
  std::string h3 = "0.0.0.0:8443";
  std::string tls_check = "0.0.0.0:9000";
  int loops = 0;         // 0: from the affinity mask and the cgroup
  int processes = 0;     // 0: none beside the one that was started
  int idle_seconds = 0;  // 0: the library's limit
  std::string data = "/data";
  std::string certs = "/certs";
  std::string tls_check_certs = "/certs-tls";
};

// Status to exit with at once: 0 after --help, 2 for a wrong command line, which has been explained; -1: go on.
int parse(int argc, char** argv, Options& options);

}  // namespace arena
