// Counts the heap calls of the program it is preloaded into (LD_PRELOAD), in a file that others can read meanwhile.
//
// MALLOC_COUNT=FILE names it; a child that a program forks counts into FILE.PID. The file holds four native 64-bit
// numbers: allocations (malloc, calloc, realloc and the aligned ones), releases, bytes asked for, and 1 as a mark.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// The C library's own, under the names that it keeps for such purposes.
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);

typedef struct {
  uint64_t allocations, releases, bytes, mark;
} Counts;

static Counts unmapped;
static Counts* counts = &unmapped;

static void add(uint64_t* count, uint64_t n) { __atomic_fetch_add(count, n, __ATOMIC_RELAXED); }

static void* counted(void* memory, size_t size) {
  add(&counts->allocations, 1);
  add(&counts->bytes, size);
  return memory;
}

static void map_file(const char* path) {
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (ftruncate(fd, sizeof(Counts)) == 0) {
    Counts* mapped = mmap(NULL, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped != MAP_FAILED) {
      counts = mapped;
      counts->mark = 1;
    }
  }
  close(fd);
}

static void after_fork(void) {
  const char* file = getenv("MALLOC_COUNT");
  char path[512];
  counts = &unmapped;
  if (file != NULL && snprintf(path, sizeof path, "%s.%d", file, (int)getpid()) < (int)sizeof path) map_file(path);
}

__attribute__((constructor)) static void begin(void) {
  const char* file = getenv("MALLOC_COUNT");
  if (file != NULL) map_file(file);
  pthread_atfork(NULL, NULL, after_fork);
}

void* malloc(size_t size) { return counted(__libc_malloc(size), size); }
void* calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size), count * size); }
void* realloc(void* old, size_t size) { return counted(__libc_realloc(old, size), size); }
void* memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size), size); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** result, size_t alignment, size_t size) {
  void* memory = memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *result = memory;
  return 0;
}

void free(void* memory) {
  if (memory != NULL) add(&counts->releases, 1);
  __libc_free(memory);
}
