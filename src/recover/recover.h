/* recover.h: finishes the trace of a process that was killed. SPDX-License-Identifier: MIT
 *
 * The trace file is cut to what the ring says was committed, the rest is made again from the ring,
 * open scopes and the footer follow, then the ring is removed. Killed half way, it can be run
 * again: the ring is only removed at the end. Two recoveries of one ring exclude each other by
 * renaming it. */
#ifndef PERFTRACE_RECOVER_RECOVER_H
#define PERFTRACE_RECOVER_RECOVER_H

#include "compiler.h"

#include <stdbool.h>

typedef struct perftrace__recovered {
    char trace_path[4096]; /* the file that was finished; "" when unknown */
    uint32_t pid;
    int32_t rank;
    uint64_t events;     /* added by this call */
    uint64_t unfinished; /* scopes that were open */
    uint64_t dropped;    /* losses the process had counted */
    uint64_t damaged;    /* threads with records that could not be read */
    bool complete;       /* nothing was missing: the process had written its footer */
    const char *problem; /* text of what went wrong or is odd; NULL */
} perftrace__recovered_t;

enum { PERFTRACE__RECOVER_KEEP = 1 /* leave the ring where it is afterwards */ };

/* Recovers one ring, given its path or that of the link beside the trace file. 0; ERR_STATE while
 * the process is alive or another recovery is at work; ERR_CORRUPT when it is no ring;
 * ERR_NOT_FOUND; or what opening or writing the trace file gave. ret is filled as far as known.
 * Blocks for the disk. */
int perftrace__recover_ring(const char *path, unsigned flags, perftrace__recovered_t *ret);

/* Called for each ring that was found dead: status as above. */
typedef void (*perftrace__recover_fn)(const char *ring, int status,
                                      const perftrace__recovered_t *result, void *user);

/* Recovers every ring of dead processes that belongs to trace files in dir: by the links in dir,
 * and by the rings in ring_dirs[0..n) whose trace lies in dir. Not recursive. Returns how many
 * rings were tried. Live ones are passed over in silence unless report_live. */
unsigned perftrace__recover_dir(const char *dir, const char *const *ring_dirs, unsigned n,
                                bool report_live, perftrace__recover_fn fn, void *user);

/* The path of the link to the ring that stands beside a trace file: the suffix .jsonl replaced by
 * .ring. False when out is too small. */
bool perftrace__recover_link(const char *trace_path, char *out, size_t size);

#endif
