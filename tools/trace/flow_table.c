/* flow_table.c: gives every flow chain a number of its own. SPDX-License-Identifier: MIT */
#include "flow_table.h"

#include <stdlib.h>

static pt_flow_t *find(pt_flow_t *slot, size_t cap, uint64_t key) {
    size_t i = (size_t)(key * 0x9E3779B97F4A7C15U) & (cap - 1);
    while (slot[i].key != 0 && slot[i].key != key) {
        i = (i + 1) & (cap - 1);
    }
    return &slot[i];
}

static void count_open(pt_flow_table_t *t, const pt_flow_t *f) {
    t->open_starts += f->started && !f->ended;
}

static void forget_all(pt_flow_table_t *t) {
    for (size_t i = 0; i < t->cap; i++) {
        if (t->slot[i].key != 0) {
            count_open(t, &t->slot[i]);
            t->slot[i].key = 0;
            t->forgotten++;
        }
    }
    t->count = 0;
}

static bool grow(pt_flow_table_t *t) {
    size_t cap = t->cap == 0 ? 64 : t->cap * 2;
    pt_flow_t *slot = calloc(cap, sizeof *slot);
    if (slot == NULL) {
        return false;
    }
    for (size_t i = 0; i < t->cap; i++) {
        if (t->slot[i].key != 0) {
            *find(slot, cap, t->slot[i].key) = t->slot[i];
        }
    }
    free(t->slot);
    t->slot = slot;
    t->cap = cap;
    return true;
}

/* Closes the gap that a removed entry leaves in its probe chain. */
static void drop(pt_flow_table_t *t, pt_flow_t *f) {
    size_t hole = (size_t)(f - t->slot), mask = t->cap - 1;
    t->slot[hole].key = 0;
    t->count--;
    for (size_t i = (hole + 1) & mask; t->slot[i].key != 0; i = (i + 1) & mask) {
        pt_flow_t moved = t->slot[i];
        t->slot[i].key = 0;
        *find(t->slot, t->cap, moved.key) = moved;
    }
}

uint32_t pt_flow_number(pt_flow_table_t *t, char ph, uint64_t key, int64_t ts, bool *ret_started) {
    *ret_started = true;
    key += key == 0;
    if (t->count >= PT_FLOW_LIMIT / 2) {
        forget_all(t);
    }
    if (t->count * 2 >= t->cap && !grow(t)) {
        return pt_id_space_fresh(t->ids);
    }
    pt_flow_t *f = find(t->slot, t->cap, key);
    bool other_chain = ph == 's' && f->key != 0 && (f->started || ts > f->ts);
    if (other_chain) {
        count_open(t, f);
    }
    if (f->key == 0 || other_chain) {
        t->count += f->key == 0;
        *f = (pt_flow_t){.key = key, .ts = ts, .number = pt_id_space_fresh(t->ids)};
    }
    f->started |= ph == 's';
    f->ended |= ph == 'f';
    uint32_t number = f->number;
    *ret_started = f->started;
    if (f->started && f->ended) {
        drop(t, f);
    }
    return number;
}

void pt_flow_table_finish(pt_flow_table_t *t) {
    for (size_t i = 0; i < t->cap; i++) {
        if (t->slot[i].key != 0) {
            count_open(t, &t->slot[i]);
        }
    }
    free(t->slot);
    t->slot = NULL;
    t->cap = t->count = 0;
}
