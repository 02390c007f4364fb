#include <violet/base/error.h>

#include <cstdio>

int main() { std::puts(violet::message(violet::Error(violet::ErrorKind::NotFound)).c_str()); }
