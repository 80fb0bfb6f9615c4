/* host_nest.c: which scopes of the host hold each other. SPDX-License-Identifier: MIT */
#include "host_nest.h"

#include "grow.h"

#include <stdlib.h>

/* Scopes of a track that have begun and not ended, the outermost first. */
typedef struct open {
    uint32_t *row;
    size_t count, cap;
} open_t;

/* A scope among those that begin at the same time. */
typedef struct starter {
    int64_t dur;
    uint32_t row;
} starter_t;

typedef struct starters {
    starter_t *one;
    size_t count, cap;
} starters_t;

static int longest_first(const void *a, const void *b) {
    const starter_t *x = a, *y = b;
    return x->dur != y->dur ? (x->dur < y->dur) - (x->dur > y->dur)
                            : (x->row > y->row) - (x->row < y->row);
}

/* Collects the scopes that begin when that at place `from` of the host does; false without memory.
 */
static bool collect(const pt_rank_view_t *v, size_t from, starters_t *l) {
    const pt_row_t *row = v->store->row;
    l->count = 0;
    for (size_t i = from; i < v->hosts && row[v->host[i]].ts == row[v->host[from]].ts; i++) {
        if (!PT_GROW(l, one, count, cap, 1)) {
            return false;
        }
        l->one[l->count++] = (starter_t){row[v->host[i]].dur, v->host[i]};
    }
    if (l->count > 1) {
        qsort(l->one, l->count, sizeof *l->one, longest_first);
    }
    return true;
}

bool pt_host_nest_make(pt_host_nest_t *nest, const pt_rank_view_t *v,
                       bool (*chooses)(const void *ctx, const pt_row_t *row), const void *ctx) {
    const pt_rank_store_t *s = v->store;
    open_t *open = calloc(s->tracks + 1, sizeof *open);
    starters_t l = {NULL, 0, 0};
    nest->inner = malloc((s->rows + 1) * sizeof *nest->inner);
    nest->outer = malloc((s->rows + 1) * sizeof *nest->outer);
    bool ok = open != NULL && nest->inner != NULL && nest->outer != NULL;
    for (size_t from = 0; ok && from < v->hosts; from += l.count) {
        ok = collect(v, from, &l);
        for (size_t i = 0; ok && i < l.count; i++) {
            uint32_t index = l.one[i].row;
            const pt_row_t *row = &s->row[index];
            open_t *o = &open[row->track];
            while (o->count > 0 && pt_row_end(&s->row[o->row[o->count - 1]]) <= row->ts) {
                o->count--;
            }
            uint32_t holder = o->count > 0 ? o->row[o->count - 1] : PT_NO_ROW;
            bool held = holder != PT_NO_ROW && nest->outer[holder] != PT_NO_ROW;
            nest->inner[index] = !held                           ? PT_NO_ROW
                                 : chooses(ctx, &s->row[holder]) ? holder
                                                                 : nest->inner[holder];
            nest->outer[index] = held ? nest->outer[holder] : chooses(ctx, row) ? index : PT_NO_ROW;
            ok = PT_GROW(o, row, count, cap, 1);
            if (ok) {
                o->row[o->count++] = index;
            }
        }
    }
    for (size_t t = 0; open != NULL && t < s->tracks; t++) {
        free(open[t].row);
    }
    free(open);
    free(l.one);
    return ok;
}

void pt_host_nest_free(pt_host_nest_t *nest) {
    free(nest->inner);
    free(nest->outer);
    *nest = (pt_host_nest_t){NULL, NULL};
}
