/* rank_order.c: which rank each result is of. SPDX-License-Identifier: MIT */
#include "rank_order.h"

#include "file_rank.h"
#include "human.h"
#include "last_part.h"
#include "natural.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pt_rank_map_is_entry(const char *entry) {
    const char *equals = strrchr(entry, '=');
    uint64_t rank;
    return equals != NULL && equals > entry && pt_parse_uint64(equals + 1, &rank) &&
           rank <= INT32_MAX;
}

static bool map_finds(const pt_string_list_t *map, const char *file, int64_t *ret) {
    for (size_t i = 0; map != NULL && i < map->count; i++) {
        const char *entry = map->items[i], *equals = strrchr(entry, '=');
        size_t len = (size_t)(equals - entry);
        const char *part = pt_last_part(file);
        if ((strlen(file) == len && memcmp(file, entry, len) == 0) ||
            (strlen(part) == len && memcmp(part, entry, len) == 0)) {
            *ret = strtoll(equals + 1, NULL, 10);
            return true;
        }
    }
    return false;
}

static int by_file(const void *a, const void *b) {
    const pt_rank_result_t *x = a, *y = b;
    char p[4096], q[4096];
    pt_str_t s = pt_names_get(&x->texts, x->file), t = pt_names_get(&y->texts, y->file);
    snprintf(p, sizeof p, "%.*s", (int)PT_MIN(s.len, sizeof p - 1), s.p);
    snprintf(q, sizeof q, "%.*s", (int)PT_MIN(t.len, sizeof q - 1), t.p);
    int order = pt_natural_compare(p, q);
    int64_t m = x->fact[PT_FACT_rank], n = y->fact[PT_FACT_rank];
    return order != 0 ? order : (m > n) - (m < n);
}

/* Whether the file of a result gives results for several ranks: a map names files. */
static bool is_alone(const pt_results_t *l, size_t index) {
    pt_str_t file = pt_names_get(&l->result[index].texts, l->result[index].file);
    for (size_t i = 0; i < l->count; i++) {
        pt_str_t other = pt_names_get(&l->result[i].texts, l->result[i].file);
        if (i != index && pt_str_is(other, file.p, file.len)) {
            return false;
        }
    }
    return true;
}

static void resolve_one(pt_results_t *l, size_t index, const pt_string_list_t *map) {
    pt_rank_result_t *r = &l->result[index];
    char file[4096];
    pt_str_t text = pt_names_get(&r->texts, r->file);
    int64_t rank;
    snprintf(file, sizeof file, "%.*s", (int)PT_MIN(text.len, sizeof file - 1), text.p);
    if (is_alone(l, index) && map_finds(map, file, &rank)) {
        r->fact[PT_FACT_rank] = rank;
        r->fact[PT_FACT_rank_source] = PT_RANK_OF_MAP;
    } else if (r->fact[PT_FACT_rank] == PT_NOT_RECORDED ||
               r->fact[PT_FACT_rank_source] == PT_RANK_MADE_UP) {
        rank = pt_file_rank_or_tp(file);
        r->fact[PT_FACT_rank] = rank >= 0 ? rank : PT_NOT_RECORDED;
        r->fact[PT_FACT_rank_source] = rank >= 0 ? PT_RANK_OF_NAME : PT_RANK_MADE_UP;
    }
}

static bool is_taken(const pt_results_t *l, int64_t rank) {
    for (size_t i = 0; i < l->count; i++) {
        if (l->result[i].fact[PT_FACT_rank] == rank) {
            return true;
        }
    }
    return false;
}

static bool same_text(const pt_rank_result_t *a, uint32_t x, const pt_rank_result_t *b,
                      uint32_t y) {
    pt_str_t p = pt_names_get(&a->texts, x), q = pt_names_get(&b->texts, y);
    return pt_str_is(p, q.p, q.len);
}

void pt_ranks_resolve(pt_results_t *l, const pt_string_list_t *map, size_t *ret_made_up,
                      pt_rank_twins_t *ret_twins) {
    int64_t next = 0;
    *ret_made_up = 0;
    *ret_twins = (pt_rank_twins_t){0, 0, false};
    if (l->count > 1) {
        qsort(l->result, l->count, sizeof *l->result, by_file);
    }
    for (size_t i = 0; i < l->count; i++) {
        resolve_one(l, i, map);
    }
    for (size_t i = 0; i < l->count; i++) {
        if (l->result[i].fact[PT_FACT_rank] == PT_NOT_RECORDED) {
            while (is_taken(l, next)) {
                next++;
            }
            l->result[i].fact[PT_FACT_rank] = next++;
            (*ret_made_up)++;
        }
    }
    pt_results_sort(l);
    for (size_t i = 1; i < l->count && !ret_twins->found; i++) {
        const pt_rank_result_t *a = &l->result[i - 1], *b = &l->result[i];
        if (a->fact[PT_FACT_rank] == b->fact[PT_FACT_rank] && same_text(a, a->role, b, b->role)) {
            *ret_twins = (pt_rank_twins_t){i - 1, i, true};
        }
    }
}

int64_t pt_ranks_world(const pt_results_t *l) {
    int64_t world = -1;
    for (size_t i = 0; i < l->count; i++) {
        world = PT_MAX(world, l->result[i].fact[PT_FACT_world_size]);
    }
    return world;
}

typedef struct lacking {
    const pt_results_t *l;
    perftrace__strbuf_t *out;
    size_t most, count;
} lacking_t;

static void note_lacking(lacking_t *k, int64_t first, int64_t last) {
    const pt_results_t *l = k->l;
    size_t at = 0; /* results are sorted by rank */
    for (int64_t rank = first; rank <= last; rank++) {
        while (at < l->count && l->result[at].fact[PT_FACT_rank] < rank) {
            at++;
        }
        if (at < l->count && l->result[at].fact[PT_FACT_rank] == rank) {
            continue;
        }
        if (k->count < k->most) {
            perftrace__strbuf_printf(k->out, "%s%lld", k->count > 0 ? ", " : "", (long long)rank);
        } else if (k->count == k->most) {
            perftrace__strbuf_puts(k->out, ", ...");
        }
        k->count++;
    }
}

size_t pt_ranks_missing(const pt_results_t *l, size_t most, perftrace__strbuf_t *out) {
    int64_t last = PT_MIN(pt_ranks_world(l), (int64_t)1 << 20) - 1;
    lacking_t k = {.l = l, .out = out, .most = most};
    if (l->chosen == NULL) {
        note_lacking(&k, 0, last);
        return k.count;
    }
    for (size_t i = 0; i < l->chosen->count; i++) {
        const pt_number_range_t *range = &l->chosen->item[i];
        note_lacking(&k, range->first, PT_MIN(range->last, PT_MAX(range->first, last)));
    }
    return k.count;
}

size_t pt_ranks_odd_run(const pt_results_t *l) {
    for (size_t i = 0; i < l->count; i++) {
        size_t same = 0, other = 0;
        for (size_t k = 0; k < l->count && l->result[i].run_id != 0; k++) {
            bool equal =
                same_text(&l->result[i], l->result[i].run_id, &l->result[k], l->result[k].run_id);
            same += equal;
            other += !equal && l->result[k].run_id != 0;
        }
        if (other > same || (other == same && other > 0 && i > 0)) {
            return i;
        }
    }
    return SIZE_MAX;
}
