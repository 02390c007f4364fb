#define VIOLET_DEFINE_COUNTING_NEW
#include "tests/support/counting_new.h"
