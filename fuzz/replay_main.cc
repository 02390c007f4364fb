// main() for a fuzz target in an ordinary build: feeds it the empty input, then each file named or found below a
// folder named on the command line, and prints what it is about to feed, so that the last line names the culprit.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);

namespace {

namespace fs = std::filesystem;

void feed(const std::vector<char>& input) {
  // A copy of exactly the input's size, so that AddressSanitizer sees one byte too many.
  const auto bytes = std::make_unique<std::uint8_t[]>(input.size());
  std::ranges::copy(input, bytes.get());
  LLVMFuzzerTestOneInput(bytes.get(), input.size());
}

bool feed_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> input{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    return false;
  }
  std::printf("%s (%zu bytes)\n", path.c_str(), input.size());
  std::fflush(stdout);
  feed(input);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  feed({});
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    std::error_code ignored;
    if (fs::is_regular_file(argv[i], ignored)) {
      if (!feed_file(argv[i])) return 1;
      ++count;
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(argv[i], ignored)) {
      if (!entry.is_regular_file()) continue;
      if (!feed_file(entry.path())) return 1;
      ++count;
    }
  }
  std::printf("replayed the empty input and %zu files\n", count);
  return 0;
}
