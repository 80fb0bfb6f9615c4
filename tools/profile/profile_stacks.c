/* profile_stacks.c. SPDX-License-Identifier: MIT */
#include "profile_stacks.h"

#include <stdlib.h>

uint32_t pt_profile_deepest(const pt_profile_t *p) {
    uint32_t deepest = 0;
    for (size_t i = 0; i < p->nodes; i++) {
        deepest = PT_MAX(deepest, p->node[i].depth);
    }
    return deepest;
}

uint64_t pt_profile_frames_of_samples(const pt_profile_t *p) {
    uint64_t frames = 0;
    for (size_t i = 0; i < p->nodes; i++) {
        frames += p->node[i].samples * p->node[i].depth;
    }
    return frames;
}

uint64_t pt_profile_frames_of_stacks(const pt_profile_t *p) {
    uint64_t frames = 0;
    for (size_t i = 0; i < p->nodes; i++) {
        frames += p->node[i].samples > 0 ? p->node[i].depth : 0;
    }
    return frames;
}

uint32_t pt_profile_path(const pt_profile_t *p, uint32_t node, uint32_t *frame) {
    const pt_profile_node_t *n = &p->node[node];
    uint32_t depth = n->depth;
    for (; n->frame != PT_PROFILE_NONE; n = &p->node[n->parent]) {
        frame[n->depth - 1] = n->frame;
    }
    return depth;
}

typedef struct place {
    uint64_t first;
    uint32_t thread, node;
} place_t;

#define KEY_BYTES 12U /* the place, the lowest byte first, then the thread */

static unsigned key_byte(const place_t *p, unsigned byte) {
    uint64_t part = byte < 8 ? p->first >> (8 * byte) : p->thread >> (8 * (byte - 8));
    return (unsigned)(part & 0xff);
}

/* Whether all of them are in order already; if not, which bytes of their keys differ. */
static bool in_order(const place_t *place, size_t count, uint64_t *ret_first,
                     uint32_t *ret_thread) {
    bool sorted = true;
    *ret_first = 0;
    *ret_thread = 0;
    for (size_t i = 1; i < count; i++) {
        const place_t *a = &place[i - 1], *b = &place[i];
        sorted &= a->thread != b->thread ? a->thread < b->thread : a->first <= b->first;
        *ret_first |= a->first ^ b->first;
        *ret_thread |= a->thread ^ b->thread;
    }
    return sorted;
}

/* Sorts by thread and place, byte by byte: there may be millions, and most of the bytes are those
 * of all. False without memory. */
static bool sort_places(place_t *place, size_t count) {
    place_t differ = {.node = 0};
    if (in_order(place, count, &differ.first, &differ.thread)) {
        return true;
    }
    place_t *scratch = malloc(count * sizeof *scratch);
    for (unsigned byte = 0; scratch != NULL && byte < KEY_BYTES; byte++) {
        size_t begin[257] = {0};
        if (key_byte(&differ, byte) == 0) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            begin[key_byte(&place[i], byte) + 1]++;
        }
        for (unsigned i = 1; i < 256; i++) {
            begin[i] += begin[i - 1];
        }
        for (size_t i = 0; i < count; i++) {
            scratch[begin[key_byte(&place[i], byte)]++] = place[i];
        }
        memcpy(place, scratch, count * sizeof *place);
    }
    free(scratch);
    return scratch != NULL;
}

bool pt_profile_stacks(const pt_profile_t *p, const bool *taken, uint32_t *node,
                       size_t *ret_count) {
    place_t *place = malloc((p->nodes + 1) * sizeof *place);
    size_t count = 0;
    for (size_t i = 0; place != NULL && i < p->nodes; i++) {
        const pt_profile_node_t *n = &p->node[i];
        if (n->samples > 0 && (taken == NULL || taken[n->thread])) {
            place[count++] = (place_t){n->first, n->thread, (uint32_t)i};
        }
    }
    bool ok = place != NULL && sort_places(place, count);
    for (size_t i = 0; i < count; i++) {
        node[i] = place[i].node;
    }
    *ret_count = count;
    free(place);
    return ok;
}
