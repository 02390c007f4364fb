// Counts what a program does that has no need to be done: heap calls, bytes copied, locks. Preloaded (LD_PRELOAD); the
// counts stand in a file that others read meanwhile.
//
// TALLY=FILE names it; a child that the program forks counts into FILE.PID. Layout: struct Tally below, native numbers.
// Copies are also counted by the address that memcpy or memmove returns to, so that somebody can be asked why. What a
// compiler turns into loads and stores (copies of a small constant size) is not seen, nor what libc copies inside.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
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

enum { kSites = 4096, kMark = 2 };

typedef struct {
  uint64_t caller, calls, bytes;
} Site;

typedef struct {
  uint64_t mark;  // kMark: somebody is counting
  uint64_t allocations, releases, asked_bytes;
  int64_t live_bytes;  // as the allocator sees them
  uint64_t copies, copied_bytes, locks;
  Site sites[kSites];
} Tally;

static Tally unmapped;
static Tally* tally = &unmapped;

static void add(uint64_t* count, uint64_t n) { __atomic_fetch_add(count, n, __ATOMIC_RELAXED); }
static void add_live(int64_t n) { __atomic_fetch_add(&tally->live_bytes, n, __ATOMIC_RELAXED); }

static void map_file(const char* path) {
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (ftruncate(fd, sizeof(Tally)) == 0) {
    Tally* mapped = mmap(NULL, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped != MAP_FAILED) {
      tally = mapped;
      tally->mark = kMark;
    }
  }
  close(fd);
}

static void after_fork(void) {
  const char* file = getenv("TALLY");
  char path[512];
  tally = &unmapped;
  if (file != NULL && snprintf(path, sizeof path, "%s.%d", file, (int)getpid()) < (int)sizeof path) map_file(path);
}

__attribute__((constructor)) static void begin(void) {
  const char* file = getenv("TALLY");
  if (file != NULL) map_file(file);
  pthread_atfork(NULL, NULL, after_fork);
}

// --- heap

static void* counted(void* memory, size_t size) {
  add(&tally->allocations, 1);
  add(&tally->asked_bytes, size);
  add_live((int64_t)malloc_usable_size(memory));
  return memory;
}

void* malloc(size_t size) { return counted(__libc_malloc(size), size); }
void* calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size), count * size); }
void* memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size), size); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

void* realloc(void* old, size_t size) {
  add_live(-(int64_t)malloc_usable_size(old));
  return counted(__libc_realloc(old, size), size);
}

int posix_memalign(void** result, size_t alignment, size_t size) {
  void* memory = memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *result = memory;
  return 0;
}

void free(void* memory) {
  if (memory == NULL) return;
  add(&tally->releases, 1);
  add_live(-(int64_t)malloc_usable_size(memory));
  __libc_free(memory);
}

// --- copies

static void count_copy(const void* caller, size_t size) {
  add(&tally->copies, 1);
  add(&tally->copied_bytes, size);
  const uint64_t key = (uint64_t)(uintptr_t)caller;
  for (uint64_t probe = 0, at = key * 0x9e3779b97f4a7c15u >> 52; probe < 64; ++probe, ++at) {
    Site* site = &tally->sites[at % kSites];
    uint64_t seen = __atomic_load_n(&site->caller, __ATOMIC_RELAXED);
    if (seen == 0 && __atomic_compare_exchange_n(&site->caller, &seen, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      seen = key;
    }
    if (seen != key) continue;
    add(&site->calls, 1);
    add(&site->bytes, size);
    return;
  }
}

// Written so that no compiler makes a call of memcpy out of it.
static void copy_up(unsigned char* to, const unsigned char* from, size_t size) {
#if defined(__x86_64__)
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
#else
  for (volatile size_t i = 0; i < size; ++i) to[i] = from[i];
#endif
}
static void copy_down(unsigned char* to, const unsigned char* from, size_t size) {
  for (volatile size_t i = size; i > 0; --i) to[i - 1] = from[i - 1];
}

void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  count_copy(__builtin_return_address(0), size);
  copy_up(to, from, size);
  return to;
}

void* mempcpy(void* restrict to, const void* restrict from, size_t size) {
  count_copy(__builtin_return_address(0), size);
  copy_up(to, from, size);
  return (unsigned char*)to + size;
}

void* memmove(void* to, const void* from, size_t size) {
  count_copy(__builtin_return_address(0), size);
  if ((uintptr_t)to - (uintptr_t)from >= size) {
    copy_up(to, from, size);
  } else {
    copy_down(to, from, size);
  }
  return to;
}

// --- locks

#define COUNTED_LOCK(name, type)                                              \
  int name(type* lock) {                                                      \
    static int (*real)(type*);                                                \
    if (real == NULL) *(void**)(&real) = dlsym(RTLD_NEXT, #name);             \
    add(&tally->locks, 1);                                                    \
    return real(lock);                                                        \
  }
COUNTED_LOCK(pthread_mutex_lock, pthread_mutex_t)
COUNTED_LOCK(pthread_mutex_trylock, pthread_mutex_t)
COUNTED_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
COUNTED_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
