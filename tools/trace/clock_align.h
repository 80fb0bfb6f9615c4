/* clock_align.h: puts the clocks of several trace files onto one axis. SPDX-License-Identifier: MIT
 *
 * Four ways, the best that the files allow (docs/CLOCKS.md):
 *   monotonic        files of one boot of one machine read the same hardware clock: exact.
 *   reference clock  machines that measured their clock against one and the same other one by round
 *                    trips (perftrace_reference): offset, drift and a bound from clock_curve.
 * Clocks join through any number of others: the way with the least bound is taken. barrier markers
 * ranks leave a barrier together; an event "perftrace_sync" that ends with the barrier and carries
 * its number gives a pair of equal times. Offset and drift come from a straight line through these
 * pairs (least squares). wall clock       each file says which wall clock time its zero is.
 * Machines' wall clocks differ by what their time service left over, which no file can know:
 * "uncorrected". Files without any of these start at their own zero. Pure. */
#ifndef PERFTRACE_TRACE_CLOCK_ALIGN_H
#define PERFTRACE_TRACE_CLOCK_ALIGN_H
#include "clock_notes.h"
#include "compiler.h"

typedef enum pt_clock_kind {
    PT_CLOCK_OWN_ZERO, /* times count from something unknown */
    PT_CLOCK_EPOCH     /* epoch_ns is the wall clock time at ts 0 */
} pt_clock_kind_t;

typedef struct pt_clock_in {
    pt_clock_kind_t kind;
    const char *boot_id; /* NULL or "": not known */
    bool has_mono;       /* mono_ns is the monotonic time at ts 0 */
    int64_t epoch_ns, mono_ns;
    int64_t first_ts, last_ts;     /* range of the file's events, ns */
    const pt_clock_notes_t *notes; /* NULL: none */
} pt_clock_in_t;

/* X(name, text): the words that the report and the metadata use. */
#define PT_CLOCK_METHOD_LIST(X)                                                                    \
    X(REFERENCE, "reference")                                                                      \
    X(MONOTONIC, "monotonic clock")                                                                \
    X(EXCHANGE, "reference clock")                                                                 \
    X(BARRIER, "barrier markers")                                                                  \
    X(WALL, "wall clock (uncorrected)")                                                            \
    X(SHARED, "none: times taken as they are")                                                     \
    X(NONE, "none: each file starts at its own zero")

typedef enum pt_clock_method {
#define PT_I_CLOCK_METHOD(name, text) PT_CLOCK_METHOD_##name,
    PT_CLOCK_METHOD_LIST(PT_I_CLOCK_METHOD)
#undef PT_I_CLOCK_METHOD
} pt_clock_method_t;

/* A corner of the map: at `t` (ns past the pivot) `delta` is added beside the shift. */
typedef struct pt_clock_bend {
    double t, delta;
} pt_clock_bend_t;

/* How a file's times become times of the merged trace; see pt_clock_map. */
typedef struct pt_clock_out {
    pt_clock_method_t method;
    int64_t shift_ns; /* added to every ts */
    double rate;      /* added for each ns past pivot_ns; 0 where the clocks run alike */
    int64_t pivot_ns;
    pt_clock_bend_t *bend; /* where the drift changed: in its stead; two at least */
    size_t bends;          /* 0: the rate holds throughout */
    int64_t offset_ns; /* this file's wall clock minus the reference's, as far as was found out */
    double drift_ppm;  /* how much faster this clock runs than the reference; the mean */
    int64_t bound_ns;  /* how far off an aligned time of the file may be; -1: not known */
    unsigned marks;    /* barrier markers used */
    unsigned readings, refused; /* of the reference clock: used; at odds with the others */
    unsigned wall_steps;        /* the wall clock was set so often while the file was written */
    int64_t wall_step_ns;       /* the largest of these */
} pt_clock_out_t;

/* The text of a method. Static storage. */
const char *pt_clock_method_text(pt_clock_method_t method);

/* Aligns count files; out[i] belongs to in[i]. The first file is the reference. *ret_base_epoch_ns
 * is the wall clock time at 0 of the merged trace, or INT64_MIN when no file knows one. The
 * earliest event comes to lie at or after 0; at exactly 0 when a wall clock or large or negative
 * times ask for a shift. False without memory. */
bool pt_clock_align(const pt_clock_in_t *in, size_t count, pt_clock_out_t *out,
                    int64_t *ret_base_epoch_ns);
/* Frees what pt_clock_align made of one file. */
void pt_clock_out_free(pt_clock_out_t *out);

/* What a map with bends adds beside the shift, t ns past the pivot. */
int64_t pt_clock_bent(const pt_clock_out_t *out, int64_t t);

/* A file's time on the axis of the merged trace. Monotonic in ts, so what nests stays nested. */
PT_ALWAYS_INLINE int64_t pt_clock_map(const pt_clock_out_t *c, int64_t ts) {
    int64_t mapped = ts + c->shift_ns;
    if (PT_UNLIKELY(c->bends > 0)) {
        mapped += pt_clock_bent(c, ts - c->pivot_ns);
    } else if (PT_UNLIKELY(c->rate < 0 || c->rate > 0)) {
        mapped += (int64_t)(c->rate * (double)(ts - c->pivot_ns));
    }
    return mapped;
}

#endif
