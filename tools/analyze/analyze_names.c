/* analyze_names.c: texts, each once, by number. SPDX-License-Identifier: MIT */
#include "analyze_names.h"

#include "grow.h"
#include "json_scan.h"

#include <string.h>

uint32_t pt_names_add(pt_names_t *n, const char *text, size_t len) {
    bool is_new = false;
    if (n->count == 0 && len > 0) {
        (void)pt_names_add(n, "", 0);
    }
    const uint64_t *slot = perftrace__hashmap_put(&n->map, text, len, n->count, &is_new);
    if (slot == NULL || (is_new && (n->count >= UINT32_MAX || !PT_GROW(n, at, count, cap, 1) ||
                                    !PT_GROW(n, len, count, len_cap, 1)))) {
        n->failed = true;
        return 0;
    }
    if (is_new) {
        n->at[n->count] = n->map.arena_len - len;
        n->len[n->count++] = (uint32_t)len;
    }
    return (uint32_t)*slot;
}

uint32_t pt_names_add_json(pt_names_t *n, pt_str_t text) {
    perftrace__json_slice_t slice = {text.p + 1, text.len - 2, PERFTRACE__JSON_STRING, true, 0};
    char small[512];
    if (text.len < 2) {
        return pt_names_add(n, "", 0);
    }
    if (memchr(slice.p, '\\', slice.len) == NULL) {
        return pt_names_add(n, slice.p, slice.len);
    }
    char *out = slice.len <= sizeof small ? small : malloc(slice.len);
    if (out == NULL) {
        n->failed = true;
        return 0;
    }
    uint32_t number = pt_names_add(n, out, perftrace__json_decode(&slice, out));
    if (out != small) {
        free(out);
    }
    return number;
}

uint32_t pt_names_add_cstr(pt_names_t *n, const char *text) {
    return text != NULL ? pt_names_add(n, text, strlen(text)) : 0;
}

pt_str_t pt_names_get(const pt_names_t *n, uint32_t number) {
    if (number >= n->count) {
        return (pt_str_t){"", 0};
    }
    return (pt_str_t){n->map.arena != NULL ? n->map.arena + n->at[number] : "", n->len[number]};
}

int pt_str_compare(pt_str_t a, pt_str_t b) {
    int order = memcmp(a.p, b.p, PT_MIN(a.len, b.len));
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

void pt_names_free(pt_names_t *n) {
    if (n != NULL) {
        perftrace__hashmap_free(&n->map);
        free(n->at);
        free(n->len);
        *n = (pt_names_t){.count = 0};
    }
}
