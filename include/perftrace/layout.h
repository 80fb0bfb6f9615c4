/* perftrace/layout.h: the few facts that inline code and the library share.
 * SPDX-License-Identifier: MIT
 *
 * Nothing here is for direct use by a program: names begin with PERFTRACE_I_ or perftrace_i_ and
 * may change with the ABI version. docs/formats/RING.md describes the whole file. */
#ifndef PERFTRACE_LAYOUT_H
#define PERFTRACE_LAYOUT_H

#include <stdint.h>

/* Record kinds. X(NAME, number, Chrome phase). Numbers are part of the ring format: append only. */
#define PERFTRACE_I_KIND_LIST(X)                                                                   \
    X(SCOPE, 1, "X")            /* start, end, arguments */                                        \
    X(INSTANT, 2, "i")          /* time, arguments */                                              \
    X(COUNTER, 3, "C")          /* time, one value a series */                                     \
    X(FLOW_START, 4, "s")       /* time, id */                                                     \
    X(FLOW_STEP, 5, "t")        /* time, id */                                                     \
    X(FLOW_END, 6, "f")         /* time, id */                                                     \
    X(ASYNC_BEGIN, 7, "b")      /* time, id, arguments */                                          \
    X(ASYNC_INSTANT, 8, "n")    /* time, id, arguments */                                          \
    X(ASYNC_END, 9, "e")        /* time, id, arguments */                                          \
    X(SESSION_BEGIN, 10, "b")   /* time, session id, its task if it has one */                     \
    X(PHASE_BEGIN, 11, "b")     /* time, session id, arguments: the start payload */               \
    X(PHASE_END, 12, "e")       /* begin, end, session id, arguments: the end payload */           \
    X(SESSION_END, 13, "e")     /* time, session id, status, reason */                             \
    X(TASK_BEGIN, 14, "b")      /* time, task id, its parent if it has one */                      \
    X(TASK_END, 15, "e")        /* time, task id, status, reason: ends all its sessions */         \
    X(SESSION_COUNTER, 16, "n") /* time, session id, value */                                      \
    X(SESSION_PHASE, 17, "n")   /* time, 0, allow_multiple, ready_on_complete: a declaration */

enum {
#define PERFTRACE_I_KIND_ENUM(name, number, phase) PERFTRACE_I_KIND_##name = (number),
    PERFTRACE_I_KIND_LIST(PERFTRACE_I_KIND_ENUM)
#undef PERFTRACE_I_KIND_ENUM
        PERFTRACE_I_KIND_LAST = PERFTRACE_I_KIND_SESSION_PHASE
};

/* Argument types. X(NAME, number). One 64-bit word each; STR is a length word and padded bytes, and
 * so is JSON: the text of one value, which becomes part of the line as it is. */
#define PERFTRACE_I_TYPE_LIST(X)                                                                   \
    X(I64, 1)                                                                                      \
    X(U64, 2)                                                                                      \
    X(F64, 3)                                                                                      \
    X(BOOL, 4)                                                                                     \
    X(STR, 5)                                                                                      \
    X(JSON, 6)

enum {
#define PERFTRACE_I_TYPE_ENUM(name, number) PERFTRACE_I_TYPE_##name = (number),
    PERFTRACE_I_TYPE_LIST(PERFTRACE_I_TYPE_ENUM)
#undef PERFTRACE_I_TYPE_ENUM
        PERFTRACE_I_TYPE_LAST = PERFTRACE_I_TYPE_JSON
};
/* Whether an argument of the type is bytes behind a length. */
#define PERFTRACE_I_TYPE_HAS_BYTES(type) ((type) >= PERFTRACE_I_TYPE_STR)

/* A record is a run of 64-bit words, host byte order:
 *   word 0: kind (8 bits) | flags (8) | length in words, this one counted (16) | site id (32)
 *   word 1: time, clock ticks; of scopes and ends of phases the begin, and word 2: the end
 *   then, if flagged, the name id; then the id of all but scopes, instants and counters; then the
 *   arguments. The end of a phase may name the site of its begin: then it has no arguments, nor has
 *   a scope that was left open. */
#define PERFTRACE_I_RECORD_NAMED  1u /* a word with the id of a run-time name follows the times */
#define PERFTRACE_I_RECORD_FORKED 2u /* scope began before the fork; start is the fork's time */
#define PERFTRACE_I_RECORD_LEFT   4u /* scope that its thread left open: the end is the thread's */

#define PERFTRACE_I_RECORD_HEAD(kind, flags, words, site)                                          \
    ((uint64_t)(kind) | (uint64_t)(flags) << 8 | (uint64_t)(words) << 16 | (uint64_t)(site) << 32)

#define PERFTRACE_I_MAX_ARGS   12
#define PERFTRACE_I_MAX_DEPTH  200u   /* open scopes of one thread that are visible from outside */
#define PERFTRACE_I_NO_DEPTH   255u   /* a scope that found no room in the open-scope stack */
#define PERFTRACE_I_SCOPE_STR  256u   /* bytes of one string argument of a scope, mark included */
#define PERFTRACE_I_DATA_AT    65536u /* ring data, from the slot's start; a page multiple */
#define PERFTRACE_I_OPEN_AT    32u    /* open-scope stack, from the slot's start */
#define PERFTRACE_I_SITE_FRESH 0x80000000u /* site word before registration */
#define PERFTRACE_I_RUN_SHIFT                                                                      \
    19u /* a site word: 0, FRESH, or run number << RUN_SHIFT | site id                             \
         */
#define PERFTRACE_I_SITE_ID(word) ((word) & ((1u << PERFTRACE_I_RUN_SHIFT) - 1))
#define PERFTRACE_I_RUN_MAX       4095u

#define PERFTRACE_I_SCOPE_SLOW 0x100u /* in nargs: has strings or a run-time name */
#define PERFTRACE_I_SCOPE_SPAN 0x200u /* in nargs: not bound to a block, may end out of order */

/* An entry of the open-scope stack. site 0: closed out of order, skip it. */
typedef struct perftrace_i_open {
    uint64_t start; /* clock ticks */
    uint32_t site;
    uint32_t name; /* id of a run-time name, or 0 */
} perftrace_i_open_t;

/* The first half of a slot's first cache line in the ring file; the open-scope stack begins in the
 * other half. A producer only stores to it: what it reads lies in perftrace_i_thread_t. */
typedef struct perftrace_i_slot {
    /* words published << 8 | open scopes. One store-release publishes a record and pops the scope
     * in one step, so whoever looks after a kill sees either both or neither. */
    uint64_t word;
    uint64_t reserved;
    uint64_t mask; /* ring capacity in words - 1 */
    uint64_t reserved_too;
} perftrace_i_slot_t;

/* What a producer reads: one line of its thread-local storage. With cold caches a scope waits for
 * this line and the call site's at once, and for nothing behind a pointer. */
typedef struct perftrace_i_thread {
    perftrace_i_slot_t *slot;
    uint64_t word;  /* of the slot */
    uint64_t limit; /* the largest value of word that needs no look at the consumer's position */
    uint64_t mask;  /* of the slot */
    /* run number << RUN_SHIFT of the run the slot belongs to: equal to that of the site words while
     * inline code may go on by itself. 0 is no run's: no slot yet, no invariant clock, after fork,
     * after a restart; then the slow functions decide. */
    uint32_t run;
    uint32_t reserved;
    int64_t session; /* the current one + 1; 0 none */
    int64_t task;    /* likewise */
    uint64_t reserved_too;
} __attribute__((aligned(64))) perftrace_i_thread_t;

typedef struct perftrace_i_arg {
    const char *name;
    uint32_t type;
} perftrace_i_arg_t;

/* A call site: one per macro use, static. The library keeps no pointer that it would follow after
 * the module was unloaded. */
typedef struct perftrace_i_site {
    uint32_t word; /* 0 off; FRESH before first use and after a stop; else run and id: on */
    uint16_t kind;
    uint16_t nargs;
    const char *name; /* NULL: named at run time */
    const char *category;
    const char *file;
    const perftrace_i_arg_t *args;
    uint32_t line;
    uint32_t id; /* once registered */
    struct perftrace_i_site *next;
    uint64_t reserved;
} __attribute__((aligned(64))) perftrace_i_site_t;

/* A scope that is open. Lives in the caller's frame; in a block scope the compiler keeps it in
 * registers, so nothing may take its address: slow functions get and return its parts by value. */
typedef struct perftrace_i_scope {
    uint32_t live;  /* the site's word at begin, 0 when tracing was off */
    uint32_t depth; /* index in the open-scope stack, or NO_DEPTH */
    uint64_t start; /* clock ticks */
    uint32_t name;  /* id of a run-time name, or 0 */
    uint32_t nargs; /* and PERFTRACE_I_SCOPE_ flags */
    const perftrace_i_site_t *site;
    const uint64_t *values; /* the argument words, elsewhere in the frame */
} perftrace_i_scope_t;

/* What a slow begin found: two registers. */
typedef struct perftrace_i_begun {
    uint64_t live_depth; /* live | depth << 32 */
    uint64_t start;
} perftrace_i_begun_t;

/* A phase of a session that is open; the program's, may be handed to another thread. */
typedef struct perftrace_phase {
    int64_t session;
    uint64_t start; /* clock ticks */
    uint32_t live;  /* the site's word at begin, 0 when nothing is to be ended */
    uint32_t name;  /* id of a run-time name, or 0 */
    const perftrace_i_site_t *site;
} perftrace_phase_t;

/* The argument words of a point event whose strings may be temporaries, handed over by value. */
typedef struct perftrace_i_words {
    uint64_t v[PERFTRACE_I_MAX_ARGS + 1];
} perftrace_i_words_t;

/* Where the copies of a scope's strings go: room for `left` more. */
typedef struct perftrace_i_hold {
    char *next;
    uint64_t left;
} perftrace_i_hold_t;

/* A scope that is begun and ended in different blocks or functions; see PERFTRACE_BEGIN. */
typedef struct perftrace_span {
    perftrace_i_scope_t scope;
    uint64_t values[PERFTRACE_I_MAX_ARGS];
    char strings[PERFTRACE_I_SCOPE_STR * 4];
} perftrace_span_t;

#endif
