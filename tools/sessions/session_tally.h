/* session_tally.h: figures of values that are not kept. SPDX-License-Identifier: MIT
 *
 * The values are looked at twice: first they are counted by narrow ranges, then those in the ranges
 * with a percentile in them are kept. The figures are exact. Pure but for memory. Not thread-safe.
 *
 *     for every value: pt_tally_count     pt_tally_choose     for every value: pt_tally_keep
 *     pt_tally_summary */
#ifndef PERFTRACE_SESSIONS_SESSION_TALLY_H
#define PERFTRACE_SESSIONS_SESSION_TALLY_H
#include "session_stats.h"

#include <string.h>

#define PT_TALLY_OCTAVES 4096U /* of a sign and an exponent */
#define PT_TALLY_PARTS   256U  /* of an octave, as wide as one another */
#define PT_TALLY_WANTED  16U

/* An octave in which there is a value. */
typedef struct pt_tally_block {
    uint32_t count[PT_TALLY_PARTS];
    uint8_t wanted[PT_TALLY_PARTS]; /* number plus 1 of the wanted range; 0: not wanted */
} pt_tally_block_t;

/* A range that holds a value which is asked for. */
typedef struct pt_tally_range {
    size_t before, count; /* values below it; in it */
    size_t kept;
    double *value;
} pt_tally_range_t;

/* All zero is empty. */
typedef struct pt_tally {
    size_t n;
    double sum, lost;                    /* of the values; what the additions have rounded away */
    uint16_t block_of[PT_TALLY_OCTAVES]; /* number plus 1; 0: none */
    pt_tally_block_t *block;
    size_t blocks, block_cap;
    pt_tally_range_t wanted[PT_TALLY_WANTED];
    unsigned ranges;
    double *kept;
    size_t top;
    bool failed; /* out of memory */
} pt_tally_t;

/* A key that is ordered as an unsigned integer as the values are as numbers. */
PT_ALWAYS_INLINE uint64_t pt_tally_key(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return (bits >> 63) != 0 ? ~bits : bits | (uint64_t)1 << 63;
}

bool pt_tally_add_block(pt_tally_t *tally, unsigned octave);

/* Counts a value, which is not NAN; at most UINT32_MAX of them. */
PT_ALWAYS_INLINE void pt_tally_count(pt_tally_t *t, double v) {
    uint64_t key = pt_tally_key(v);
    unsigned octave = (unsigned)(key >> 52);
    if (PT_UNLIKELY(t->block_of[octave] == 0) && !pt_tally_add_block(t, octave)) {
        return;
    }
    t->block[t->block_of[octave] - 1].count[key >> 44 & (PT_TALLY_PARTS - 1)]++;
    t->n++;
    double more = t->sum + v, added = more - t->sum;
    t->lost += (t->sum - (more - added)) + (v - added);
    t->sum = more;
}

/* Chooses the ranges that are wanted for pt_tally_summary, with the limit of the `top` largest.
 * False without memory. */
bool pt_tally_choose(pt_tally_t *tally, size_t top);

/* Keeps a value if it is wanted; the same ones as were counted. */
PT_ALWAYS_INLINE void pt_tally_keep(pt_tally_t *t, double v) {
    uint64_t key = pt_tally_key(v);
    unsigned number = t->block[t->block_of[key >> 52] - 1].wanted[key >> 44 & (PT_TALLY_PARTS - 1)];
    if (PT_UNLIKELY(number != 0)) {
        pt_tally_range_t *r = &t->wanted[number - 1];
        r->value[r->kept++] = v;
    }
}

/* The figures; *ret_limit: see pt_top_limit. */
pt_summary_t pt_tally_summary(pt_tally_t *tally, double *ret_limit);
void pt_tally_free(pt_tally_t *tally);

#endif
