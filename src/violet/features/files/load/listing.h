#pragma once

// The page that shows what is in a folder.

#include "violet/features/files/disk/root.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace violet::files {

struct ListingOptions {
  std::string_view title;  // the folder's path below the root, not escaped
  bool shows_dotfiles = false;
  std::size_t names_max = 0;  // the page says when there are more
};

// HTML of a folder that is open for reading: folders first, names in the order of people, numbers by their value. Shows
// what could be asked for: files and folders. Every name is escaped; nothing of it can become markup or a script.
[[nodiscard]] std::string listing_page(const Root& root, Descriptor folder, const ListingOptions& options);

}  // namespace violet::files
