/* stack_page.c. SPDX-License-Identifier: MIT */
#include "stack_page.h"

#include "html_page_frame.h"
#include "json_writer.h"
#include "stacks_report.h"

#include <stdlib.h>

/* A box: a name under a box. Those of one thread lie behind each other, a parent before its
 * children; the first of a thread is the thread. */
typedef struct box {
    uint32_t parent, name, thread;
    uint64_t samples;
    double self, weight; /* weight: with all below it */
} box_t;

typedef struct boxes {
    box_t *box;
    uint32_t *of; /* of each node of the model; PT_PROFILE_NONE: its thread is not wanted */
    size_t count;
    double *total; /* of each thread */
} boxes_t;

static void free_boxes(boxes_t *b) {
    free(b->box);
    free(b->of);
    free(b->total);
}

/* Nodes of one name under one box are one box. */
static bool make_boxes(const pt_stack_view_t *v, boxes_t *b) {
    perftrace__hashmap_t of = PERFTRACE__HASHMAP_INIT;
    b->box = calloc(v->p->nodes + 1, sizeof *b->box);
    b->of = malloc((v->p->nodes + 1) * sizeof *b->of);
    b->total = calloc(v->p->threads + 1, sizeof *b->total);
    bool ok = b->box != NULL && b->of != NULL && b->total != NULL;
    for (size_t i = 0; ok && i < v->p->nodes; i++) {
        const pt_profile_node_t *n = &v->p->node[i];
        b->of[i] = PT_PROFILE_NONE;
        if (!v->wanted[n->thread]) {
            continue;
        }
        bool root = n->parent == PT_PROFILE_NONE, fresh = true;
        uint32_t parent = root ? PT_PROFILE_NONE : b->of[n->parent];
        uint32_t name = root ? PT_PROFILE_NONE : v->name[n->frame];
        if (!root) {
            const uint64_t *at =
                perftrace__hashmap_put_u64(&of, (uint64_t)parent << 32 | name, b->count, &fresh);
            ok = at != NULL;
            b->of[i] = ok ? (uint32_t)*at : PT_PROFILE_NONE;
        }
        if (ok && fresh) {
            b->of[i] = (uint32_t)b->count;
            b->box[b->count++] = (box_t){.parent = parent, .name = name, .thread = n->thread};
        }
        if (ok) {
            b->box[b->of[i]].self += n->weight;
            b->box[b->of[i]].samples += n->samples;
        }
    }
    perftrace__hashmap_free(&of);
    return ok;
}

static void sum_up(boxes_t *b) {
    for (size_t i = 0; i < b->count; i++) {
        b->box[i].weight = b->box[i].self;
    }
    for (size_t i = b->count; i-- > 0;) {
        if (b->box[i].parent != PT_PROFILE_NONE) {
            b->box[b->box[i].parent].weight += b->box[i].weight;
        } else {
            b->total[b->box[i].thread] = b->box[i].weight;
        }
    }
}

static double share_of(const boxes_t *b, size_t i) {
    return pt_share(b->box[i].weight, b->total[b->box[i].thread]);
}

static int compare_shares(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* The share of its thread from which on a box is kept, so that not more than `most` are. A child
 * weighs no more than its parent: what is kept is a tree. */
static bool find_limit(const boxes_t *b, size_t most, double *ret_limit) {
    *ret_limit = 0;
    if (b->count <= most || most == 0) {
        return true;
    }
    double *share = malloc(b->count * sizeof *share);
    for (size_t i = 0; share != NULL && i < b->count; i++) {
        share[i] = share_of(b, i);
    }
    if (share != NULL) {
        qsort(share, b->count, sizeof *share, compare_shares);
        *ret_limit = share[most];
    }
    bool ok = share != NULL;
    free(share);
    return ok;
}

static bool is_kept(const boxes_t *b, size_t i, double limit) {
    return b->box[i].parent == PT_PROFILE_NONE || limit == 0 || share_of(b, i) > limit;
}

/* Puts what is not kept into its callers. Returns how many boxes that are. */
static size_t fold(boxes_t *b, double limit, bool *kept) {
    size_t folded = 0;
    for (size_t i = b->count; i-- > 0;) {
        kept[i] = is_kept(b, i, limit);
        if (!kept[i]) {
            box_t *caller = &b->box[b->box[i].parent];
            caller->self += b->box[i].self;
            caller->samples += b->box[i].samples;
            folded++;
        }
    }
    return folded;
}

/* ---- as JSON ---- */

typedef enum column { COLUMN_PARENT, COLUMN_NAME, COLUMN_SELF, COLUMN_SAMPLES } column_t;

/* The boxes that are kept, thread after thread, each in its order. */
typedef struct kept_boxes {
    bool *kept;       /* of each box */
    uint32_t *number; /* of each kept one within its thread */
    uint32_t *order;
    size_t *begin; /* of each thread in order, and behind the last one the end */
} kept_boxes_t;

static bool order_boxes(const boxes_t *b, size_t threads, kept_boxes_t *k) {
    k->number = calloc(2 * b->count + 1, sizeof *k->number);
    k->begin = calloc(threads + 2, sizeof *k->begin);
    if (k->number == NULL || k->begin == NULL) {
        return false;
    }
    k->order = k->number + b->count;
    for (size_t i = 0; i < b->count; i++) {
        k->begin[b->box[i].thread + 1] += k->kept[i] ? 1 : 0;
    }
    for (size_t t = 0; t < threads; t++) {
        k->begin[t + 1] += k->begin[t];
    }
    size_t *next = malloc((threads + 1) * sizeof *next);
    if (next == NULL) {
        return false;
    }
    memcpy(next, k->begin, (threads + 1) * sizeof *next);
    for (size_t i = 0; i < b->count; i++) {
        uint32_t thread = b->box[i].thread;
        if (k->kept[i]) {
            k->number[i] = (uint32_t)(next[thread] - k->begin[thread]);
            k->order[next[thread]++] = (uint32_t)i;
        }
    }
    free(next);
    return true;
}

/* Of all boxes of a thread but the first, which is the thread. */
static void put_column(perftrace__strbuf_t *out, const boxes_t *b, const kept_boxes_t *k,
                       size_t thread, column_t column) {
    static const char *const key[] = {"parent_of", "name_of", "self_of", "samples_of"};
    perftrace__strbuf_printf(out, ",\"%s\":[", key[column]);
    for (size_t i = k->begin[thread] + 1; i < k->begin[thread + 1]; i++) {
        const box_t *box = &b->box[k->order[i]];
        perftrace__strbuf_puts(out, i > k->begin[thread] + 1 ? "," : "");
        if (column == COLUMN_SELF) {
            perftrace__strbuf_double(out, box->self);
        } else {
            uint64_t value = column == COLUMN_PARENT ? k->number[box->parent]
                             : column == COLUMN_NAME ? box->name
                                                     : box->samples;
            perftrace__strbuf_printf(out, "%llu", (unsigned long long)value);
        }
    }
    perftrace__strbuf_putc(out, ']');
}

static void put_thread(perftrace__strbuf_t *out, const pt_stack_view_t *v, const boxes_t *b,
                       const kept_boxes_t *k, size_t thread) {
    const pt_profile_thread_t *t = &v->p->thread[thread];
    const box_t *root = &b->box[k->order[k->begin[thread]]];
    perftrace__strbuf_puts(out, "{\"name\":");
    perftrace__strbuf_json(out, pt_profile_text(v->p, t->name), t->name_len);
    perftrace__strbuf_printf(out, ",\"unit\":\"%s\",\"self\":", pt_unit_name(t->unit));
    perftrace__strbuf_double(out, root->self);
    perftrace__strbuf_printf(out, ",\"samples_without_frames\":%llu",
                             (unsigned long long)root->samples);
    for (int column = COLUMN_PARENT; column <= COLUMN_SAMPLES; column++) {
        put_column(out, b, k, thread, (column_t)column);
    }
    perftrace__strbuf_puts(out, "}");
}

static void put_about(perftrace__strbuf_t *out, const pt_stack_view_t *v,
                      const pt_stack_page_t *page, size_t folded) {
    perftrace__strbuf_t about = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&about, "%s: %zu thread%s, %llu sample%s", page->title, v->matching,
                             PT_PLURAL(v->matching), (unsigned long long)v->samples,
                             PT_PLURAL(v->samples));
    if (folded > 0) {
        perftrace__strbuf_printf(&about, ". %zu of the lightest boxes are put into their callers",
                                 folded);
    }
    perftrace__strbuf_puts(out, "\"about\":");
    perftrace__strbuf_json(out, perftrace__strbuf_cstr(&about), about.len);
    out->failed |= about.failed;
    perftrace__strbuf_free(&about);
}

static void put_data(perftrace__strbuf_t *out, const pt_stack_view_t *v,
                     const pt_stack_page_t *page, const boxes_t *b, const kept_boxes_t *k,
                     size_t folded) {
    perftrace__strbuf_puts(out, "{\"title\":");
    perftrace__strbuf_json_cstr(out, page->title);
    perftrace__strbuf_puts(out, ",\"maker\":");
    perftrace__strbuf_json_cstr(out, page->maker);
    perftrace__strbuf_puts(out, ",\n");
    put_about(out, v, page, folded);
    perftrace__strbuf_puts(out, ",\n\"names\":[");
    for (size_t i = 0; i < v->names; i++) {
        const pt_profile_frame_t *f = &v->p->frame[v->frame_of[i]];
        perftrace__strbuf_puts(out, i > 0 ? "," : "");
        perftrace__strbuf_json(out, pt_profile_text(v->p, f->name), f->name_len);
    }
    perftrace__strbuf_puts(out, "],\n\"threads\":[");
    const char *comma = "";
    for (size_t t = 0; t < v->p->threads; t++) {
        if (k->begin[t] < k->begin[t + 1]) {
            perftrace__strbuf_puts(out, comma);
            comma = ",\n";
            put_thread(out, v, b, k, t);
        }
    }
    perftrace__strbuf_puts(out, "]}");
}

bool pt_stack_page_data(const pt_stack_view_t *v, const pt_stack_page_t *page,
                        perftrace__strbuf_t *out) {
    boxes_t b = {.box = NULL};
    kept_boxes_t k = {.kept = NULL};
    double limit;
    bool ok = make_boxes(v, &b);
    if (ok) {
        sum_up(&b);
        k.kept = calloc(b.count + 1, sizeof *k.kept);
        ok = k.kept != NULL && find_limit(&b, page->most_nodes, &limit);
    }
    if (ok) {
        size_t folded = fold(&b, limit, k.kept);
        ok = order_boxes(&b, v->p->threads, &k);
        if (ok) {
            put_data(out, v, page, &b, &k, folded);
        }
    }
    free(k.kept);
    free(k.number);
    free(k.begin);
    free_boxes(&b);
    return ok && !out->failed;
}

/* ---- the page ---- */

bool pt_stack_page_possible(void) {
    return pt_html_has_charts();
}

const char *pt_stack_page_how(void) {
    return "this program was built without the library that draws its pages: install the package "
           "libjs-d3 (Debian, Ubuntu) or set PERFTRACE_D3_JS to a d3.min.js of D3 3, and build it "
           "again";
}

bool pt_stack_page(const pt_stack_view_t *v, const pt_stack_page_t *page,
                   perftrace__strbuf_t *out) {
    perftrace__strbuf_t data = PERFTRACE__STRBUF_INIT;
    bool ok = pt_stack_page_data(v, page, &data) && pt_html_frame("Stacks", &data, out);
    perftrace__strbuf_free(&data);
    return ok;
}
