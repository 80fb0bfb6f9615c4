/* recover.h: finishes the trace of a process that was killed. SPDX-License-Identifier: MIT
 *
 * The trace file is cut to what the ring says was committed, the rest is made again from the ring,
 * open scopes and the footer follow, then the ring is removed. Killed half way, it can be run
 * again: the ring is only removed at the end. Two recoveries of one ring exclude each other by
 * renaming it. docs/CRASH_SAFETY.md has the whole protocol. */
#ifndef PERFTRACE_RECOVER_RECOVER_H
#define PERFTRACE_RECOVER_RECOVER_H

#include "compiler.h"

#include <stdbool.h>

typedef struct perftrace__recovered {
    char ring_path[4096];  /* the ring itself, links followed */
    char trace_path[4096]; /* the file that was finished; "" when unknown */
    char host[256];        /* where the process ran; "" when unknown */
    uint32_t pid;
    int32_t rank;        /* -1 unknown */
    bool running;        /* the process is alive (then status is ERR_STATE) */
    bool complete;       /* nothing was missing: the process had written its footer */
    uint64_t written;    /* events in the file now */
    uint64_t events;     /* of them, added by this call */
    uint64_t unfinished; /* scopes that were open; of a running process: are open */
    uint64_t dropped;    /* losses in all, and by cause */
    uint64_t drops[16];
    uint64_t damaged;        /* threads with records that could not be read */
    uint64_t sessions;       /* session records added by this call */
    char session_path[4096]; /* the file they are in; "" when there is none */
    const char *problem;     /* text of what went wrong or is odd; NULL */
} perftrace__recovered_t;

enum {
    PERFTRACE__RECOVER_KEEP = 1,  /* leave the ring where it is afterwards */
    PERFTRACE__RECOVER_DRY = 2,   /* change nothing: only say what would be done */
    PERFTRACE__RECOVER_FORCE = 4, /* also when the process cannot be seen from here */
    PERFTRACE__RECOVER_LIVE = 8   /* recover_dir: report rings of running processes too */
};

/* Recovers one ring, given its path or that of the link beside the trace file. 0; ERR_STATE while
 * the process is alive (or may be, on another machine or in another container) or another recovery
 * is at work; ERR_CORRUPT when it is no ring, or the file it names is no trace of ours; ERR_DENIED
 * when it belongs to another user (root may, as long as trace and ring have the same owner);
 * ERR_NOT_FOUND; or what opening or writing the trace file gave. ret is filled as far as known.
 * Blocks for the disk. */
int perftrace__recover_ring(const char *path, unsigned flags, perftrace__recovered_t *ret);

/* Called for each ring that was found: status as above. */
typedef void (*perftrace__recover_fn)(const char *ring, int status,
                                      const perftrace__recovered_t *result, void *user);

/* Recovers every ring of dead processes that belongs to trace files in dir: by the links in dir,
 * and by the rings of this user in ring_dirs[0..n) whose trace lies in dir (dir NULL: all of them).
 * Not recursive. Returns how many rings were tried. Live ones are passed over in silence unless
 * asked for. Also takes away what is worth nothing: links whose ring is gone, rings that were never
 * finished. */
unsigned perftrace__recover_dir(const char *dir, const char *const *ring_dirs, unsigned n,
                                unsigned flags, perftrace__recover_fn fn, void *user);

/* Finds the ring of a trace file: the link beside it, else one in ring_dirs[0..n). 0, with its path
 * in out; ERR_EXISTS when there is none and the trace ends with its footer; ERR_NOT_FOUND when
 * there is none. */
int perftrace__recover_ring_of(const char *trace_path, const char *const *ring_dirs, unsigned n,
                               char *out, size_t size);

/* The path of the link to the ring that stands beside a trace file: the suffix .jsonl replaced by
 * .ring. False when out is too small. */
bool perftrace__recover_link(const char *trace_path, char *out, size_t size);

#endif
