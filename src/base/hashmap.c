/* hashmap.c. SPDX-License-Identifier: MIT */
#include "hashmap.h"

#include "atomics.h"
#include "os.h"

#include <stdlib.h>
#include <string.h>

#define INT_KEY UINT64_MAX

static uint64_t mix(uint64_t a, uint64_t b) {
    __extension__ unsigned __int128 r = (unsigned __int128)a * b;
    return (uint64_t)r ^ (uint64_t)(r >> 64);
}

/* The fewer than eight bytes behind the last whole word, as a number; `all` bytes end there. */
static uint64_t last_bytes(const unsigned char *p, size_t len, size_t all) {
    uint64_t tail = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (all >= 8) { /* one load of the last eight: a copy of so few bytes would be a call */
        memcpy(&tail, p + len - 8, 8);
        return tail >> (8 * (8 - len));
    }
#endif
    (void)all;
    memcpy(&tail, p, len);
    return tail;
}

uint64_t perftrace__hash_bytes(const void *data, size_t len, uint64_t seed) {
    const unsigned char *p = data;
    const size_t all = len;
    uint64_t h = seed ^ mix(len + 0x9E3779B97F4A7C15u, 0xD6E8FEB86659FD93u);
    while (len >= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = mix(h ^ w, 0xA0761D6478BD642Fu);
        p += 8;
        len -= 8;
    }
    uint64_t tail = len ? last_bytes(p, len, all) : 0;
    return mix(h ^ tail, 0xE7037ED1A0B428DBu);
}

static uint64_t hash_int(uint64_t key, uint64_t seed) {
    return mix(key ^ seed, 0xA0761D6478BD642Fu) ^ mix(key + 0x9E3779B97F4A7C15u, seed | 1);
}

static bool same_key(const perftrace__hashmap_t *m, const perftrace__hashmap_slot_t *s,
                     const void *key, uint64_t klen, uint64_t ikey) {
    if (s->klen != klen) {
        return false;
    }
    if (klen == INT_KEY) {
        return s->key == ikey;
    }
    return klen == 0 || memcmp(m->arena + s->key, key, (size_t)klen) == 0;
}

/* The slot that holds the key, or the free slot where it would go. The load stays below 3/4, so a
 * free slot always exists. */
static perftrace__hashmap_slot_t *find(const perftrace__hashmap_t *m, uint64_t hash,
                                       const void *key, uint64_t klen, uint64_t ikey) {
    size_t mask = m->cap - 1;
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        perftrace__hashmap_slot_t *s = &m->slots[i];
        if (s->hash == 0 || (s->hash == hash && same_key(m, s, key, klen, ikey))) {
            return s;
        }
    }
}

/* Not to be foreseen by who chooses the keys. Another one for each map: what comes out of one in
 * the order of its slots, and goes into a smaller one, would pile up in a few places of that. The
 * system is asked once: thousands of maps may be made. */
static uint64_t new_seed(void) {
    static uint64_t process_seed, maps;
    uint64_t seed = pt_load_relaxed(&process_seed);
    if (seed == 0) { /* several threads may come here: any one's number is good */
        seed = perftrace__os_random_u64() | 1;
        pt_store_relaxed(&process_seed, seed);
    }
    return mix(seed + pt_add_relaxed(&maps, 1) * 0x9E3779B97F4A7C15u, 0xD6E8FEB86659FD93u) ^ seed;
}

static bool grow(perftrace__hashmap_t *m) {
    size_t cap = m->cap ? m->cap * 2 : 16;
    perftrace__hashmap_slot_t *slots = calloc(cap, sizeof(*slots));
    if (!slots) {
        return false;
    }
    if (m->cap == 0) {
        m->seed = new_seed();
    }
    for (size_t i = 0; i < m->cap; i++) {
        if (m->slots[i].hash == 0) {
            continue;
        }
        size_t j = (size_t)m->slots[i].hash & (cap - 1);
        while (slots[j].hash) {
            j = (j + 1) & (cap - 1);
        }
        slots[j] = m->slots[i];
    }
    free(m->slots);
    m->slots = slots;
    m->cap = cap;
    return true;
}

static uint64_t nonzero(uint64_t h) {
    return h ? h : 1;
}

uint64_t *perftrace__hashmap_get(const perftrace__hashmap_t *m, const void *key, size_t len) {
    if (m->count == 0) {
        return NULL;
    }
    uint64_t h = nonzero(perftrace__hash_bytes(key, len, m->seed));
    perftrace__hashmap_slot_t *s = find(m, h, key, len, 0);
    return s->hash ? &s->value : NULL;
}

uint64_t *perftrace__hashmap_get_u64(const perftrace__hashmap_t *m, uint64_t key) {
    if (m->count == 0) {
        return NULL;
    }
    uint64_t h = nonzero(hash_int(key, m->seed));
    perftrace__hashmap_slot_t *s = find(m, h, NULL, INT_KEY, key);
    return s->hash ? &s->value : NULL;
}

static bool arena_copy(perftrace__hashmap_t *m, const void *key, size_t len, uint64_t *ret_at) {
    if (len > m->arena_cap - m->arena_len) {
        size_t cap = (m->arena_cap + len) * 2 + 256;
        char *arena = realloc(m->arena, cap);
        if (!arena) {
            return false;
        }
        m->arena = arena;
        m->arena_cap = cap;
    }
    if (len) {
        memcpy(m->arena + m->arena_len, key, len);
    }
    *ret_at = m->arena_len;
    m->arena_len += len;
    return true;
}

static uint64_t *put(perftrace__hashmap_t *m, const void *key, uint64_t klen, uint64_t ikey,
                     uint64_t initial, bool *ret_new) {
    if (ret_new) {
        *ret_new = false;
    }
    if ((m->count + 1) * 4 > m->cap * 3 && !grow(m)) {
        return NULL;
    }
    uint64_t h = nonzero(klen == INT_KEY ? hash_int(ikey, m->seed)
                                         : perftrace__hash_bytes(key, (size_t)klen, m->seed));
    perftrace__hashmap_slot_t *s = find(m, h, key, klen, ikey);
    if (s->hash) {
        return &s->value;
    }
    if (klen == INT_KEY) {
        s->key = ikey;
    } else if (!arena_copy(m, key, (size_t)klen, &s->key)) {
        return NULL;
    }
    s->hash = h;
    s->klen = klen;
    s->value = initial;
    m->count++;
    if (ret_new) {
        *ret_new = true;
    }
    return &s->value;
}

uint64_t *perftrace__hashmap_put(perftrace__hashmap_t *m, const void *key, size_t len,
                                 uint64_t initial, bool *ret_new) {
    return put(m, key, len, 0, initial, ret_new);
}

uint64_t *perftrace__hashmap_put_u64(perftrace__hashmap_t *m, uint64_t key, uint64_t initial,
                                     bool *ret_new) {
    return put(m, NULL, INT_KEY, key, initial, ret_new);
}

bool perftrace__hashmap_next(const perftrace__hashmap_t *m, size_t *pos, const char **ret_key,
                             uint64_t *ret_len, uint64_t *ret_value) {
    while (*pos < m->cap) {
        const perftrace__hashmap_slot_t *s = &m->slots[(*pos)++];
        if (s->hash == 0) {
            continue;
        }
        if (ret_key) {
            *ret_key = s->klen == INT_KEY ? NULL : m->arena + s->key;
        }
        if (ret_len) {
            *ret_len = s->klen == INT_KEY ? s->key : s->klen;
        }
        *ret_value = s->value;
        return true;
    }
    return false;
}

void perftrace__hashmap_free(perftrace__hashmap_t *m) {
    if (!m) {
        return;
    }
    free(m->slots);
    free(m->arena);
    memset(m, 0, sizeof(*m));
}
