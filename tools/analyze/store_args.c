/* store_args.c: single arguments of an event. SPDX-License-Identifier: MIT */
#include "store_args.h"

#include "event_json.h"

#include <string.h>

bool pt_args_find(pt_str_t args, const char *key, perftrace__json_slice_t *ret) {
    size_t key_len = strlen(key);
    const char *p = args.p, *end = args.p + args.len;
    while (p != NULL && p < end && (p = memmem(p, (size_t)(end - p), key, key_len)) != NULL) {
        const char *q = p + key_len;
        while (q < end && (*q == ' ' || *q == '\n' || *q == '\t' || *q == '\r')) {
            q++;
        }
        if (q < end && *q == ':' && p[-1] != '\\') {
            perftrace__json_cursor_t c;
            perftrace__json_cursor_init(&c, q + 1, (size_t)(end - q) - 1);
            return perftrace__json_next_value(&c, ret) > 0;
        }
        p = q;
    }
    return false;
}

bool pt_args_int(pt_str_t args, const char *key, int64_t *ret) {
    perftrace__json_slice_t value;
    return pt_args_find(args, key, &value) && perftrace__json_to_i64(&value, ret);
}

pt_str_t pt_args_text(pt_str_t args, const char *key) {
    perftrace__json_slice_t value;
    if (!pt_args_find(args, key, &value) || value.type != PERFTRACE__JSON_STRING ||
        value.len == 0) {
        return (pt_str_t){NULL, 0};
    }
    return pt_str_from(&value);
}
