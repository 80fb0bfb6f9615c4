/* profile_model.c. SPDX-License-Identifier: MIT */
#include "profile_model.h"

#include "grow.h"

#include <stdlib.h>

/* Numbers are 32 bits; one is kept for "none". */
#define MOST ((size_t)UINT32_MAX - 1)

void pt_profile_init(pt_profile_t *p) {
    *p = (pt_profile_t){.text = PERFTRACE__STRBUF_INIT,
                        .key = PERFTRACE__STRBUF_INIT,
                        .shown = {PERFTRACE__STRBUF_INIT, PERFTRACE__STRBUF_INIT}};
}

void pt_profile_free(pt_profile_t *p) {
    for (size_t i = 0; i < p->threads; i++) {
        free(p->thread[i].sample);
    }
    free(p->thread);
    free(p->frame);
    free(p->node);
    perftrace__strbuf_free(&p->text);
    perftrace__strbuf_free(&p->key);
    perftrace__strbuf_free(&p->shown[0]);
    perftrace__strbuf_free(&p->shown[1]);
    perftrace__hashmap_free(&p->frame_of_name);
    perftrace__hashmap_free(&p->frame_of_place);
    perftrace__hashmap_free(&p->node_of);
    perftrace__hashmap_free(&p->thread_of);
    pt_profile_init(p);
}

static uint32_t fail(pt_profile_t *p) {
    p->failed = true;
    return PT_PROFILE_NONE;
}

/* Keeps a text; a NUL stands behind it. */
static size_t keep_text(pt_profile_t *p, const char *text, size_t len) {
    size_t at = p->text.len;
    perftrace__strbuf_append(&p->text, text, len);
    perftrace__strbuf_putc(&p->text, '\0');
    p->failed |= p->text.failed;
    return at;
}

/* A text without NULs: the text itself, or one in scratch that lives until it is used again. */
static const char *without_nul(pt_profile_t *p, perftrace__strbuf_t *scratch, const char *text,
                               size_t *len) {
    const char *nul = *len > 0 ? memchr(text, '\0', *len) : NULL;
    if (nul == NULL) {
        return text;
    }
    const char *end = text + *len;
    perftrace__strbuf_clear(scratch);
    for (; nul != NULL; nul = memchr(text, '\0', (size_t)(end - text))) {
        perftrace__strbuf_append(scratch, text, (size_t)(nul - text));
        perftrace__strbuf_puts(scratch, "\xe2\x90\x80");
        text = nul + 1;
    }
    perftrace__strbuf_append(scratch, text, (size_t)(end - text));
    p->failed |= scratch->failed;
    *len = scratch->len;
    return perftrace__strbuf_cstr(scratch);
}

/* ---- frames ---- */

static uint32_t new_frame(pt_profile_t *p, const char *name, size_t len, const char *file,
                          size_t file_len, int64_t line) {
    if (p->frames >= MOST || len > UINT32_MAX || file_len > UINT32_MAX ||
        !PT_GROW(p, frame, frames, frame_cap, 1)) {
        return fail(p);
    }
    p->frame[p->frames] = (pt_profile_frame_t){.name = keep_text(p, name, len),
                                               .name_len = (uint32_t)len,
                                               .file = keep_text(p, file, file_len),
                                               .file_len = (uint32_t)file_len,
                                               .line = line};
    return p->failed ? PT_PROFILE_NONE : (uint32_t)p->frames++;
}

uint32_t pt_profile_frame(pt_profile_t *p, const char *name, size_t len) {
    bool fresh;
    name = without_nul(p, &p->shown[0], name, &len);
    uint64_t *at = perftrace__hashmap_put(&p->frame_of_name, name, len, PT_PROFILE_NONE, &fresh);
    if (at == NULL) {
        return fail(p);
    }
    if (fresh) {
        *at = new_frame(p, name, len, "", 0, -1);
    }
    return (uint32_t)*at;
}

uint32_t pt_profile_frame_at(pt_profile_t *p, const char *name, size_t len, const char *file,
                             size_t file_len, int64_t line) {
    if (file_len == 0 && line < 0) {
        return pt_profile_frame(p, name, len);
    }
    bool fresh;
    name = without_nul(p, &p->shown[0], name, &len);
    file = without_nul(p, &p->shown[1], file, &file_len);
    perftrace__strbuf_clear(&p->key);
    perftrace__strbuf_append(&p->key, &line, sizeof line);
    perftrace__strbuf_append(&p->key, &len, sizeof len); /* parts the two texts */
    perftrace__strbuf_append(&p->key, name, len);
    perftrace__strbuf_append(&p->key, file, file_len);
    uint64_t *at = p->key.failed ? NULL
                                 : perftrace__hashmap_put(&p->frame_of_place, p->key.data,
                                                          p->key.len, PT_PROFILE_NONE, &fresh);
    if (at == NULL) {
        return fail(p);
    }
    if (fresh) {
        *at = new_frame(p, name, len, file, file_len, line);
    }
    return (uint32_t)*at;
}

/* ---- nodes ---- */

static uint32_t new_node(pt_profile_t *p, uint32_t parent, uint32_t frame, uint32_t thread,
                         uint32_t depth) {
    if (p->nodes >= MOST || !PT_GROW(p, node, nodes, node_cap, 1)) {
        return fail(p);
    }
    p->node[p->nodes] = (pt_profile_node_t){
        .parent = parent, .frame = frame, .thread = thread, .depth = depth, .first = UINT64_MAX};
    return (uint32_t)p->nodes++;
}

uint32_t pt_profile_node(pt_profile_t *p, uint32_t parent, uint32_t frame) {
    bool fresh;
    if (parent == PT_PROFILE_NONE || frame == PT_PROFILE_NONE) {
        return PT_PROFILE_NONE; /* memory has run out before */
    }
    uint64_t *at = perftrace__hashmap_put_u64(&p->node_of, (uint64_t)parent << 32 | frame,
                                              PT_PROFILE_NONE, &fresh);
    if (at == NULL) {
        return fail(p);
    }
    if (fresh) {
        const pt_profile_node_t *above = &p->node[parent];
        *at = new_node(p, parent, frame, above->thread, above->depth + 1);
    }
    return (uint32_t)*at;
}

uint32_t pt_profile_node_new(pt_profile_t *p, uint32_t parent, uint32_t frame) {
    if (parent == PT_PROFILE_NONE || frame == PT_PROFILE_NONE) {
        return PT_PROFILE_NONE;
    }
    return new_node(p, parent, frame, p->node[parent].thread, p->node[parent].depth + 1);
}

/* ---- threads ---- */

uint32_t pt_profile_thread_new(pt_profile_t *p, const char *name, size_t len,
                               pt_profile_unit_t unit) {
    if (p->threads >= MOST || len > UINT32_MAX || !PT_GROW(p, thread, threads, thread_cap, 1)) {
        return fail(p);
    }
    uint32_t number = (uint32_t)p->threads;
    name = without_nul(p, &p->shown[0], name, &len);
    size_t text = keep_text(p, name, len);
    uint32_t root = new_node(p, PT_PROFILE_NONE, PT_PROFILE_NONE, number, 0);
    if (root == PT_PROFILE_NONE ||
        perftrace__hashmap_put(&p->thread_of, name, len, number, NULL) == NULL) {
        return fail(p);
    }
    p->thread[p->threads++] =
        (pt_profile_thread_t){.name = text, .name_len = (uint32_t)len, .root = root, .unit = unit};
    return number;
}

static bool is_thread(const pt_profile_t *p, size_t i, const char *name, size_t len,
                      pt_profile_unit_t unit) {
    const pt_profile_thread_t *t = &p->thread[i];
    return t->unit == unit && t->name_len == len &&
           (len == 0 || memcmp(pt_thread_name(p, i), name, len) == 0);
}

/* The first thread in [from, to) of this name and unit. */
static uint32_t find_thread(const pt_profile_t *p, size_t from, size_t to, const char *name,
                            size_t len, pt_profile_unit_t unit) {
    for (size_t i = from; i < to; i++) {
        if (is_thread(p, i, name, len, unit)) {
            return (uint32_t)i;
        }
    }
    return PT_PROFILE_NONE;
}

uint32_t pt_profile_thread(pt_profile_t *p, const char *name, size_t len, pt_profile_unit_t unit) {
    name = without_nul(p, &p->shown[0], name, &len);
    const uint64_t *at = perftrace__hashmap_get(&p->thread_of, name, len);
    uint32_t found =
        at == NULL ? PT_PROFILE_NONE : find_thread(p, *at, p->threads, name, len, unit);
    return found != PT_PROFILE_NONE ? found : pt_profile_thread_new(p, name, len, unit);
}

/* ---- samples ---- */

static void keep_sample(pt_profile_t *p, pt_profile_thread_t *t, uint32_t node, double weight) {
    if (!PT_GROW(t, sample, count, cap, 1)) {
        p->failed = true;
        return;
    }
    t->sample[t->count++] = (pt_profile_sample_t){node, weight};
}

void pt_profile_add(pt_profile_t *p, uint32_t node, double weight) {
    if (node == PT_PROFILE_NONE) {
        return;
    }
    pt_profile_node_t *n = &p->node[node];
    pt_profile_thread_t *t = &p->thread[n->thread];
    n->weight += weight;
    n->samples++;
    n->first = PT_MIN(n->first, p->place);
    t->weight += weight;
    t->samples++;
    p->samples++;
    p->place++;
    if (p->keep_order) {
        keep_sample(p, t, node, weight);
    }
}

void pt_profile_add_sum(pt_profile_t *p, uint32_t node, double weight, uint64_t samples,
                        uint64_t first) {
    pt_profile_node_t *n = &p->node[node];
    pt_profile_thread_t *t = &p->thread[n->thread];
    n->weight += weight;
    n->samples += samples;
    n->first = PT_MIN(n->first, first);
    t->weight += weight;
    t->samples += samples;
    p->samples += samples;
}

/* ---- whole models ---- */

typedef struct merge {
    pt_profile_t *to;
    const pt_profile_t *from;
    uint64_t base;                   /* what is added to places of samples */
    uint32_t *frame, *node, *thread; /* the number in `to` of each of `from` */
} merge_t;

static uint32_t merge_frame(const merge_t *m, size_t i) {
    const pt_profile_frame_t *f = &m->from->frame[i];
    return pt_profile_frame_at(m->to, pt_profile_text(m->from, f->name), f->name_len,
                               pt_profile_text(m->from, f->file), f->file_len, f->line);
}

/* The first thread of a name may be one that was there before; others of that name are new. */
static uint32_t merge_thread(const merge_t *m, size_t i, size_t older) {
    const pt_profile_thread_t *t = &m->from->thread[i];
    const char *name = pt_thread_name(m->from, i);
    const uint64_t *at = perftrace__hashmap_get(&m->to->thread_of, name, t->name_len);
    const uint64_t *first = perftrace__hashmap_get(&m->from->thread_of, name, t->name_len);
    uint32_t found = at != NULL && first != NULL && *first == i
                         ? find_thread(m->to, (size_t)*at, older, name, t->name_len, t->unit)
                         : PT_PROFILE_NONE;
    return found != PT_PROFILE_NONE ? found
                                    : pt_profile_thread_new(m->to, name, t->name_len, t->unit);
}

static void merge_node(const merge_t *m, size_t i) {
    const pt_profile_node_t *n = &m->from->node[i];
    uint32_t thread = m->thread[n->thread];
    uint32_t node = thread == PT_PROFILE_NONE ? PT_PROFILE_NONE
                    : n->parent == PT_PROFILE_NONE
                        ? m->to->thread[thread].root
                        : pt_profile_node(m->to, m->node[n->parent], m->frame[n->frame]);
    m->node[i] = node;
    if (node != PT_PROFILE_NONE && n->samples > 0) {
        pt_profile_node_t *sum = &m->to->node[node];
        sum->weight += n->weight;
        sum->samples += n->samples;
        sum->first = PT_MIN(sum->first, m->base + n->first);
    }
}

static void merge_samples(const merge_t *m, size_t i) {
    const pt_profile_thread_t *t = &m->from->thread[i];
    if (m->thread[i] == PT_PROFILE_NONE) {
        return;
    }
    pt_profile_thread_t *sum = &m->to->thread[m->thread[i]];
    sum->samples += t->samples;
    sum->weight += t->weight;
    for (size_t k = 0; m->to->keep_order && k < t->count; k++) {
        keep_sample(m->to, sum, m->node[t->sample[k].node], t->sample[k].weight);
    }
}

static void merge(pt_profile_t *to, const pt_profile_t *from, uint64_t base) {
    merge_t m = {.to = to, .from = from, .base = base};
    size_t older = to->threads;
    m.frame = malloc((from->frames + from->nodes + from->threads + 1) * sizeof *m.frame);
    to->failed |= from->failed || m.frame == NULL;
    if (m.frame == NULL) {
        return;
    }
    m.node = m.frame + from->frames;
    m.thread = m.node + from->nodes;
    for (size_t i = 0; i < from->frames; i++) {
        m.frame[i] = merge_frame(&m, i);
    }
    for (size_t i = 0; i < from->threads; i++) {
        m.thread[i] = merge_thread(&m, i, older);
    }
    for (size_t i = 0; i < from->nodes; i++) {
        merge_node(&m, i);
    }
    for (size_t i = 0; i < from->threads && !to->failed; i++) {
        merge_samples(&m, i);
    }
    to->samples += from->samples;
    free(m.frame);
}

void pt_profile_merge(pt_profile_t *to, const pt_profile_t *from) {
    merge(to, from, to->place);
    to->place += from->place;
}

void pt_profile_merge_part(pt_profile_t *to, const pt_profile_t *from) {
    merge(to, from, 0);
    to->place = PT_MAX(to->place, from->place);
}

void pt_profile_scale(pt_profile_t *p, double factor, pt_profile_unit_t unit) {
    for (size_t i = 0; i < p->nodes; i++) {
        pt_profile_node_t *n = &p->node[i];
        n->weight *= p->thread[n->thread].unit == PT_UNIT_NONE ? factor : 1;
    }
    for (size_t i = 0; i < p->threads; i++) {
        pt_profile_thread_t *t = &p->thread[i];
        if (t->unit == PT_UNIT_NONE) {
            t->weight *= factor;
            t->unit = unit;
            for (size_t k = 0; k < t->count; k++) {
                t->sample[k].weight *= factor;
            }
        }
    }
}

void pt_profile_empty_thread(pt_profile_t *p, size_t thread) {
    pt_profile_thread_t *t = &p->thread[thread];
    for (size_t i = t->root; i < p->nodes; i++) {
        pt_profile_node_t *n = &p->node[i];
        if (n->thread == thread) {
            n->samples = 0;
            n->weight = 0;
            n->first = UINT64_MAX;
        }
    }
    p->samples -= t->samples;
    t->samples = 0;
    t->weight = 0;
    t->count = 0;
}

static int compare_numbers(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

bool pt_profile_median(const pt_profile_t *p, double *ret) {
    size_t n = 0;
    double *all = malloc(((size_t)p->samples + 1) * sizeof *all);
    for (size_t i = 0; all != NULL && i < p->threads; i++) {
        for (size_t k = 0; k < p->thread[i].count; k++) {
            all[n++] = p->thread[i].sample[k].weight;
        }
    }
    if (n > 0) {
        qsort(all, n, sizeof *all, compare_numbers);
    }
    *ret = n > 0 ? all[n / 2] : 0;
    bool ok = all != NULL;
    free(all);
    return ok;
}

/* ---- the order of threads ---- */

static int compare_threads(const pt_profile_t *p, uint32_t a, uint32_t b) {
    const pt_profile_thread_t *x = &p->thread[a], *y = &p->thread[b];
    size_t n = PT_MIN(x->name_len, y->name_len);
    int order = n > 0 ? memcmp(pt_thread_name(p, a), pt_thread_name(p, b), n) : 0;
    order = order != 0 ? order : (x->name_len > y->name_len) - (x->name_len < y->name_len);
    return order != 0 ? order : (a > b) - (a < b);
}

/* qsort has no context, and a hostile file may have a million threads. */
static void sort_range(const pt_profile_t *p, uint32_t *order, uint32_t *scratch, size_t n) {
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t at = 0; at < n; at += 2 * width) {
            size_t mid = PT_MIN(at + width, n), end = PT_MIN(at + 2 * width, n);
            size_t a = at, b = mid;
            for (size_t k = at; k < end; k++) {
                bool left = b >= end || (a < mid && compare_threads(p, order[a], order[b]) <= 0);
                scratch[k] = left ? order[a++] : order[b++];
            }
        }
        memcpy(order, scratch, n * sizeof *order);
    }
}

void pt_profile_sort_threads(pt_profile_t *p) {
    uint32_t *order = malloc((2 * p->threads + 1) * sizeof *order);
    pt_profile_thread_t *sorted = malloc((p->threads + 1) * sizeof *sorted);
    if (order == NULL || sorted == NULL) {
        p->failed = true;
    } else {
        uint32_t *place = order + p->threads; /* scratch, then the new number of each */
        for (size_t i = 0; i < p->threads; i++) {
            order[i] = (uint32_t)i;
        }
        sort_range(p, order, place, p->threads);
        for (size_t i = 0; i < p->threads; i++) {
            sorted[i] = p->thread[order[i]];
            place[order[i]] = (uint32_t)i;
        }
        for (size_t i = 0; i < p->nodes; i++) {
            p->node[i].thread = place[p->node[i].thread];
        }
        perftrace__hashmap_free(&p->thread_of);
        for (size_t i = 0; i < p->threads; i++) {
            p->thread[i] = sorted[i];
            p->failed |= perftrace__hashmap_put(&p->thread_of, pt_thread_name(p, i),
                                                p->thread[i].name_len, i, NULL) == NULL;
        }
    }
    free(order);
    free(sorted);
}
