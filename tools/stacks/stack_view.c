/* stack_view.c. SPDX-License-Identifier: MIT */
#include "stack_view.h"

#include "profile_stacks.h"

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
    return number_names(v) && pt_profile_stacks(p, v->taken, v->entry, &v->entries);
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

uint32_t *pt_stack_path_room(const pt_stack_view_t *v) {
    return calloc((size_t)pt_profile_deepest(v->p) + 1, sizeof *v->name);
}

uint32_t pt_stack_path(const pt_stack_view_t *v, uint32_t node, uint32_t *name) {
    uint32_t depth = pt_profile_path(v->p, node, name);
    for (uint32_t i = 0; i < depth; i++) {
        name[i] = v->name[name[i]];
    }
    return depth;
}

double pt_stack_rank(const pt_stack_view_t *v, double weight) {
    return v->grain > 0 ? round(weight / v->grain) : weight;
}

double pt_share(double weight, double base) {
    /* Sums of the same weights in another order may differ in their last bit. */
    return base > 0 ? PT_MIN(weight / base, 1.0) : 0;
}
