/* ring_layout.h: the ring file, byte for byte (docs/formats/RING.md). SPDX-License-Identifier: MIT
 *
 * One file a process: header, log of sites and names, then one slot a thread. The tracing process
 * maps it shared, so what was stored survives the process. Host byte order; append-only structures.
 */
#ifndef PERFTRACE_RING_LAYOUT_H
#define PERFTRACE_RING_LAYOUT_H

#include "run_meta.h"

#include <perftrace/layout.h>
#include <stdint.h>

#define PERFTRACE__RING_MAGIC     "PTRING01"
#define PERFTRACE__RING_VERSION   1u
#define PERFTRACE__RING_ENDIAN    0x01020304u
#define PERFTRACE__RING_HEADER_AT 65536u /* bytes kept for the header */
#define PERFTRACE__RING_LOG_CAP   (16u << 20)
#define PERFTRACE__RING_ANCHORS   512u
#define PERFTRACE__RING_STEPS     1024u
#define PERFTRACE__RING_DROPS     16u
#define PERFTRACE__RING_MIN_WORDS (1u << 13)
#define PERFTRACE__RING_MAX_WORDS (1u << 27)
#define PERFTRACE__RING_MAX_SLOTS 65536u

/* A pair of clock readings and the rate from there on: ns = ns + (ticks' - ticks) * mult / 2^32. */
typedef struct perftrace__anchor {
    uint64_t ticks;
    uint64_t ns;   /* since ts 0 */
    uint64_t mult; /* ns a tick, 32.32 fixed point */
} perftrace__anchor_t;

typedef struct perftrace__step_mark {
    uint64_t ticks;
    int64_t step;
} perftrace__step_mark_t;

/* In a commit's file_offset: recovery has found that the file lacks some of `written`; how many are
 * there is to be counted. */
#define PERFTRACE__RING_OFFSET_COUNT ((uint64_t)1 << 63)

/* What has gone to the sinks, valid as a whole: two copies, the one numbered commit_seq & 1 counts.
 */
typedef struct perftrace__commit {
    uint64_t file_offset;                    /* bytes of the trace file that belong to this state */
    uint64_t written;                        /* events in them */
    uint64_t closed;                         /* the footer is among them */
    uint64_t left;                           /* scopes in them that ended threads left open */
    uint64_t dropped[PERFTRACE__RING_DROPS]; /* losses reported in them, by cause */
} perftrace__commit_t;

typedef struct perftrace__ring_header {
    char magic[8];
    uint32_t version;
    uint32_t endian;
    uint32_t header_bytes; /* sizeof this structure when written */
    uint32_t reserved;
    uint64_t log_at;
    uint64_t log_cap;
    uint64_t log_len; /* release: the entries before it are complete */
    uint64_t slots_at;
    uint64_t slot_stride;
    uint64_t ring_words; /* capacity of one ring, a power of two */
    uint32_t max_slots;
    uint32_t slot_count; /* release: the slots below it are set up */
    uint32_t commit_seq; /* release */
    uint32_t drain_wake; /* futex word the drain sleeps on */
    uint32_t drain_asleep;
    uint32_t anchor_count; /* release; anchors[i % ANCHORS] */
    uint64_t step_count;   /* release; steps[i % STEPS] */
    uint64_t no_slot;      /* events lost since their thread has no slot */
    perftrace__commit_t commit[2];
    perftrace__run_meta_t meta;
    perftrace__anchor_t anchors[PERFTRACE__RING_ANCHORS];
    perftrace__step_mark_t steps[PERFTRACE__RING_STEPS];
    uint64_t beat_ns; /* CLOCK_MONOTONIC_RAW of the last sweep: a sign of life for those who cannot
                         see the process */
    /* Of the sessions file, where there is one: bytes of it that belong to the commit of that
     * number, and its name, "" before it was made. */
    uint64_t session_offset[2];
    char session_path[4096];
    uint32_t sessions; /* session records are written */
    uint32_t pad;
    char session_stem[4096]; /* where that file is made, without .jsonl */
} perftrace__ring_header_t;

_Static_assert(sizeof(perftrace__ring_header_t) <= PERFTRACE__RING_HEADER_AT,
               "the header fits its place");
_Static_assert(__builtin_offsetof(perftrace__ring_header_t, commit) <= 4096,
               "what threads look at is in the first page");

enum { PERFTRACE__SLOT_FREE = 0, PERFTRACE__SLOT_LIVE = 1, PERFTRACE__SLOT_EXITED = 2 };

/* Where the drain stands in one slot; two copies, see commit. */
typedef struct perftrace__slot_commit {
    uint64_t pos; /* words */
    uint64_t drops[2];
    uint64_t too_long;
} perftrace__slot_commit_t;

/* A slot's control page. Lines are kept apart by who writes them. */
typedef struct perftrace__slot {
    perftrace_i_slot_t hot; /* the producer */
    perftrace_i_open_t open[PERFTRACE_I_MAX_DEPTH];
    uint64_t pad0[4]; /* to the next line */
    /* the drain */
    uint64_t tail;      /* words released to the producer; release */
    uint32_t tail_wake; /* futex word for a producer that waits */
    uint32_t pad1;
    uint64_t pad2[6];
    /* the producer, rarely */
    uint64_t drops[2];   /* ring_full, block_timeout: events lost, cumulative */
    uint64_t drop_first; /* ticks of the first and last loss since the drain looked last */
    uint64_t drop_last;
    uint32_t waiting; /* the producer waits for tail */
    uint32_t pad3;
    uint64_t too_long;
    uint64_t gave_up; /* block policy: tail + 1 at which a wait was in vain */
    uint64_t pad4;
    /* the drain */
    perftrace__slot_commit_t commit[2];
    uint32_t state; /* release */
    uint32_t tid;
    uint32_t generation; /* threads that have used the slot */
    uint32_t name_seq;   /* odd while the name is being changed */
    uint64_t born;       /* ticks; scopes that began before it began before a fork */
    char name[64];
} perftrace__slot_t;

_Static_assert(sizeof(perftrace_i_slot_t) == 32, "two open scopes fit beside it in the line");
_Static_assert(__builtin_offsetof(perftrace__slot_t, open) == PERFTRACE_I_OPEN_AT,
               "inline code finds the open-scope stack");
_Static_assert(__builtin_offsetof(perftrace__slot_t, tail) % 64 == 0, "lines are kept apart");
_Static_assert(__builtin_offsetof(perftrace__slot_t, drops) % 64 == 0, "lines are kept apart");
_Static_assert(__builtin_offsetof(perftrace__slot_t, commit) % 64 == 0, "lines are kept apart");
_Static_assert(sizeof(perftrace__slot_t) <= 4096, "the control page is one page");

#endif
