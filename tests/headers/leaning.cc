#include "leaning.h"
