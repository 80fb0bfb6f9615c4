/* session_cells.h: the spans, texts and counters of live sessions. SPDX-License-Identifier: MIT
 *
 * All of them are made of cells of 32 bytes from one slab, linked by number, so that none of them
 * needs an allocation of its own. Only long texts are allocated apart. Not thread-safe. */
#ifndef PERFTRACE_SESSION_SESSION_CELLS_H
#define PERFTRACE_SESSION_SESSION_CELLS_H

#include "session_fold.h"
#include "session_slab.h"

#define PERFTRACE__SPAN_OPEN UINT64_MAX

typedef struct perftrace__span {
    uint32_t next;
    uint16_t phase;
    bool made_up; /* the end came, its begin has not */
    uint64_t start;
    uint64_t end;        /* PERFTRACE__SPAN_OPEN */
    uint32_t start_text; /* payloads, 0 none */
    uint32_t end_text;
} perftrace__span_t;

typedef struct perftrace__tally {
    uint32_t next;
    uint32_t name;
    int64_t value;
} perftrace__tally_t;

/* A text: the first cell holds its length, then as many bytes as fit; its other cells follow. */
typedef struct perftrace__cell {
    uint32_t next;
    char data[28];
} perftrace__cell_t;

_Static_assert(sizeof(perftrace__cell_t) == 32, "cells are shared");
_Static_assert(sizeof(perftrace__span_t) <= sizeof(perftrace__cell_t), "a span is a cell");
_Static_assert(offsetof(perftrace__span_t, next) == 0, "a chain of spans is one of free cells");
_Static_assert(sizeof(perftrace__tally_t) <= sizeof(perftrace__cell_t), "a counter is a cell");

typedef struct perftrace__cells {
    perftrace__slab_t slab;
    uint64_t long_bytes; /* of long texts */
} perftrace__cells_t;

#define PERFTRACE__CELLS_INIT                                                                      \
    { PERFTRACE__SLAB_INIT(perftrace__cell_t), 0 }

PT_ALWAYS_INLINE perftrace__span_t *perftrace__cells_span(const perftrace__cells_t *c,
                                                          uint32_t number) {
    return perftrace__slab_at(&c->slab, number, sizeof(perftrace__cell_t));
}

PT_ALWAYS_INLINE perftrace__tally_t *perftrace__cells_tally(const perftrace__cells_t *c,
                                                            uint32_t number) {
    return perftrace__slab_at(&c->slab, number, sizeof(perftrace__cell_t));
}

/* A span or counter; 0 without memory. */
PT_ALWAYS_INLINE uint32_t perftrace__cells_take(perftrace__cells_t *c) {
    return perftrace__slab_take(&c->slab, sizeof(perftrace__cell_t));
}

PT_ALWAYS_INLINE void perftrace__cells_give(perftrace__cells_t *c, uint32_t number) {
    perftrace__slab_give(&c->slab, number, sizeof(perftrace__cell_t));
}

/* Gives back spans that are linked from the first to the last. */
PT_ALWAYS_INLINE void perftrace__cells_give_chain(perftrace__cells_t *c, uint32_t first,
                                                  uint32_t last) {
    perftrace__slab_give_chain(&c->slab, first, last, sizeof(perftrace__cell_t));
}

/* Copies a text whose data is not NULL; 0 without memory (or beyond 2 GB). */
uint32_t perftrace__cells_put_text(perftrace__cells_t *c, perftrace__text_t text);
uint32_t perftrace__cells_text_len(const perftrace__cells_t *c, uint32_t number);
/* Writes the text at dst; returns its end. */
char *perftrace__cells_read_text(const perftrace__cells_t *c, uint32_t number, char *dst);
/* A copy of a text; 0 without memory. */
uint32_t perftrace__cells_copy_text(perftrace__cells_t *c, uint32_t number);
/* Number 0 is nothing. */
void perftrace__cells_drop_text(perftrace__cells_t *c, uint32_t number);
/* Every text must have been dropped before. */
void perftrace__cells_free(perftrace__cells_t *c);

#endif
