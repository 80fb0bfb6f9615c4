/* path_parts.c. SPDX-License-Identifier: MIT */
#include "path_parts.h"

#include "hashmap.h"
#include "message.h"
#include "strbuf.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_LINE ((size_t)32 * 1024) /* what of a first line is compared */

static bool ends_with(const char *name, size_t len, const char *end) {
    size_t n = strlen(end);
    return len > n && memcmp(name + len - n, end, n) == 0;
}

unsigned pt_path_parts_number(const char *name, size_t *ret_stem_len) {
    static const char mark[] = ".part";
    size_t len = strlen(name);
    size_t end_len = ends_with(name, len, ".jsonl") ? 6 : ends_with(name, len, ".jsonl.gz") ? 9 : 0;
    size_t at = len - end_len, digits = 0;
    unsigned number = 0, scale = 1;
    if (end_len == 0) {
        return 0;
    }
    *ret_stem_len = at;
    while (digits < 8 && at > digits && name[at - digits - 1] >= '0' &&
           name[at - digits - 1] <= '9') {
        digits++;
        number += scale * (unsigned)(name[at - digits] - '0');
        scale *= 10;
    }
    size_t before = at - digits;
    bool is_part = digits > 0 && number >= 2 && name[before] != '0' && before > sizeof mark - 1 &&
                   memcmp(name + before - (sizeof mark - 1), mark, sizeof mark - 1) == 0;
    if (is_part) {
        *ret_stem_len = before - (sizeof mark - 1);
    }
    return is_part ? number : 1;
}

/* A file that may be a part. */
typedef struct part {
    size_t index; /* in the list */
    uint64_t group;
    unsigned number;
    uint64_t line; /* hash of its first line; 0: not read, or none */
} part_t;

static int by_group(const void *a, const void *b) {
    const part_t *x = a, *y = b;
    return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
                                : (x->number > y->number) - (x->number < y->number);
}

static uint64_t first_line(const char *name) {
    pt_input_t *input = NULL;
    const char *data;
    uint64_t hash = 0;
    if (pt_input_open(name, NULL, &input, NULL) == 0) {
        size_t len = pt_input_peek(input, FIRST_LINE, &data);
        const char *stop = len > 0 ? memchr(data, '\n', len) : NULL;
        if (stop != NULL) {
            hash = perftrace__hash_bytes(data, (size_t)(stop - data), 0) | 1;
        }
        pt_input_close(input);
    }
    return hash;
}

/* All files with such names; how many are not a first part in *ret_later. SIZE_MAX without memory.
 */
static size_t find_parts(const pt_paths_t *paths, part_t *part, size_t *ret_later) {
    perftrace__hashmap_t groups = PERFTRACE__HASHMAP_INIT;
    perftrace__strbuf_t key = PERFTRACE__STRBUF_INIT;
    size_t n = 0;
    for (size_t i = 0; i < paths->count && n != SIZE_MAX; i++) {
        const pt_path_t *p = &paths->items[i];
        size_t stem_len = 0;
        unsigned number = p->regular && !p->is_stdin ? pt_path_parts_number(p->name, &stem_len) : 0;
        if (number == 0) {
            continue;
        }
        perftrace__strbuf_clear(&key);
        perftrace__strbuf_append(&key, p->name, stem_len);
        uint64_t *group = perftrace__hashmap_put(&groups, key.data, key.len, i, NULL);
        if (key.failed || group == NULL) {
            n = SIZE_MAX;
            break;
        }
        part[n++] = (part_t){.index = i, .group = *group, .number = number};
        *ret_later += number > 1;
    }
    perftrace__strbuf_free(&key);
    perftrace__hashmap_free(&groups);
    return n;
}

/* Takes the parts [from, to) of one group together where they begin alike. */
static bool join(pt_paths_t *paths, part_t *part, size_t from, size_t to, bool *taken) {
    pt_path_t *first = &paths->items[part[from].index];
    unsigned last = part[from].number;
    part[from].line = first_line(first->name);
    if (part[from].line == 0) {
        return true;
    }
    first->more = calloc(to - from, sizeof *first->more);
    if (first->more == NULL) {
        return false;
    }
    for (size_t i = from + 1; i < to; i++) {
        const pt_path_t *next = &paths->items[part[i].index];
        if (first_line(next->name) != part[from].line) {
            continue; /* of another run */
        }
        if (part[i].number != last + 1) {
            pt_warn("%s: goes on with part %u; what stood between is not there", first->name,
                    part[i].number);
        }
        last = part[i].number;
        first->named |= next->named;
        first->size += next->size;
        first->more[first->more_count++] = *next;
        taken[part[i].index] = true;
    }
    return true;
}

pt_exit_t pt_path_parts_join(pt_paths_t *paths) {
    part_t *part = calloc(paths->count + 1, sizeof *part);
    bool *taken = calloc(paths->count + 1, sizeof *taken);
    size_t later = 0;
    size_t n = part != NULL && taken != NULL ? find_parts(paths, part, &later) : SIZE_MAX;
    bool ok = n != SIZE_MAX;
    if (ok && later > 0) {
        qsort(part, n, sizeof *part, by_group);
        for (size_t i = 0, end; i < n && ok; i = end) {
            for (end = i + 1; end < n && part[end].group == part[i].group; end++) {
            }
            ok = end == i + 1 || join(paths, part, i, end, taken);
        }
        size_t kept = 0;
        for (size_t i = 0; i < paths->count; i++) {
            if (!taken[i]) {
                paths->items[kept++] = paths->items[i];
            }
        }
        paths->count = kept;
    }
    free(part);
    free(taken);
    if (!ok) {
        pt_error("out of memory");
    }
    return ok ? PT_EXIT_OK : PT_EXIT_INTERNAL;
}
