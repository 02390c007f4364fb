#include "tests/files/counted_calls.h"

namespace violet::files {
namespace {

constinit thread_local CallCounts counts;

}  // namespace

CallCounts counted_calls() noexcept { return counts; }

}  // namespace violet::files

#ifndef VIOLET_COUNTS_NO_CALLS

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

using violet::files::counts;

// The C library's own function of that name.
template <class F>
F* real(F*, const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// NOLINTBEGIN
extern "C" {

int statx(int descriptor, const char* path, int flags, unsigned mask, struct statx* out) {
  ++counts.looks;
  static const auto next = real(&statx, "statx");
  return next(descriptor, path, flags, mask, out);
}
int open(const char* path, int flags, ...) {
  ++counts.others;
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  static const auto next = real(&open, "open");
  return next(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  ++counts.others;
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  static const auto next = real(&openat, "openat");
  return next(folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  ++counts.others;
  static const auto next = real(&fopen, "fopen");
  return next(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  ++counts.others;
  static const auto next = real(&fopen64, "fopen64");
  return next(path, mode);
}
ssize_t pread(int descriptor, void* to, size_t size, off_t at) {
  ++counts.others;
  static const auto next = real(&pread, "pread");
  return next(descriptor, to, size, at);
}
ssize_t preadv2(int descriptor, const iovec* pieces, int count, off_t at, int flags) {
  ++counts.others;
  static const auto next = real(&preadv2, "preadv2");
  return next(descriptor, pieces, count, at, flags);
}
int fstat(int descriptor, struct stat* out) {
  ++counts.others;
  static const auto next = real(&fstat, "fstat");
  return next(descriptor, out);
}
int stat(const char* path, struct stat* out) {
  ++counts.others;
  static const auto next = real(static_cast<int (*)(const char*, struct stat*)>(&stat), "stat");
  return next(path, out);
}
char* realpath(const char* path, char* out) {
  ++counts.others;
  static const auto next = real(&realpath, "realpath");
  return next(path, out);
}
ssize_t readlinkat(int folder, const char* path, char* to, size_t size) {
  ++counts.others;
  static const auto next = real(&readlinkat, "readlinkat");
  return next(folder, path, to, size);
}
int close(int descriptor) {
  ++counts.others;
  static const auto next = real(&close, "close");
  return next(descriptor);
}
long syscall(long number, ...) {
  va_list more;
  va_start(more, number);
  long a[6];
  for (long& each : a) each = va_arg(more, long);
  va_end(more);
  if (number == SYS_openat2) ++counts.others;
  static const auto next = real(&syscall, "syscall");
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
int pthread_mutex_lock(pthread_mutex_t* mutex) {
  ++counts.locks;
  static const auto next = real(&pthread_mutex_lock, "pthread_mutex_lock");
  return next(mutex);
}

}  // extern "C"
// NOLINTEND

#endif
