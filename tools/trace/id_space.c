/* id_space.c: ids of many files as numbers below 2^31 that do not meet. SPDX-License-Identifier:
 * MIT */
#include "id_space.h"

void pt_id_space_init(pt_id_space_t *space, unsigned file, unsigned files) {
    uint32_t half = (uint32_t)(INT32_MAX / (files == 0 ? 1 : files)) / 2;
    *space = (pt_id_space_t){.base = file * 2 * half, .half = half};
}

void pt_id_space_free(pt_id_space_t *space) {
    if (space != NULL) {
        perftrace__hashmap_free(&space->map);
    }
}

uint32_t pt_id_space_fresh(pt_id_space_t *space) {
    uint32_t n = space->next;
    space->next = n + 1 < space->half ? n + 1 : 0;
    return space->base + space->half + n;
}

static int digit_of(char c, bool hex) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return hex && lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The value of an id that is a plain number below the limit. */
static bool small_value(pt_str_t id, uint32_t limit, uint32_t *ret) {
    if (id.len == 0) {
        return false;
    }
    const char *p = id.p, *end = id.p + id.len;
    bool hex = id.len >= 2 && *p == '"';
    uint64_t v = 0;
    if (hex) {
        p++;
        end--;
        p += end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x' ? 2 : 0;
    }
    if (p >= end || end - p > 16) {
        return false;
    }
    for (; p < end; p++) {
        int digit = digit_of(*p, hex);
        if (digit < 0) {
            return false;
        }
        v = v * (hex ? 16 : 10) + (unsigned)digit;
        if (v >= limit) {
            return false;
        }
    }
    *ret = (uint32_t)v;
    return true;
}

uint32_t pt_id_space_map(pt_id_space_t *space, pt_str_t id, uint64_t salt, bool *ret_kept) {
    uint32_t value = 0;
    *ret_kept = small_value(id, space->half, &value);
    if (*ret_kept) {
        return space->base + value;
    }
    uint64_t key = perftrace__hash_bytes(id.p, id.len, salt);
    uint64_t *slot = perftrace__hashmap_get_u64(&space->map, key);
    if (slot == NULL && space->map.count < PT_ID_SPACE_LIMIT) {
        slot = perftrace__hashmap_put_u64(&space->map, key, pt_id_space_fresh(space), NULL);
    }
    if (slot == NULL) {
        return space->base + space->half + (uint32_t)(key % space->half);
    }
    return (uint32_t)*slot;
}
