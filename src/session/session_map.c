/* session_map.c. SPDX-License-Identifier: MIT */
#include "session_map.h"

#include "os.h"

#include <stdlib.h>

#define CAP_MIN 64u
#define CAP_MAX (1u << 31)

typedef perftrace__session_map_slot_t slot_t;

/* Puts a key that is absent where it goes; a free slot exists. */
static void place(perftrace__session_map_t *m, uint64_t key, uint32_t value) {
    uint32_t i = perftrace__session_map_home(m, key);
    while (m->slots[i].value) {
        i = (i + 1) & m->mask;
    }
    m->slots[i] = (slot_t){key, value};
}

static bool resize(perftrace__session_map_t *m, uint32_t cap) {
    slot_t *slots = calloc(cap, sizeof(*slots));
    if (!slots) {
        return false;
    }
    perftrace__session_map_t old = *m;
    if (!old.slots) {
        m->seed = perftrace__os_random_u64();
    }
    m->slots = slots;
    m->mask = cap - 1;
    for (uint32_t i = 0; old.slots && i <= old.mask; i++) {
        if (old.slots[i].value) {
            place(m, old.slots[i].key, old.slots[i].value);
        }
    }
    free(old.slots);
    return true;
}

bool perftrace__session_map_put(perftrace__session_map_t *m, uint64_t key, uint32_t value) {
    uint32_t cap = m->slots ? m->mask + 1 : 0;
    if (m->count >= cap / 2 && (cap == CAP_MAX || !resize(m, cap ? cap * 2 : CAP_MIN))) {
        return false;
    }
    place(m, key, value);
    m->count++;
    return true;
}

void perftrace__session_map_remove(perftrace__session_map_t *m, uint64_t key) {
    uint32_t hole = perftrace__session_map_home(m, key);
    while (m->slots[hole].key != key || !m->slots[hole].value) {
        hole = (hole + 1) & m->mask;
    }
    /* Whoever was pushed past the hole moves into it. */
    for (uint32_t i = (hole + 1) & m->mask; m->slots[i].value; i = (i + 1) & m->mask) {
        uint32_t home = perftrace__session_map_home(m, m->slots[i].key);
        if (((i - home) & m->mask) >= ((i - hole) & m->mask)) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->slots[hole] = (slot_t){0, 0};
    m->count--;
    uint32_t cap = m->mask + 1;
    if (cap > CAP_MIN && m->count < cap / 16) {
        (void)resize(m, cap / 4 > CAP_MIN ? cap / 4 : CAP_MIN); /* without memory it stays large */
    }
}

uint64_t perftrace__session_map_bytes(const perftrace__session_map_t *m) {
    return m->slots ? ((uint64_t)m->mask + 1) * sizeof(slot_t) : 0;
}

void perftrace__session_map_free(perftrace__session_map_t *m) {
    free(m->slots);
    *m = (perftrace__session_map_t){NULL, 0, 0, 0};
}
