/* leaf_index.c. SPDX-License-Identifier: MIT */
#include "leaf_index.h"

#include <stdlib.h>

void pt_leaf_index_free(pt_leaf_index_t *x) {
    free(x->slot);
    for (unsigned i = 0; i < PT_LEAF_THREADS; i++) {
        free(x->thread[i].node);
    }
    *x = (pt_leaf_index_t){.slot = NULL};
}

static bool grow_slots(pt_leaf_index_t *x) {
    size_t cap = x->cap > 0 ? x->cap * 2 : 1024;
    pt_leaf_slot_t *slot = calloc(cap, sizeof *slot);
    for (size_t i = 0; slot != NULL && i < x->cap; i++) {
        if (x->slot[i].hash != 0) {
            size_t at = (size_t)x->slot[i].hash & (cap - 1);
            while (slot[at].hash != 0) {
                at = (at + 1) & (cap - 1);
            }
            slot[at] = x->slot[i];
        }
    }
    if (slot != NULL) {
        free(x->slot);
        x->slot = slot;
        x->cap = cap;
    }
    return slot != NULL;
}

static uint32_t find_frame(pt_leaf_index_t *x, pt_profile_t *p, const pt_leaf_sample_t *s) {
    if (x->count >= x->cap / 2 && !grow_slots(x)) {
        return pt_profile_frame(p, s->name, s->len);
    }
    size_t at = (size_t)s->hash & (x->cap - 1);
    for (; x->slot[at].hash != 0; at = (at + 1) & (x->cap - 1)) {
        const pt_leaf_slot_t *slot = &x->slot[at];
        if (slot->hash == s->hash && slot->len == s->len &&
            memcmp(pt_profile_text(p, slot->text), s->name, s->len) == 0) {
            return slot->frame;
        }
    }
    uint32_t frame = pt_profile_frame(p, s->name, s->len);
    /* A name with a NUL is kept as another one, which would never be found here. */
    if (frame != PT_PROFILE_NONE && p->frame[frame].name_len == s->len) {
        x->slot[at] = (pt_leaf_slot_t){
            .hash = s->hash, .text = p->frame[frame].name, .len = s->len, .frame = frame};
        x->count++;
    }
    return frame;
}

/* Where the node of a frame is noted; NULL: without memory, or for a thread of which none is. */
static uint32_t *node_of_frame(pt_leaf_index_t *x, uint32_t thread, uint32_t frame) {
    if (thread >= PT_LEAF_THREADS || frame == PT_PROFILE_NONE) {
        return NULL;
    }
    pt_leaf_nodes_t *t = &x->thread[thread];
    if (frame >= t->cap) {
        size_t cap = PT_MAX((size_t)frame + 1, 2 * t->cap);
        uint32_t *node = realloc(t->node, cap * sizeof *node);
        if (node == NULL) {
            return NULL;
        }
        memset(node + t->cap, 0, (cap - t->cap) * sizeof *node);
        *t = (pt_leaf_nodes_t){node, cap};
    }
    return &t->node[frame];
}

static uint32_t find_node(pt_leaf_index_t *x, pt_profile_t *p, const pt_leaf_sample_t *s) {
    uint32_t frame = find_frame(x, p, s);
    uint32_t *known = node_of_frame(x, s->thread, frame);
    if (known != NULL && *known != 0) {
        return *known - 1;
    }
    uint32_t root = p->thread[s->thread].root;
    if (known == NULL) {
        return pt_profile_node(p, root, frame);
    }
    uint32_t node = pt_profile_node_new(p, root, frame);
    *known = node != PT_PROFILE_NONE ? node + 1 : 0;
    return node;
}

/* What most samples will need of memory next: those whose name is in its first slot. */
static void fetch(const pt_leaf_index_t *x, const pt_profile_t *p, const pt_leaf_sample_t *s) {
    const pt_leaf_slot_t *slot = &x->slot[(size_t)s->hash & (x->cap - 1)];
    if (slot->hash == s->hash) {
        __builtin_prefetch(pt_profile_text(p, slot->text));
        if (s->thread < PT_LEAF_THREADS && slot->frame < x->thread[s->thread].cap) {
            __builtin_prefetch(&x->thread[s->thread].node[slot->frame]);
        }
    }
}

void pt_leaf_flush(pt_leaf_index_t *x, pt_profile_t *p) {
    for (unsigned i = 0; i < x->waits && x->cap > 0; i++) {
        fetch(x, p, &x->waiting[i]);
    }
    for (unsigned i = 0; i < x->waits; i++) {
        x->waiting[i].node = find_node(x, p, &x->waiting[i]);
        if (x->waiting[i].node != PT_PROFILE_NONE) {
            __builtin_prefetch(&p->node[x->waiting[i].node], 1);
        }
    }
    for (unsigned i = 0; i < x->waits; i++) {
        pt_profile_add(p, x->waiting[i].node, x->waiting[i].weight);
    }
    x->waits = 0;
}

void pt_leaf_add(pt_leaf_index_t *x, pt_profile_t *p, const char *name, size_t len, uint32_t thread,
                 double weight) {
    if (len > UINT32_MAX) {
        pt_leaf_flush(x, p);
        uint32_t frame = pt_profile_frame(p, name, len);
        pt_profile_add(p, pt_profile_node(p, p->thread[thread].root, frame), weight);
        return;
    }
    uint64_t hash = perftrace__hash_bytes(name, len, p->frame_of_name.seed);
    hash += hash == 0 ? 1 : 0;
    if (x->cap > 0) {
        __builtin_prefetch(&x->slot[(size_t)hash & (x->cap - 1)]);
    }
    x->waiting[x->waits++] = (pt_leaf_sample_t){
        .name = name, .len = (uint32_t)len, .thread = thread, .hash = hash, .weight = weight};
    if (x->waits == PT_LEAF_WAITING) {
        pt_leaf_flush(x, p);
    }
}
