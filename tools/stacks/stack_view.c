/* stack_view.c. SPDX-License-Identifier: MIT */
#include "stack_view.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

static bool holds(const char *name, const char *part) {
    size_t n = strlen(part);
    for (; *name != '\0' || n == 0; name++) {
        if (strncasecmp(name, part, n) == 0) {
            return true;
        }
        if (*name == '\0') {
            break;
        }
    }
    return false;
}

static void choose_threads(pt_stack_view_t *v, const char *filter) {
    for (size_t i = 0; i < v->p->threads; i++) {
        const pt_profile_thread_t *t = &v->p->thread[i];
        v->wanted[i] = filter == NULL || holds(pt_thread_name(v->p, i), filter);
        if (v->wanted[i]) {
            v->unit = v->matching == 0 ? t->unit : v->unit;
            v->taken[i] = t->unit == v->unit;
            v->matching++;
            v->left_out += v->taken[i] ? 0 : 1;
            v->samples += v->taken[i] ? t->samples : 0;
            v->weight += v->taken[i] ? t->weight : 0;
        }
    }
}

/* The number of a name is its place among the names in the order of frames. */
static bool number_names(pt_stack_view_t *v) {
    perftrace__hashmap_t seen = PERFTRACE__HASHMAP_INIT;
    bool ok = true;
    for (size_t i = 0; i < v->p->frames && ok; i++) {
        bool fresh;
        const uint64_t *at = perftrace__hashmap_put(&seen, pt_frame_name(v->p, (uint32_t)i),
                                                    v->p->frame[i].name_len, v->names, &fresh);
        ok = at != NULL;
        if (ok) {
            v->name[i] = (uint32_t)*at;
            if (fresh) {
                v->frame_of[v->names++] = (uint32_t)i;
            }
        }
    }
    perftrace__hashmap_free(&seen);
    return ok;
}

typedef struct place {
    uint64_t first;
    uint32_t thread, node;
} place_t;

static int compare_places(const void *a, const void *b) {
    const place_t *x = a, *y = b;
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    return (x->first > y->first) - (x->first < y->first);
}

static bool list_entries(pt_stack_view_t *v) {
    place_t *place = malloc((v->p->nodes + 1) * sizeof *place);
    for (size_t i = 0; place != NULL && i < v->p->nodes; i++) {
        const pt_profile_node_t *n = &v->p->node[i];
        if (n->samples > 0 && v->taken[n->thread]) {
            place[v->entries++] = (place_t){n->first, n->thread, (uint32_t)i};
        }
    }
    if (place != NULL && v->entries > 0) {
        qsort(place, v->entries, sizeof *place, compare_places);
    }
    for (size_t i = 0; place != NULL && i < v->entries; i++) {
        v->entry[i] = place[i].node;
    }
    free(place);
    return place != NULL;
}

bool pt_stack_view_make(const pt_profile_t *p, const char *filter, pt_stack_view_t *v) {
    *v = (pt_stack_view_t){.p = p};
    v->wanted = calloc(2 * p->threads + 1, sizeof *v->wanted);
    v->entry = calloc(p->nodes + 1, sizeof *v->entry);
    v->name = calloc(2 * p->frames + 1, sizeof *v->name);
    if (v->wanted == NULL || v->entry == NULL || v->name == NULL) {
        return false;
    }
    v->taken = v->wanted + p->threads;
    v->frame_of = v->name + p->frames;
    choose_threads(v, filter);
    v->grain = v->weight == floor(v->weight) ? 0 : ldexp(v->weight, -40);
    return number_names(v) && list_entries(v);
}

void pt_stack_view_free(pt_stack_view_t *v) {
    free(v->wanted);
    free(v->entry);
    free(v->name);
    *v = (pt_stack_view_t){.p = NULL};
}

uint32_t pt_stack_name(const pt_stack_view_t *v, const char *name) {
    size_t len = strlen(name);
    for (size_t i = 0; i < v->names; i++) {
        const pt_profile_frame_t *f = &v->p->frame[v->frame_of[i]];
        if (f->name_len == len &&
            (len == 0 || memcmp(pt_stack_name_text(v, (uint32_t)i), name, len) == 0)) {
            return (uint32_t)i;
        }
    }
    return PT_PROFILE_NONE;
}

double pt_stack_rank(const pt_stack_view_t *v, double weight) {
    return v->grain > 0 ? round(weight / v->grain) : weight;
}

double pt_share(double weight, double base) {
    /* Sums of the same weights in another order may differ in their last bit. */
    return base > 0 ? PT_MIN(weight / base, 1.0) : 0;
}
