/* rank_steps.c: the steps of a run, and what they are made of. SPDX-License-Identifier: MIT
 *
 * A step is a scope that torch.profiler marks (ProfilerStep#9), or, where there is none, the
 * longest scope of each global_step, as our own traces have them. Its parts are the scopes of the
 * program (annotations and its own) directly inside it, on its thread. */
#include "grow.h"
#include "rank_view.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MARK "ProfilerStep#"

typedef struct step {
    int64_t number;
    uint32_t row;
} step_t;

typedef struct steps {
    step_t *step;
    size_t count, cap;
    uint32_t *program; /* rows of the program's own scopes, by start */
    size_t programs;
} steps_t;

static bool is_programs(const pt_row_t *row) {
    return row->kind == PT_ROW_ANNOTATION || row->kind == PT_ROW_OTHER;
}

/* The number behind the mark; false for another name. */
static bool marked_number(pt_str_t name, int64_t *ret) {
    size_t n = sizeof MARK - 1;
    int64_t v = 0;
    if (name.len <= n || name.len > n + 18 || memcmp(name.p, MARK, n) != 0) {
        return false;
    }
    for (size_t i = n; i < name.len; i++) {
        if (!isdigit((unsigned char)name.p[i])) {
            return false;
        }
        v = v * 10 + (name.p[i] - '0');
    }
    *ret = v;
    return true;
}

static bool add(steps_t *l, int64_t number, uint32_t row) {
    if (!PT_GROW(l, step, count, cap, 1)) {
        return false;
    }
    l->step[l->count++] = (step_t){number, row};
    return true;
}

static bool find_marked(const pt_rank_view_t *v, steps_t *l) {
    int64_t number;
    for (size_t i = 0; i < v->hosts; i++) {
        const pt_row_t *row = &v->store->row[v->host[i]];
        if (row->kind == PT_ROW_ANNOTATION && row->state == PT_ROW_WHOLE &&
            marked_number(pt_names_get(&v->store->names, row->name), &number) &&
            !add(l, number, v->host[i])) {
            return false;
        }
    }
    return true;
}

static bool find_numbered(const pt_rank_view_t *v, steps_t *l) {
    perftrace__hashmap_t map = PERFTRACE__HASHMAP_INIT;
    bool ok = true;
    for (size_t i = 0; ok && i < v->hosts; i++) {
        const pt_row_t *row = &v->store->row[v->host[i]];
        bool is_new = false;
        if (!is_programs(row) || row->link == PT_NOT_RECORDED || row->state != PT_ROW_WHOLE) {
            continue;
        }
        const uint64_t *slot =
            perftrace__hashmap_put_u64(&map, (uint64_t)row->link, l->count, &is_new);
        if (slot == NULL || is_new) {
            ok = slot != NULL && add(l, row->link, v->host[i]);
            continue;
        }
        step_t *step = *slot < l->count ? &l->step[*slot] : NULL;
        if (step != NULL && row->dur > v->store->row[step->row].dur) {
            step->row = v->host[i];
        }
    }
    perftrace__hashmap_free(&map);
    return ok;
}

/* ---- parts ---- */

typedef struct part {
    uint32_t name;
    int64_t total;
} part_t;

typedef struct parts {
    part_t *part;
    size_t count, cap;
} parts_t;

static bool add_part(parts_t *l, const pt_row_t *row) {
    size_t i = 0;
    while (i < l->count && l->part[i].name != row->name) {
        i++;
    }
    if (i == l->count) {
        if (!PT_GROW(l, part, count, cap, 1)) {
            return false;
        }
        l->part[l->count++] = (part_t){row->name, 0};
    }
    l->part[i].total += row->dur;
    return true;
}

/* Scopes of the same start come in the order of the file: the longer one holds the others. */
static bool find_parts(const pt_rank_view_t *v, const steps_t *l, uint32_t step_row, parts_t *ret) {
    const pt_row_t *step = &v->store->row[step_row], *part = NULL;
    int64_t end = pt_row_end(step);
    bool ok = true;
    for (size_t i = pt_rank_view_from(v, l->program, l->programs, step->ts);
         ok && i < l->programs && v->store->row[l->program[i]].ts < end; i++) {
        const pt_row_t *row = &v->store->row[l->program[i]];
        if (l->program[i] == step_row || row->track != step->track || pt_row_end(row) > end) {
            continue;
        }
        if (part != NULL && row->ts == part->ts && row->dur > part->dur) {
            part = row;
        } else if (part == NULL || row->ts >= pt_row_end(part)) {
            ok = part == NULL || add_part(ret, part);
            part = row;
        }
    }
    return ok && (part == NULL || add_part(ret, part));
}

static bool put_step(const pt_rank_view_t *v, const steps_t *l, const step_t *step,
                     pt_rank_result_t *r) {
    const pt_row_t *row = &v->store->row[step->row];
    int64_t from = row->ts, to = pt_row_end(row);
    bool device = v->works > 0;
    parts_t parts = {.part = NULL};
    pt_result_row(
        r, PT_RT_steps,
        (const int64_t[]){step->number, pt_rank_view_text(v, r, row->name), from, row->dur,
                          device ? pt_spans_within(&v->busy, from, to) : PT_NOT_RECORDED,
                          device ? pt_spans_within(&v->compute, from, to) : PT_NOT_RECORDED,
                          device ? pt_spans_within(&v->communication, from, to) : PT_NOT_RECORDED,
                          device ? pt_spans_within(&v->memory, from, to) : PT_NOT_RECORDED});
    int64_t index = (int64_t)pt_result_rows(r, PT_RT_steps) - 1;
    bool ok = find_parts(v, l, step->row, &parts);
    for (size_t i = 0; i < parts.count; i++) {
        pt_result_row(r, PT_RT_parts,
                      (const int64_t[]){index, pt_rank_view_text(v, r, parts.part[i].name),
                                        parts.part[i].total});
    }
    free(parts.part);
    return ok;
}

static int by_number(const void *a, const void *b) {
    const step_t *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->row > y->row) - (x->row < y->row);
}

bool pt_rank_steps(const pt_rank_view_t *v, pt_rank_result_t *r) {
    steps_t l = {.step = NULL};
    l.program = malloc((v->hosts + 1) * sizeof *l.program);
    bool ok = l.program != NULL && find_marked(v, &l) && (l.count > 0 || find_numbered(v, &l));
    for (size_t i = 0; ok && i < v->hosts; i++) {
        if (is_programs(&v->store->row[v->host[i]])) {
            l.program[l.programs++] = v->host[i];
        }
    }
    if (l.count > 1) {
        qsort(l.step, l.count, sizeof *l.step, by_number);
    }
    for (size_t i = 0; ok && i < l.count; i++) {
        ok = put_step(v, &l, &l.step[i], r);
    }
    free(l.step);
    free(l.program);
    return ok && !r->failed;
}
