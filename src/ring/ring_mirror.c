/* ring_mirror.c. SPDX-License-Identifier: MIT */
#include "ring_mirror.h"

#include "os.h"

#include <perftrace/layout.h>

#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#    define MADV_POPULATE_WRITE 23
#endif

#define ACCESS (PROT_READ | PROT_WRITE)

/* Page faults now, not on the producer's way. */
static void touch(char *p, size_t len) {
    if (madvise(p, len, MADV_POPULATE_WRITE) == 0) {
        return;
    }
    size_t page = perftrace__os_page_size();
    for (size_t i = 0; i < len; i += page) {
        volatile char *c = p + i;
        *c = *c;
    }
}

/* Addresses for all of it. */
static char *reserve(size_t bytes) {
    void *p = mmap(NULL, PERFTRACE_I_DATA_AT + 2 * bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void *finish(char *p, size_t bytes, bool mapped) {
    if (!mapped) {
        munmap(p, PERFTRACE_I_DATA_AT + 2 * bytes);
        return NULL;
    }
    touch(p, perftrace__os_page_size());
    touch(p + PERFTRACE_I_DATA_AT, bytes);
    return p;
}

static bool map_at(char *p, size_t len, int flags, int fd, uint64_t at) {
    return mmap(p, len, ACCESS, MAP_SHARED | MAP_FIXED | flags, fd, (off_t)at) != MAP_FAILED;
}

void *perftrace__mirror_file(int fd, uint64_t at, size_t bytes) {
    char *p = reserve(bytes);
    if (!p) {
        return NULL;
    }
    bool mapped = map_at(p, PERFTRACE_I_DATA_AT + bytes, 0, fd, at) &&
                  map_at(p + PERFTRACE_I_DATA_AT + bytes, bytes, 0, fd, at + PERFTRACE_I_DATA_AT);
    return finish(p, bytes, mapped);
}

/* By a file without a name, which valgrind and qemu-user can follow. */
static bool map_nameless(char *data, size_t bytes) {
    int fd = perftrace__os_may_grow_to(bytes) ? perftrace__os_open_memory("perftrace-slot") : -1;
    bool mapped = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 && map_at(data, bytes, 0, fd, 0) &&
                  map_at(data + bytes, bytes, 0, fd, 0);
    if (fd >= 0) {
        close(fd);
    }
    return mapped;
}

/* mremap of nothing gives the same shared pages a second place. */
static bool map_double(char *data, size_t bytes) {
    return map_at(data, bytes, MAP_ANONYMOUS, -1, 0) &&
           mremap(data, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, data + bytes) == data + bytes;
}

void *perftrace__mirror_memory(size_t bytes) {
    char *p = reserve(bytes);
    if (!p) {
        return NULL;
    }
    char *data = p + PERFTRACE_I_DATA_AT;
    /* The control page apart from the ring: it stays when the ring's memory is given back. */
    bool mapped = map_at(p, PERFTRACE_I_DATA_AT, MAP_ANONYMOUS, -1, 0) &&
                  (map_nameless(data, bytes) || map_double(data, bytes));
    return finish(p, bytes, mapped);
}
