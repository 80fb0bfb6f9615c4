/* session_names.c. SPDX-License-Identifier: MIT */
#include "session_names.h"

#include "json_writer.h"

#include <stdlib.h>

#define SHORT_NAME 80 /* longer ones are escaped in memory of their own */
#define LONGEST    (1u << 20)

bool perftrace__session_names_init(perftrace__session_names_t *n, const char *const *names,
                                   uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        perftrace__text_t name = {names[i], strlen(names[i])};
        if (!perftrace__session_names_index(n, name, &n->other)) {
            return false;
        }
    }
    return true;
}

static bool add(perftrace__session_names_t *n, const char *json, size_t len) {
    if (n->count == n->cap) {
        uint32_t cap = n->cap ? n->cap * 2 : 16;
        perftrace__session_name_t *items = realloc(n->items, cap * sizeof(*items));
        if (!items) {
            return false;
        }
        n->items = items;
        n->cap = cap;
    }
    char *copy = calloc(1, len + PERFTRACE__NAME_PAD + 2);
    if (!copy) {
        return false;
    }
    memcpy(copy, json, len);
    if (!perftrace__hashmap_put(&n->map, json, len, n->count, NULL)) {
        free(copy);
        return false;
    }
    n->items[n->count++] = (perftrace__session_name_t){
        .json = copy,
        .len = (uint32_t)len,
        .is_total = len == 8 && memcmp(copy, ", \"total", 8) == 0,
        .is_queue = len == 8 && memcmp(copy, ", \"queue", 8) == 0,
    };
    n->bytes += len + PERFTRACE__NAME_PAD + 2;
    return true;
}

static bool index_of(perftrace__session_names_t *n, const char *json, size_t len,
                     uint32_t *ret_index) {
    const uint64_t *known = perftrace__hashmap_get(&n->map, json, len);
    if (known) {
        *ret_index = (uint32_t)*known;
        return true;
    }
    if (n->count >= PERFTRACE__NAMES_MAX) {
        return true;
    }
    if (add(n, json, len)) {
        *ret_index = n->count - 1;
        return true;
    }
    return false;
}

bool perftrace__session_names_index(perftrace__session_names_t *n, perftrace__text_t name,
                                    uint32_t *ret_index) {
    *ret_index = n->other;
    if (name.data && name.len == n->last_len && memcmp(name.data, n->last, name.len) == 0) {
        *ret_index = n->last_index;
        return true;
    }
    if (!name.data || name.len > LONGEST) {
        return true;
    }
    char stack[PERFTRACE__JSON_STRING_ROOM(SHORT_NAME) + 3];
    size_t room = PERFTRACE__JSON_STRING_ROOM(name.len) + 3;
    char *json = name.len <= SHORT_NAME ? stack : malloc(room);
    if (!json) {
        return false;
    }
    memcpy(json, ", \"", 3);
    size_t len = (size_t)(perftrace__put_json_chars(json + 3, name.data, name.len) - json);
    bool ok = index_of(n, json, len, ret_index);
    if (ok && name.len <= sizeof(n->last)) {
        memcpy(n->last, name.data, name.len);
        n->last_len = (uint32_t)name.len;
        n->last_index = *ret_index;
    }
    if (json != stack) {
        free(json);
    }
    return ok;
}

uint64_t perftrace__session_names_bytes(const perftrace__session_names_t *n) {
    return n->bytes + n->cap * sizeof(*n->items) + n->map.cap * sizeof(*n->map.slots) +
           n->map.arena_cap;
}

void perftrace__session_names_free(perftrace__session_names_t *n) {
    for (uint32_t i = 0; i < n->count; i++) {
        free(n->items[i].json);
    }
    free(n->items);
    perftrace__hashmap_free(&n->map);
    *n = (perftrace__session_names_t)PERFTRACE__SESSION_NAMES_INIT;
}
