/* id_table.c: things found by a 64-bit id, which come and go. SPDX-License-Identifier: MIT */
#include "id_table.h"

#include "os.h"

#include <stdlib.h>

#define FIRST_CAP 64U

static pt_id_node_t **bucket_of(const pt_id_table_t *t, uint64_t id) {
    uint64_t h = (id ^ t->seed) * 0x9E3779B97F4A7C15U;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93U;
    return &t->bucket[(h >> 32) & (t->cap - 1)];
}

static bool grow(pt_id_table_t *t) {
    pt_id_table_t larger = {.cap = t->cap == 0 ? FIRST_CAP : t->cap * 2,
                            .count = t->count,
                            .seed = t->cap == 0 ? perftrace__os_random_u64() : t->seed};
    larger.bucket = calloc(larger.cap, sizeof(pt_id_node_t *));
    if (larger.bucket == NULL) {
        return false;
    }
    for (size_t i = 0; i < t->cap; i++) {
        for (pt_id_node_t *n = t->bucket[i], *next; n != NULL; n = next) {
            pt_id_node_t **to = bucket_of(&larger, n->id);
            next = n->next;
            n->next = *to;
            *to = n;
        }
    }
    free(t->bucket);
    *t = larger;
    return true;
}

pt_id_node_t *pt_id_table_find(const pt_id_table_t *t, uint64_t id) {
    pt_id_node_t *n = t->cap == 0 ? NULL : *bucket_of(t, id);
    while (n != NULL && n->id != id) {
        n = n->next;
    }
    return n;
}

bool pt_id_table_add(pt_id_table_t *t, pt_id_node_t *node) {
    if (t->count >= t->cap && !grow(t) && t->cap == 0) {
        return false; /* a table that cannot grow only becomes slower */
    }
    pt_id_node_t **to = bucket_of(t, node->id);
    node->next = *to;
    *to = node;
    t->count++;
    return true;
}

void pt_id_table_remove(pt_id_table_t *t, const pt_id_node_t *node) {
    pt_id_node_t **link = bucket_of(t, node->id);
    while (*link != node) {
        link = &(*link)->next;
    }
    *link = node->next;
    t->count--;
}

void pt_id_table_free(pt_id_table_t *t) {
    free(t->bucket);
    *t = (pt_id_table_t){.bucket = NULL};
}
