/* leaf_index.c. SPDX-License-Identifier: MIT */
#include "leaf_index.h"

#include "grow.h"
#include "os.h"
#include "short_text.h"

#include <stdlib.h>

#define SLOTS_AT_FIRST ((size_t)4096)
#define MOST           ((size_t)UINT32_MAX - 1)

void pt_leaf_index_free(pt_leaf_index_t *x) {
    for (unsigned i = 0; i < PT_LEAF_THREADS; i++) {
        free(x->thread[i].of);
    }
    free(x->slot);
    free(x->name);
    free(x->block);
    perftrace__strbuf_free(&x->text);
    *x = (pt_leaf_index_t){.slot = NULL};
}

static uint32_t hash_of(const pt_leaf_index_t *x, const char *text, size_t len) {
    return pt_short_hash(text, len, x->seed);
}

static bool grow_slots(pt_leaf_index_t *x) {
    size_t cap = x->slot_cap > 0 ? x->slot_cap * 2 : SLOTS_AT_FIRST;
    pt_leaf_slot_t *slot = calloc(cap, sizeof *slot);
    for (size_t i = 0; slot != NULL && i < x->slot_cap; i++) {
        if (x->slot[i].name != 0) {
            size_t at = x->slot[i].hash & (cap - 1);
            while (slot[at].name != 0) {
                at = (at + 1) & (cap - 1);
            }
            slot[at] = x->slot[i];
        }
    }
    if (slot != NULL) {
        free(x->slot);
        x->slot = slot;
        x->slot_cap = cap;
    }
    return slot != NULL;
}

static bool begin(pt_leaf_index_t *x) {
    if (x->slot_cap == 0) {
        x->seed = perftrace__os_random_u64();
        x->text = (perftrace__strbuf_t)PERFTRACE__STRBUF_INIT;
        x->failed |= !grow_slots(x);
    }
    return !x->failed;
}

/* ---- names ---- */

static bool is_name(const pt_leaf_index_t *x, uint32_t number, const char *text, size_t len) {
    const pt_leaf_name_t *name = &x->name[number];
    return name->len == len && pt_short_same(x->text.data + name->text, text, len);
}

static uint32_t new_name(pt_leaf_index_t *x, const char *text, size_t len) {
    size_t at = x->text.len;
    perftrace__strbuf_append(&x->text, text, len);
    if (x->text.failed || x->names >= MOST || !PT_GROW(x, name, names, name_cap, 1)) {
        return PT_PROFILE_NONE;
    }
    x->name[x->names] = (pt_leaf_name_t){at, (uint32_t)len};
    return (uint32_t)x->names++;
}

/* The number of a name; PT_PROFILE_NONE without memory. */
static uint32_t find_name(pt_leaf_index_t *x, const char *text, size_t len, uint32_t hash) {
    if (x->names >= x->slot_cap / 4 && !grow_slots(x)) {
        return PT_PROFILE_NONE;
    }
    size_t at = hash & (x->slot_cap - 1);
    for (; x->slot[at].name != 0; at = (at + 1) & (x->slot_cap - 1)) {
        if (x->slot[at].hash == hash && is_name(x, x->slot[at].name - 1, text, len)) {
            return x->slot[at].name - 1;
        }
    }
    uint32_t name = new_name(x, text, len);
    if (name != PT_PROFILE_NONE) {
        x->slot[at] = (pt_leaf_slot_t){hash, name + 1};
    }
    return name;
}

/* ---- sums ---- */

static pt_leaf_sum_t *known_sum(const pt_leaf_index_t *x, uint32_t thread, uint32_t name) {
    const pt_leaf_blocks_t *blocks = &x->thread[thread];
    size_t i = name / PT_LEAF_BLOCK;
    return i < blocks->cap && blocks->of[i] != 0
               ? &x->block[blocks->of[i] - 1].sum[name % PT_LEAF_BLOCK]
               : NULL;
}

static pt_leaf_sum_t *new_sum(pt_leaf_index_t *x, uint32_t thread, uint32_t name) {
    pt_leaf_blocks_t *blocks = &x->thread[thread];
    size_t i = name / PT_LEAF_BLOCK, cap = blocks->cap;
    if (i >= cap) {
        cap = PT_MAX(i + 1, PT_MAX(2 * cap, (size_t)64));
        uint32_t *of = realloc(blocks->of, cap * sizeof *of);
        if (of == NULL) {
            return NULL;
        }
        memset(of + blocks->cap, 0, (cap - blocks->cap) * sizeof *of);
        *blocks = (pt_leaf_blocks_t){of, cap};
    }
    if (x->blocks >= MOST || !PT_GROW(x, block, blocks, block_cap, 1)) {
        return NULL;
    }
    pt_leaf_block_t *block = &x->block[x->blocks++];
    for (unsigned k = 0; k < PT_LEAF_BLOCK; k++) {
        block->sum[k] = (pt_leaf_sum_t){.first = UINT64_MAX};
    }
    blocks->of[i] = (uint32_t)x->blocks;
    return &block->sum[name % PT_LEAF_BLOCK];
}

static void add(pt_leaf_index_t *x, uint32_t thread, uint32_t name, const pt_leaf_sum_t *more) {
    pt_leaf_sum_t *sum = name != PT_PROFILE_NONE ? known_sum(x, thread, name) : NULL;
    if (PT_UNLIKELY(sum == NULL)) {
        sum = name != PT_PROFILE_NONE ? new_sum(x, thread, name) : NULL;
        if (sum == NULL) {
            x->failed = true;
            return;
        }
    }
    sum->weight += more->weight;
    sum->samples += more->samples;
    sum->first = PT_MIN(sum->first, more->first);
}

/* ---- samples ---- */

void pt_leaf_flush(pt_leaf_index_t *x) {
    if (x->waits == 0 || x->failed) {
        return;
    }
    for (unsigned i = 0; i < x->waits; i++) { /* most names are in the first slot they may be in */
        uint32_t name = x->slot[x->waiting[i].hash & (x->slot_cap - 1)].name;
        if (name != 0) {
            __builtin_prefetch(x->text.data + x->name[name - 1].text);
        }
    }
    for (unsigned i = 0; i < x->waits; i++) {
        pt_leaf_sample_t *s = &x->waiting[i];
        s->name = find_name(x, s->text, s->len, s->hash);
        const pt_leaf_sum_t *sum =
            s->name != PT_PROFILE_NONE ? known_sum(x, s->thread, s->name) : NULL;
        __builtin_prefetch(sum, 1);
    }
    for (unsigned i = 0; i < x->waits; i++) {
        const pt_leaf_sample_t *s = &x->waiting[i];
        pt_leaf_sum_t one = {.weight = s->weight, .samples = 1, .first = x->place++};
        add(x, s->thread, s->name, &one);
    }
    x->waits = 0;
}

void pt_leaf_add(pt_leaf_index_t *x, const char *text, size_t len, uint32_t thread, double weight) {
    if (!begin(x)) {
        return;
    }
    x->failed |= len > UINT32_MAX;
    uint32_t hash = hash_of(x, text, len);
    __builtin_prefetch(&x->slot[hash & (x->slot_cap - 1)]);
    x->waiting[x->waits++] = (pt_leaf_sample_t){
        .text = text, .weight = weight, .len = (uint32_t)len, .hash = hash, .thread = thread};
    if (x->waits == PT_LEAF_WAITING) {
        pt_leaf_flush(x);
    }
}

/* ---- all sums ---- */

static void enter_thread(const pt_leaf_index_t *x, uint32_t from, pt_profile_t *p, uint32_t to,
                         bool bare, uint32_t *frame) {
    uint32_t root = p->thread[to].root;
    for (uint32_t i = 0; i < x->names && !p->failed; i++) {
        const pt_leaf_sum_t *sum = known_sum(x, from, i);
        if (sum == NULL) {
            i |= PT_LEAF_BLOCK - 1;
        } else if (sum->samples > 0) {
            const pt_leaf_name_t *name = &x->name[i];
            if (frame[i] == PT_PROFILE_NONE) {
                frame[i] = pt_profile_frame(p, x->text.data + name->text, name->len);
            }
            uint32_t node =
                bare ? pt_profile_node_new(p, root, frame[i]) : pt_profile_node(p, root, frame[i]);
            if (node != PT_PROFILE_NONE) {
                pt_profile_add_sum(p, node, sum->weight, sum->samples, sum->first);
            }
        }
    }
}

static void enter(const pt_leaf_index_t *x, pt_profile_t *p, const uint32_t *thread,
                  uint32_t least) {
    bool bare = p->nodes == p->threads; /* no stack is there that one of these could be */
    uint32_t *frame = malloc((x->names + 1) * sizeof *frame);
    p->failed |= x->failed || frame == NULL;
    if (frame == NULL) {
        return;
    }
    memset(frame, 0xff, x->names * sizeof *frame); /* PT_PROFILE_NONE */
    for (uint32_t i = 0; i < PT_LEAF_THREADS; i++) {
        uint32_t to = thread != NULL && x->thread[i].cap > 0 ? thread[i] : i;
        if (x->thread[i].cap > 0 && to >= least) {
            enter_thread(x, i, p, to, bare, frame);
        }
    }
    free(frame);
}

void pt_leaf_enter(const pt_leaf_index_t *x, pt_profile_t *p, const uint32_t *thread) {
    enter(x, p, thread, 0);
    p->place = PT_MAX(p->place, x->place);
}

void pt_leaf_join(pt_leaf_index_t *x, pt_profile_t *p, const pt_leaf_index_t *from,
                  const uint32_t *thread) {
    uint32_t *number = malloc((from->names + 1) * sizeof *number);
    x->failed |= from->failed || number == NULL;
    for (size_t i = 0; i < from->names && begin(x); i++) {
        const pt_leaf_name_t *name = &from->name[i];
        const char *text = from->text.data + name->text;
        number[i] = find_name(x, text, name->len, hash_of(x, text, name->len));
        x->failed |= number[i] == PT_PROFILE_NONE;
    }
    for (uint32_t t = 0; t < PT_LEAF_THREADS; t++) {
        uint32_t to = from->thread[t].cap > 0 ? thread[t] : 0;
        for (uint32_t i = 0; i < from->names && to < PT_LEAF_THREADS && !x->failed; i++) {
            const pt_leaf_sum_t *sum = known_sum(from, t, i);
            if (sum == NULL) {
                i |= PT_LEAF_BLOCK - 1;
            } else if (sum->samples > 0) {
                add(x, to, number[i], sum);
            }
        }
    }
    free(number);
    enter(from, p, thread, PT_LEAF_THREADS);
}
