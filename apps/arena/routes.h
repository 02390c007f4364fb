#pragma once

// The profiles of the arena, each as a user of violet would write it.

#include <violet/violet.h>

namespace arena {

void add_routes(violet::Routes& routes);

}  // namespace arena
