#pragma once

// The features of the showcase, each as a user of violet would write
// it, and the list of their URLs.

#include <violet/violet.h>

#include <span>
#include <string_view>

namespace showcase {

void add_page(violet::App& app);
void add_features(violet::App& app);

struct Shown {
  std::string_view method;
  std::string_view target;
  std::string_view what;
};
std::span<const Shown> shown() noexcept;

}  // namespace showcase
