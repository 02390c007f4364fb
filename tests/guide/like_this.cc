// Never built: the command that would compile this file is the one that compiles the pages of the guide.

#include <violet/violet.h>
