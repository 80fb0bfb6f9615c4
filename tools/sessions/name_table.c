/* name_table.c: texts to small numbers and back. SPDX-License-Identifier: MIT */
#include "name_table.h"

#include "hashmap.h"
#include "natural.h"
#include "os.h"

#include <stdlib.h>

pt_name_t pt_name_table_get(const pt_name_table_t *t, uint32_t id) {
    return (pt_name_t){t->text.data + t->entry[id].at, t->entry[id].len};
}

static bool same(const pt_name_table_t *t, uint32_t id, pt_name_t name) {
    const pt_name_entry_t *e = &t->entry[id];
    return e->len == name.len &&
           (name.len == 0 || memcmp(t->text.data + e->at, name.p, name.len) == 0);
}

/* The slot that holds the text, or the free one where it belongs. */
static uint32_t *find_slot(const pt_name_table_t *t, uint64_t hash, pt_name_t name) {
    for (uint32_t i = (uint32_t)hash;; i++) {
        uint32_t *slot = &t->slot[i & (t->slots - 1)];
        if (*slot == 0 || (t->entry[*slot - 1].hash == hash && same(t, *slot - 1, name))) {
            return slot;
        }
    }
}

/* Every entry into a fresh array of slots. */
static bool rehash(pt_name_table_t *t, uint32_t slots) {
    uint32_t *slot = calloc(slots, sizeof *slot);
    if (slot == NULL) {
        return false;
    }
    for (uint32_t id = 0; id < t->count; id++) {
        uint32_t i = (uint32_t)t->entry[id].hash & (slots - 1);
        while (slot[i] != 0) {
            i = (i + 1) & (slots - 1);
        }
        slot[i] = id + 1;
    }
    free(t->slot);
    t->slot = slot;
    t->slots = slots;
    return true;
}

static bool make_room(pt_name_table_t *t) {
    if (t->seed == 0) {
        t->seed = perftrace__os_random_u64() | 1;
    }
    if (t->count == t->cap) {
        uint32_t cap = t->cap == 0 ? 16 : t->cap * 2;
        pt_name_entry_t *entry = realloc(t->entry, cap * sizeof *entry);
        if (entry == NULL) {
            return false;
        }
        t->entry = entry;
        t->cap = cap;
    }
    /* At most half of the slots are taken. */
    return t->count * 2 < t->slots || rehash(t, t->slots == 0 ? 32 : t->slots * 2);
}

uint32_t pt_name_table_add(pt_name_table_t *t, pt_name_t name) {
    if (!make_room(t)) {
        return PT_NO_NAME;
    }
    uint64_t hash = perftrace__hash_bytes(name.p, name.len, t->seed);
    uint32_t *slot = find_slot(t, hash, name);
    if (*slot == 0) {
        if (t->count == PT_NO_NAME - 1 || !perftrace__strbuf_reserve(&t->text, name.len + 1)) {
            return PT_NO_NAME;
        }
        t->entry[t->count] = (pt_name_entry_t){hash, t->text.len, name.len};
        perftrace__strbuf_append(&t->text, name.p, name.len);
        perftrace__strbuf_putc(&t->text, '\0');
        *slot = ++t->count;
    }
    t->recent[pt_name_place(name)] = *slot;
    return *slot - 1;
}

uint32_t pt_name_table_find(const pt_name_table_t *t, pt_name_t name) {
    if (t->slots == 0) {
        return PT_NO_NAME;
    }
    return *find_slot(t, perftrace__hash_bytes(name.p, name.len, t->seed), name) - 1;
}

void pt_name_table_clear(pt_name_table_t *t) {
    t->count = 0;
    memset(t->recent, 0, sizeof t->recent);
    perftrace__strbuf_clear(&t->text);
    if (t->slots > 0) {
        memset(t->slot, 0, t->slots * sizeof *t->slot);
    }
}

void pt_name_table_free(pt_name_table_t *t) {
    if (t != NULL) {
        perftrace__strbuf_free(&t->text);
        free(t->entry);
        free(t->slot);
        memset(t, 0, sizeof *t);
    }
}

typedef struct sorted {
    pt_name_t name;
    uint32_t id;
    int (*compare)(pt_name_t a, pt_name_t b);
} sorted_t;

static int by_name(const void *a, const void *b) {
    const sorted_t *x = a, *y = b;
    int order = x->compare != NULL ? x->compare(x->name, y->name) : 0;
    order = order != 0 ? order : pt_natural_compare(x->name.p, y->name.p);
    /* Texts with a NUL inside can look the same. */
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

bool pt_name_table_sort(pt_name_table_t *t, int (*compare)(pt_name_t a, pt_name_t b),
                        uint32_t **ret_map) {
    sorted_t *list = calloc((size_t)t->count + 1, sizeof *list);
    uint32_t *map = calloc((size_t)t->count + 1, sizeof *map);
    pt_name_entry_t *entry = calloc((size_t)t->count + 1, sizeof *entry);
    if (list == NULL || map == NULL || entry == NULL) {
        free(list);
        free(map);
        free(entry);
        return false;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        list[i] = (sorted_t){pt_name_table_get(t, i), i, compare};
    }
    qsort(list, t->count, sizeof *list, by_name);
    for (uint32_t i = 0; i < t->count; i++) {
        entry[i] = t->entry[list[i].id];
        map[list[i].id] = i;
    }
    for (uint32_t i = 0; i < t->slots; i++) {
        t->slot[i] = t->slot[i] == 0 ? 0 : map[t->slot[i] - 1] + 1;
    }
    free(t->entry);
    t->entry = entry;
    t->cap = t->count + 1;
    memset(t->recent, 0, sizeof t->recent);
    free(list);
    *ret_map = map;
    return true;
}
