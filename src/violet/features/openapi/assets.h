#pragma once

// The files of viewer/, compiled into the library; made by violet_embed().

#include <span>
#include <string_view>

namespace violet::openapi {

struct Asset {
  std::string_view name;  // "viewer.js"
  std::string_view text;
};

std::span<const Asset> assets() noexcept;

}  // namespace violet::openapi
