/* rank_store.h: the events of one trace file, compact. SPDX-License-Identifier: MIT
 *
 * Scopes become rows of 40 bytes; texts are kept once. Instants and flows are counted, counters
 * become points. Everything is in the order of the file, times are ns on the file's clock. Not
 * thread-safe. */
#ifndef PERFTRACE_ANALYZE_RANK_STORE_H
#define PERFTRACE_ANALYZE_RANK_STORE_H
#include "analyze_names.h"
#include "clock_notes.h"
#include "trace_source.h"

/* What a scope is, told by its category. */
typedef enum pt_row_kind {
    PT_ROW_OTHER, /* a program's own scope */
    PT_ROW_CPU_OP,
    PT_ROW_ANNOTATION,
    PT_ROW_RUNTIME, /* a call of the device's runtime or driver */
    PT_ROW_PYTHON,
    PT_ROW_FRAME, /* the profiler's own: it spans the recording */
    PT_ROW_GPU_ANNOTATION,
    PT_ROW_SYNC, /* a record of waiting on the device's time line; no work */
    PT_ROW_KERNEL,
    PT_ROW_MEMCPY,
    PT_ROW_MEMSET
} pt_row_kind_t;

typedef enum pt_row_state {
    PT_ROW_WHOLE,
    PT_ROW_UNFINISHED, /* its end is not recorded: it has begun, and ends where all does */
    PT_ROW_LEFT_OUT    /* its time lies far from all others */
} pt_row_state_t;

/* Kinds that are work of the device. */
#define PT_ROW_IS_WORK(kind) ((kind) >= PT_ROW_KERNEL)

#define PT_NOT_RECORDED INT64_MIN

typedef struct pt_row {
    int64_t ts, dur;
    int64_t link;   /* correlation, or the step of a program's own scope; PT_NOT_RECORDED: none */
    uint32_t name;  /* in store->names */
    uint32_t track; /* in store->track */
    uint32_t extra; /* one more than the index in store->extra; 0: none */
    uint16_t cat;   /* in store->cat */
    uint8_t kind;   /* pt_row_kind_t */
    uint8_t state;  /* pt_row_state_t */
} pt_row_t;

/* What copies and collectives say besides. PT_NOT_RECORDED and 0 where they do not. */
typedef struct pt_row_extra {
    int64_t bytes, seq, group_size;
    uint32_t collective, group; /* in store->names */
} pt_row_extra_t;

typedef struct pt_store_process {
    uint32_t label; /* its number or text in the file */
    uint32_t name;
    int64_t rank;   /* that its events give; -1: none */
    unsigned asked; /* how many of its events were looked at for one */
} pt_store_process_t;

typedef struct pt_store_track {
    uint32_t process;
    uint32_t label;
    uint32_t *open; /* rows begun and not ended, innermost last */
    size_t opens, open_cap;
} pt_store_track_t;

typedef struct pt_store_cat {
    uint32_t name;
    uint8_t kind;
} pt_store_cat_t;

typedef struct pt_store_series {
    uint32_t name, process;
} pt_store_series_t;

typedef struct pt_store_point {
    int64_t ts;
    double value;
    uint32_t series;
    uint8_t left_out;
} pt_store_point_t;

/* A kernel whose hardware counters were read: a row, and its points, which lie together. */
typedef struct pt_store_range {
    uint32_t row;
    size_t first_point, points;
} pt_store_range_t;

#define PT_HOUR_NS INT64_C(3600000000000)

/* Scopes that begin in one hour of the file's clock. */
typedef struct pt_store_hour {
    int64_t first, last;
    uint64_t count;
    uint64_t line, offset; /* of its first event; 0 and UINT64_MAX: not known */
    uint8_t left_out;
} pt_store_hour_t;

/* Tracks met lately, by their numbers. */
#define PT_STORE_RECENT 64U
typedef struct pt_store_recent {
    int64_t pid, tid;
    uint32_t track; /* one more than it; 0: none */
} pt_store_recent_t;

/* X(field): what a file says of itself in words; "" and not kept where it does not. */
#define PT_STORE_TEXT_LIST(X)                                                                      \
    X(host)                                                                                        \
    X(run_id)                                                                                      \
    X(boot_id)                                                                                     \
    X(role)                                                                                        \
    X(device)                                                                                      \
    X(backend)                                                                                     \
    X(nccl_version)                                                                                \
    X(runtime_version)                                                                             \
    X(driver_version)                                                                              \
    X(profiler_version)                                                                            \
    X(trace_name)

typedef struct pt_rank_store {
    pt_names_t names;
    pt_row_t *row;
    pt_row_extra_t *extra;
    pt_store_process_t *process;
    pt_store_track_t *track;
    pt_store_cat_t *cat;
    pt_store_series_t *series;
    pt_store_point_t *point;
    pt_store_range_t *range;
    pt_store_hour_t *hour;
    size_t rows, row_cap, extras, extra_cap, processes, process_cap, tracks, track_cap;
    size_t cats, cat_cap, serieses, series_cap, points, point_cap, hours, hour_cap, ranges,
        range_cap;
    perftrace__hashmap_t process_map, track_map, series_map, hour_map, cat_map;
    uint64_t by_phase[128]; /* events */
    uint64_t events;
    int64_t first, last;      /* of all rows and points that are not left out; after _finish */
    bool has_rank;            /* the file as a whole is of this rank */
    int64_t rank, world_size; /* world_size: -1 not given */
    bool has_base;
    int64_t base_ns; /* wall clock at time 0 */
    bool has_mono;
    int64_t mono_ns;        /* monotonic clock at time 0 */
    pt_clock_notes_t clock; /* what the lines say of it */
    int64_t devices;        /* deviceProperties' count; -1: not given */
    int64_t device_memory, multiprocessors, process_groups;
    bool asks_ranks; /* events may tell the rank of their process */
#define PT_I_STORE_TEXT(field) uint32_t field;
    PT_STORE_TEXT_LIST(PT_I_STORE_TEXT)
#undef PT_I_STORE_TEXT
    int64_t last_mark; /* the latest time of an event that is neither scope nor counter */
    uint64_t outliers, unfinished, stray_ends;
    uint64_t unclosed; /* unfinished scopes that were closed here */
    bool failed;       /* out of memory */
    /* Its own. */
    perftrace__strbuf_t joined; /* scratch */
    pt_store_recent_t recent[PT_STORE_RECENT];
    int64_t hour_from, hour_to;
    size_t hour_now;
} pt_rank_store_t;

void pt_store_init(pt_rank_store_t *store);
void pt_store_free(pt_rank_store_t *store); /* accepts NULL */

/* The kind that a category of this name has. Pure. */
pt_row_kind_t pt_store_kind_of(const char *cat, size_t len);

/* The number of a process or track, made when new. */
uint32_t pt_store_process(pt_rank_store_t *store, const pt_ident_t *pid);
uint32_t pt_store_track(pt_rank_store_t *store, const pt_ident_t *pid, const pt_ident_t *tid);

/* Ends the reading: closes what is open, and sets aside what lies hours away from everything else
 * (unless keep_outliers). */
void pt_store_finish(pt_rank_store_t *store, bool keep_outliers);

#endif
