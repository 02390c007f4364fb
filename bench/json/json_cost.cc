// json_cost ARM ROUNDS: reads or writes JSON that many times and says how many bytes one time is, and how many
// nanoseconds of processor time a time took. Without arguments: the arms. bench/json_cost.py counts its instructions.

#include "items.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

using namespace weigh;

std::vector<Arm> all_arms() {
  std::vector<Arm> arms;
  for (const auto& some : {violet_arms(), nlohmann_arms(), simdjson_arms()})
    arms.insert(arms.end(), some.begin(), some.end());
  return arms;
}

double processor_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

int list() {
  for (const Arm& arm : all_arms())
    std::printf("%s\t%.*s\n", arm.name.data(), static_cast<int>(arm.about.size()), arm.about.data());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count == 1) return list();
  const std::size_t rounds = count == 3 ? std::strtoul(words[2], nullptr, 10) : 0;
  for (const Arm& arm : all_arms()) {
    if (rounds == 0 || arm.name != words[1]) continue;
    const double before = processor_ns();
    const std::size_t bytes = arm.run(rounds);
    std::printf("%zu bytes, %.0f ns, simdjson's kernel: %s\n", bytes,
                (processor_ns() - before) / static_cast<double>(rounds), simdjson_kernel().c_str());
    return 0;
  }
  std::fputs("usage: json_cost [ARM ROUNDS]\n", stderr);
  return 2;
}
