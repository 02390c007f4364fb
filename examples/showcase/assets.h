#pragma once

// The files of page/ and the source of the features, compiled into the
// binary; made by violet_embed().

#include <span>
#include <string_view>

namespace showcase {

struct Asset {
  std::string_view name;  // "page.js"
  std::string_view text;
};

std::span<const Asset> assets() noexcept;

}  // namespace showcase
