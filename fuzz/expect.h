#pragma once

// EXPECT(x): what a fuzz target demands. Checked in every build, so that a replay can fail too.

#include "violet/base/check.h"

#define EXPECT(expression) VIOLET_CHECK(expression)
