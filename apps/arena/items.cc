#include "items.h"

#include <fstream>
#include <iterator>

namespace arena {

std::expected<Dataset, std::string> load_dataset(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Dataset{};
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto items = violet::json::read<std::vector<Item>>(text);
  if (!items) return std::unexpected(path + ": " + items.error().to_string());
  return Dataset{std::move(*items)};
}

}  // namespace arena
