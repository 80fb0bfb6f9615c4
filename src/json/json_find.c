/* json_find.c: a value by its path, and keys that come twice. SPDX-License-Identifier: MIT */
#include "json_lex.h"

/* A step of a path as an array index; false when it is no plain decimal number. */
static bool parse_index(const char *step, size_t len, size_t *ret) {
    perftrace__json_slice_t s = {step, len, PERFTRACE__JSON_STRING, false, 0};
    uint64_t v;
    if (len == 0 || step[0] == '-' || !perftrace__json_to_u64(&s, &v)) {
        return false;
    }
    *ret = (size_t)v;
    return true;
}

static bool find_step(const perftrace__json_slice_t *in, const char *step, size_t len,
                      perftrace__json_slice_t *ret) {
    perftrace__json_cursor_t c;
    perftrace__json_cursor_init(&c, in->p, in->len);
    if (in->type == PERFTRACE__JSON_OBJECT && perftrace__json_enter_object(&c)) {
        perftrace__json_slice_t key;
        while (perftrace__json_next_member(&c, &key, ret) > 0) {
            if (perftrace__json_equal(&key, step, len)) {
                return true;
            }
        }
        return false;
    }
    size_t index;
    if (in->type != PERFTRACE__JSON_ARRAY || !parse_index(step, len, &index) ||
        !perftrace__json_enter_array(&c)) {
        return false;
    }
    while (perftrace__json_next_element(&c, ret) > 0) {
        if (index-- == 0) {
            return true;
        }
    }
    return false;
}

bool perftrace__json_find(const perftrace__json_slice_t *container, const char *path,
                          perftrace__json_slice_t *ret_value) {
    perftrace__json_slice_t at = *container;
    const char *step = path;
    while (*step) {
        size_t len = strcspn(step, ".");
        perftrace__json_slice_t below;
        if (!find_step(&at, step, len, &below)) {
            return false;
        }
        at = below;
        step += len;
        step += *step == '.';
    }
    *ret_value = at;
    return true;
}

#define KEYS_COMPARED 64

/* Equal keys have equal marks; keys with escapes all have the same one. */
static uint64_t key_mark(const perftrace__json_slice_t *key) {
    uint64_t head = 0;
    if (key->escaped) {
        return 0;
    }
    memcpy(&head, key->p, PT_MIN(key->len, sizeof(head)));
    return (head ^ key->len << 56) * UINT64_C(0x9E3779B97F4A7C15) | 1;
}

static bool same_key(const perftrace__json_slice_t *a, const perftrace__json_slice_t *b) {
    if (!a->escaped && !b->escaped) {
        return perftrace__json_equal(a, b->p, b->len);
    }
    return perftrace__json_same_string(a->p, a->len, b->p, b->len);
}

bool perftrace__json_duplicate_key(const perftrace__json_slice_t *object,
                                   perftrace__json_slice_t *ret_key) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t keys[KEYS_COMPARED];
    uint64_t marks[KEYS_COMPARED];
    perftrace__json_slice_t value;
    bool any_escaped = false;
    perftrace__json_cursor_init(&c, object->p, object->len);
    if (object->type != PERFTRACE__JSON_OBJECT || !perftrace__json_enter_object(&c)) {
        return false;
    }
    for (unsigned n = 0; n < KEYS_COMPARED; n++) {
        if (perftrace__json_next_member(&c, &keys[n], &value) <= 0) {
            return false;
        }
        marks[n] = key_mark(&keys[n]);
        any_escaped = any_escaped || keys[n].escaped;
        for (unsigned i = 0; i < n; i++) {
            if ((marks[i] == marks[n] || any_escaped) && same_key(&keys[i], &keys[n])) {
                if (ret_key) {
                    *ret_key = keys[n];
                }
                return true;
            }
        }
    }
    return false;
}
