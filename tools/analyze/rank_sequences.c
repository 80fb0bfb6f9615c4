/* rank_sequences.c: the kernels that operators launch, as sequences. SPDX-License-Identifier: MIT
 *
 * A sequence is what one operator launched, itself or by what it held, in the order in which it
 * ran. Of operators that hold each other the outermost counts: nothing is counted twice. */
#include "grow.h"
#include "host_nest.h"

#include <stdlib.h>
#include <string.h>

#define KEPT       1000U             /* of the most frequent sequences, */
#define KEPT_BYTES ((size_t)4 << 20) /* up to so much text */

typedef struct sequence {
    uint32_t *name; /* the operator's, then those of the work */
    size_t length;  /* without the operator */
    size_t order;   /* of their first appearance */
    int64_t count, device, host;
} sequence_t;

typedef struct sequences {
    const pt_rank_view_t *v;
    sequence_t *sequence;
    size_t count, cap;
    perftrace__hashmap_t map; /* by the numbers of the names */
    uint8_t *fits;            /* by name: it holds the text that was asked for */
} sequences_t;

/* Operators: torch's own, or any scope of the host whose name holds what was asked for. */
static bool is_operator(const void *ctx, const pt_row_t *row) {
    const sequences_t *l = ctx;
    return l->fits != NULL ? row->kind != PT_ROW_RUNTIME && l->fits[row->name] != 0
                           : row->kind == PT_ROW_CPU_OP;
}

static bool find_fitting(sequences_t *l) {
    const pt_names_t *names = &l->v->store->names;
    const char *part = l->v->options->sequences_of;
    if (part == NULL) {
        return true;
    }
    l->fits = calloc(names->count + 1, 1);
    for (size_t i = 0; l->fits != NULL && i < names->count; i++) {
        pt_str_t name = pt_names_get(names, (uint32_t)i);
        l->fits[i] = memmem(name.p, name.len, part, strlen(part)) != NULL;
    }
    return l->fits != NULL;
}

/* Adds what one operator launched: places of work. */
static bool add(sequences_t *l, uint32_t op, const uint32_t *place, size_t length) {
    const pt_rank_view_t *v = l->v;
    uint32_t *name = malloc((length + 1) * sizeof *name);
    int64_t device = 0;
    bool is_new = false;
    if (name == NULL) {
        return false;
    }
    name[0] = v->store->row[op].name;
    for (size_t i = 0; i < length; i++) {
        name[i + 1] = pt_view_work(v, place[i])->name;
        device += pt_view_work(v, place[i])->dur;
    }
    const uint64_t *slot =
        perftrace__hashmap_put(&l->map, name, (length + 1) * sizeof *name, l->count, &is_new);
    if (slot == NULL || (is_new && !PT_GROW(l, sequence, count, cap, 1))) {
        free(name);
        return false;
    }
    if (is_new) {
        l->sequence[l->count] = (sequence_t){name, length, l->count, 0, 0, 0};
        l->count++;
    } else {
        free(name);
    }
    sequence_t *a = &l->sequence[*slot];
    a->count++;
    a->device += device;
    a->host += v->store->row[op].dur;
    return true;
}

/* Joins the work to its operators, those of one together, each in the order of time. */
static bool collect(sequences_t *l, const pt_host_nest_t *nest) {
    const pt_rank_view_t *v = l->v;
    int64_t *op = malloc((v->works + 1) * sizeof *op);
    uint32_t *place = malloc((v->works + 1) * sizeof *place);
    size_t count = 0;
    bool ok = op != NULL && place != NULL;
    for (size_t i = 0; ok && i < v->works; i++) {
        if (v->call[i] != PT_NO_ROW && nest->outer[v->call[i]] != PT_NO_ROW) {
            op[i] = nest->outer[v->call[i]];
            place[count++] = (uint32_t)i;
        }
    }
    ok = ok && pt_order_by_key(op, place, count);
    for (size_t from = 0, to; ok && from < count; from = to) {
        for (to = from + 1; to < count && op[place[to]] == op[place[from]]; to++) {
        }
        if (to - from >= v->options->sequence_min) {
            ok = add(l, (uint32_t)op[place[from]], place + from, to - from);
        }
    }
    free(op);
    free(place);
    return ok;
}

static int most_frequent_first(const void *a, const void *b) {
    const sequence_t *x = a, *y = b;
    if (x->count != y->count) {
        return (x->count < y->count) - (x->count > y->count);
    }
    if (x->device != y->device) {
        return (x->device < y->device) - (x->device > y->device);
    }
    return (x->order > y->order) - (x->order < y->order);
}

static bool put(const sequences_t *l, pt_rank_result_t *r) {
    const pt_names_t *names = &l->v->store->names;
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    size_t bytes = 0, kept = 0;
    for (; kept < l->count && kept < KEPT && !text.failed; kept++) {
        const sequence_t *a = &l->sequence[kept];
        perftrace__strbuf_clear(&text);
        for (size_t i = 1; i <= a->length && text.len <= KEPT_BYTES; i++) {
            pt_str_t name = pt_names_get(names, a->name[i]);
            perftrace__strbuf_puts(&text, i > 1 ? " | " : "");
            perftrace__strbuf_append(&text, name.p, name.len);
        }
        bytes += text.len;
        if (bytes > KEPT_BYTES) {
            break;
        }
        pt_str_t op = pt_names_get(names, a->name[0]);
        pt_result_row(r, PT_RT_sequences,
                      (const int64_t[]){
                          pt_result_text(r, op),
                          pt_result_text(r, (pt_str_t){perftrace__strbuf_cstr(&text), text.len}),
                          (int64_t)a->length, a->count, a->device, a->host});
    }
    r->fact[PT_FACT_sequences] = (int64_t)l->count;
    r->fact[PT_FACT_sequences_left_out] = (int64_t)(l->count - kept);
    bool ok = !text.failed;
    perftrace__strbuf_free(&text);
    return ok && !r->failed;
}

bool pt_rank_sequences(const pt_rank_view_t *v, pt_rank_result_t *r) {
    sequences_t l = {.v = v};
    pt_host_nest_t nest = {NULL, NULL};
    if (r->fact[PT_FACT_linked] == PT_NOT_RECORDED) {
        return true; /* no work is joined to a call */
    }
    bool ok =
        find_fitting(&l) && pt_host_nest_make(&nest, v, is_operator, &l) && collect(&l, &nest);
    if (ok && l.count > 1) {
        qsort(l.sequence, l.count, sizeof *l.sequence, most_frequent_first);
    }
    ok = ok && put(&l, r);
    for (size_t i = 0; i < l.count; i++) {
        free(l.sequence[i].name);
    }
    free(l.sequence);
    free(l.fits);
    perftrace__hashmap_free(&l.map);
    pt_host_nest_free(&nest);
    return ok;
}
