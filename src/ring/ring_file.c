/* ring_file.c. SPDX-License-Identifier: MIT */
#include "ring_file.h"

#include "atomics.h"
#include "os.h"
#include "ring_mirror.h"
#include "test_point.h"
#include "utf8.h"

#include <perftrace/status.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_STEP 65536u

/* Memory for a range of the file now, so that a later store cannot meet a full file system
 * (SIGBUS). */
static bool allocate(int fd, uint64_t at, uint64_t len) {
    int rc;
    do {
        rc = posix_fallocate(fd, (off_t)at, (off_t)len);
    } while (rc == EINTR);
    return rc == 0;
}

static int open_in(const char *dir, char *path, size_t size) {
    char boot[PERFTRACE__BOOT_ID_MAX];
    perftrace__os_boot_id(boot);
    boot[8] = '\0';
    for (unsigned n = 0; n < 1000; n++) {
        /* The boot id tells the rings of this machine from those that a shared directory links to.
         */
        int len = snprintf(path, size, "%s/perftrace-%u-%u-%s-%u.ring", dir, (unsigned)geteuid(),
                           perftrace__os_pid(), boot, n);
        if (len < 0 || (size_t)len >= size) {
            return -1;
        }
        int fd = perftrace__os_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }
    return -1;
}

/* Memory for a thread's slot. */
static bool allocate_slot(int fd, uint64_t at, uint64_t words) {
    uint64_t end = at + PERFTRACE_I_DATA_AT + words * 8;
    return perftrace__os_may_grow_to(end) && ftruncate(fd, (off_t)end) == 0 &&
           allocate(fd, at, sizeof(perftrace__slot_t)) &&
           allocate(fd, at + PERFTRACE_I_DATA_AT, words * 8);
}

/* Maps header and log, from the file when there is one. */
static bool map_head(perftrace__ring_t *r, int flags, uint64_t log_allocated) {
    size_t head = PERFTRACE__RING_HEADER_AT;
    void *p = mmap(NULL, head + PERFTRACE__RING_LOG_CAP, PROT_READ | PROT_WRITE, flags, r->fd, 0);
    if (p == MAP_FAILED) {
        return false;
    }
    r->header = p;
    r->log = (unsigned char *)p + head;
    r->log_allocated = log_allocated;
    return true;
}

/* The first thread's slot is allocated too: a directory without room for it is of no use. */
static bool map_base(perftrace__ring_t *r, uint64_t words) {
    size_t head = PERFTRACE__RING_HEADER_AT;
    if (!allocate_slot(r->fd, head + PERFTRACE__RING_LOG_CAP, words) ||
        !allocate(r->fd, 0, sizeof(perftrace__ring_header_t)) || !allocate(r->fd, head, LOG_STEP)) {
        return false;
    }
    return map_head(r, MAP_SHARED, LOG_STEP);
}

static bool try_dir(perftrace__ring_t *r, const char *dir, uint64_t words) {
    r->fd = open_in(dir, r->path, sizeof(r->path));
    if (r->fd < 0) {
        return false;
    }
    r->id = perftrace__os_file_id(r->fd);
    if (map_base(r, words)) {
        return true;
    }
    unlink(r->path);
    close(r->fd);
    r->fd = -1;
    return false;
}

int perftrace__ring_create(perftrace__ring_t *r, const char *const *dirs, unsigned ndirs,
                           uint64_t words, uint32_t max_slots, const perftrace__run_meta_t *meta) {
    memset(r, 0, sizeof(*r));
    r->fd = -1;
    r->slots_bytes = max_slots * sizeof(perftrace__slot_t *);
    /* Not from the allocator, which a forked child must not call (see unmap). */
    void *slots =
        mmap(NULL, r->slots_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slots == MAP_FAILED) {
        return PERFTRACE_ERR_NOMEM;
    }
    r->slots = slots;
    bool made = false;
    for (unsigned i = 0; i < ndirs && !made; i++) {
        made = try_dir(r, dirs[i], words);
    }
    if (!made) {
        r->path[0] = '\0';
        r->anonymous = true;
        if (!map_head(r, MAP_SHARED | MAP_ANONYMOUS, PERFTRACE__RING_LOG_CAP)) {
            perftrace__ring_unmap(r);
            return PERFTRACE_ERR_NOMEM;
        }
    }
    perftrace__ring_header_t *h = r->header;
    h->version = PERFTRACE__RING_VERSION;
    h->endian = PERFTRACE__RING_ENDIAN;
    h->header_bytes = sizeof(*h);
    h->log_at = PERFTRACE__RING_HEADER_AT;
    h->log_cap = PERFTRACE__RING_LOG_CAP;
    h->slots_at = h->log_at + h->log_cap;
    h->slot_stride = PERFTRACE_I_DATA_AT + words * 8;
    h->ring_words = words;
    h->max_slots = max_slots;
    h->meta = *meta;
    /* The magic last: a file without it was not finished and holds nothing. */
    uint64_t magic;
    memcpy(&magic, PERFTRACE__RING_MAGIC, sizeof(magic));
    pt_store_release((uint64_t *)(void *)h->magic, magic);
    PT_TEST_POINT(ring_created);
    return PERFTRACE_OK;
}

/* Makes sure that fd means the ring file. Where the program has closed it, it is opened again by
 * its name; where that is gone too, fd is -1 and the ring goes on with the memory it has. */
static void check_fd(perftrace__ring_t *r) {
    if (perftrace__os_file_is(r->fd, &r->id)) {
        return;
    }
    r->fd = r->path[0] ? perftrace__os_open(r->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0) : -1;
    if (r->fd >= 0 && !perftrace__os_file_is(r->fd, &r->id)) {
        close(r->fd);
        r->fd = -1;
    }
}

/* Maps slot i. Where the ring file has no room left, or there is none, the slot lies in memory of
 * its own: it is drained like the others, but does not survive a kill (in the file its place reads
 * as a free slot). */
static perftrace__slot_t *map_slot(perftrace__ring_t *r, uint32_t i) {
    const perftrace__ring_header_t *h = r->header;
    uint64_t at = h->slots_at + i * h->slot_stride;
    size_t bytes = (size_t)h->ring_words * 8;
    check_fd(r);
    if (r->fd >= 0 && allocate_slot(r->fd, at, h->ring_words)) {
        return perftrace__mirror_file(r->fd, at, bytes);
    }
    void *s = perftrace__mirror_memory(bytes);
    r->memory_slots += s != NULL;
    return s;
}

static void name_slot(perftrace__slot_t *s, const char *name) {
    size_t n = perftrace__utf8_cut(name, strlen(name), sizeof(s->name) - 1);
    memset(s->name, 0, sizeof(s->name));
    memcpy(s->name, name, n);
}

perftrace__slot_t *perftrace__ring_slot_take(perftrace__ring_t *r, uint32_t tid, uint64_t now_ticks,
                                             const char *name) {
    perftrace__ring_header_t *h = r->header;
    perftrace__slot_t *s = NULL;
    uint32_t n = pt_load_relaxed(&h->slot_count);
    bool fresh = false;
    for (uint32_t i = 0; i < n && !s; i++) {
        /* Pairs with the release in the drain's free_slots: its last reads of the slot are over. */
        if (pt_load_acquire(&r->slots[i]->state) == PERFTRACE__SLOT_FREE) {
            s = r->slots[i];
        }
    }
    if (!s) {
        if (n >= h->max_slots) {
            return NULL;
        }
        s = map_slot(r, n);
        if (!s) {
            return NULL;
        }
        r->slots[n] = s;
        s->hot.mask = h->ring_words - 1;
        fresh = true;
    }
    s->tid = tid;
    s->generation++;
    s->born = now_ticks;
    name_slot(s, name);
    uint64_t word = s->hot.word & ~(uint64_t)0xFF; /* no open scopes */
    pt_store_release(&s->hot.word, word);
    /* Publishes the slot's fields; pairs with the acquire in the drain's snapshot and in readers.
     */
    pt_store_release(&s->state, PERFTRACE__SLOT_LIVE);
    if (fresh) {
        pt_store_release(&h->slot_count, n + 1);
    }
    PT_TEST_POINT(slot_published);
    return s;
}

bool perftrace__ring_log_append(perftrace__ring_t *r, const void *data, size_t len) {
    perftrace__ring_header_t *h = r->header;
    uint64_t at = h->log_len;
    if (len > h->log_cap - at) {
        return false;
    }
    if (at + len > r->log_allocated) {
        check_fd(r);
    }
    while (at + len > r->log_allocated) {
        if (!allocate(r->fd, h->log_at + r->log_allocated, LOG_STEP)) {
            return false;
        }
        r->log_allocated += LOG_STEP;
    }
    memcpy(r->log + at, data, len);
    /* Publishes the entries; pairs with the acquire in the drain's snapshot and in readers. Records
     * that name them are published later by the producers. */
    pt_store_release(&h->log_len, at + len);
    PT_TEST_POINT(site_logged);
    return true;
}

void perftrace__ring_unlink(perftrace__ring_t *r) {
    if (r->path[0]) {
        unlink(r->path);
        r->path[0] = '\0';
    }
    PT_TEST_POINT(ring_unlinked);
}

static void drop_slots(perftrace__ring_t *r) {
    if (r->slots) {
        munmap(r->slots, r->slots_bytes);
        r->slots = NULL;
    }
}

void perftrace__ring_retire(perftrace__ring_t *r) {
    size_t bytes = (size_t)r->header->ring_words * 8;
    for (uint32_t i = 0; i < r->header->slot_count; i++) {
        /* Replaces the pages under a late writer's feet in one step: its stores land in private
         * memory that is only allocated when written. */
        mmap((char *)r->slots[i] + PERFTRACE_I_DATA_AT, 2 * bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    }
    check_fd(r);
    /* Slot control pages and the header stay shared; an unlinked file keeps only those pages. One
     * that still has its name is for recovery. */
    for (uint32_t i = 0; r->fd >= 0 && !r->path[0] && i < r->header->slot_count; i++) {
        uint64_t at = r->header->slots_at + i * r->header->slot_stride + PERFTRACE_I_DATA_AT;
        (void)fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
    }
    if (r->fd >= 0) {
        close(r->fd);
        r->fd = -1;
    }
    drop_slots(r);
}

void perftrace__ring_shed(const perftrace__ring_t *r) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (r->header && !r->slots) {
        munmap((char *)r->header + page,
               PERFTRACE__RING_HEADER_AT + PERFTRACE__RING_LOG_CAP - page);
    }
}

void perftrace__ring_unmap(perftrace__ring_t *r) {
    if (r->header) {
        size_t whole = PERFTRACE_I_DATA_AT + (size_t)r->header->ring_words * 16;
        for (uint32_t i = 0; r->slots && i < r->header->slot_count; i++) {
            munmap(r->slots[i], whole);
        }
        munmap(r->header, PERFTRACE__RING_HEADER_AT + PERFTRACE__RING_LOG_CAP);
    }
    perftrace__os_close_file(r->fd, &r->id);
    drop_slots(r);
    memset(r, 0, sizeof(*r));
    r->fd = -1;
}
