/* ring_file.h: the tracing process's side of a ring file: create, map, grow.
 * SPDX-License-Identifier: MIT
 *
 * Not thread-safe: the core holds its lock around calls. None is on an event's way. */
#ifndef PERFTRACE_RING_FILE_H
#define PERFTRACE_RING_FILE_H

#include "os.h"
#include "ring_layout.h"
#include "strbuf.h"

#include <stdbool.h>

typedef struct perftrace__ring {
    int fd;
    perftrace__os_file_id_t id;       /* of the ring file, to know whether fd still means it */
    perftrace__ring_header_t *header; /* mapped */
    unsigned char *log;               /* mapped, log_cap bytes */
    uint64_t log_allocated;
    perftrace__slot_t **slots; /* mapped slots by index, max_slots places */
    size_t slots_bytes;        /* of this array */
    char path[4096];           /* "" for an anonymous ring */
    uint32_t memory_slots;     /* slots that found no room in a file and will not survive */
    bool anonymous;            /* no file could be made: works, but does not survive the process */
} perftrace__ring_t;

/* Creates a ring file (O_EXCL, 0600) in the first of dirs[0..ndirs) that takes it, else in
 * memory. words: capacity of one ring in words, a power of two in range. meta is copied.
 * 0 or a status; nothing is left behind on failure. */
int perftrace__ring_create(perftrace__ring_t *r, const char *const *dirs, unsigned ndirs,
                           uint64_t words, uint32_t max_slots, const perftrace__run_meta_t *meta);

/* Maps a slot: an exited one whose events are all drained, else a new one, memory touched. Sets
 * tid, state LIVE, a fresh name. NULL when no slot or no memory is left. */
perftrace__slot_t *perftrace__ring_slot_take(perftrace__ring_t *r, uint32_t tid, uint64_t now_ticks,
                                             const char *name);

/* Appends entries (whole log entries) to the log; false when it is full. */
bool perftrace__ring_log_append(perftrace__ring_t *r, const void *data, size_t len);

/* Removes the file's name (when it still has one); the mapping stays. */
void perftrace__ring_unlink(perftrace__ring_t *r);

/* Gives the memory of all rings back while threads may still write: private zero pages take the
 * place of the shared ones. A ring file that was not unlinked keeps its contents. The mapping of
 * header and slots stays valid (threads hold pointers). */
void perftrace__ring_retire(perftrace__ring_t *r);

/* Of a retired ring that another one follows: unmaps the log and all of the header but its first
 * page, in which stands what a late thread may still look at; that and the slots stay valid for
 * ever. Does nothing to a ring that was not retired. */
void perftrace__ring_shed(const perftrace__ring_t *r);

/* Unmaps everything and closes. Only when no other thread can hold a slot: in a forked child, or
 * after a create whose ring nobody saw. Does not unlink, and neither allocates nor frees. */
void perftrace__ring_unmap(perftrace__ring_t *r);

#endif
