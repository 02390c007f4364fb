#pragma once

// The profiles of the arena, each as a user of violet would write it.

#include "items.h"
#include <violet/violet.h>

#include <string>

namespace arena {

// `dataset` has to outlive them.
void add_routes(violet::Routes& routes, const Dataset& dataset);

// /static/*: the files of `folder`, where there is one.
void add_files(violet::App& app, const std::string& folder);

}  // namespace arena
