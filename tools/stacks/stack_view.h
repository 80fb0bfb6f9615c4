/* stack_view.h: the part of a profile that is looked at. SPDX-License-Identifier: MIT
 *
 * The threads whose name holds a text, and the distinct stacks of their samples. Sums need one
 * unit: that of the first of these threads; others are left out and named. Pure but for memory. */
#ifndef PERFTRACE_STACKS_STACK_VIEW_H
#define PERFTRACE_STACKS_STACK_VIEW_H
#include "profile_model.h"

typedef struct pt_stack_view {
    const pt_profile_t *p;
    bool *wanted; /* of each thread: its name matches */
    bool *taken;  /* of each thread: it is in the sums, too */
    uint32_t
        *entry; /* nodes in which samples end, in the order of threads and of their first one */
    size_t entries;
    size_t matching, left_out; /* threads that match; those of them that are not in the sums */
    uint64_t samples;
    double weight; /* the base of shares */
    double grain;  /* what weights may differ by and be equal; 0: nothing */
    pt_profile_unit_t unit;
    uint32_t *name; /* of each frame: the number of its name */
    size_t names;
    uint32_t *frame_of; /* of each name: the first frame that has it */
} pt_stack_view_t;

/* filter: a part of the name, whatever its case (ASCII); NULL takes all. False without memory; the
 * view must be freed in every case. p must live as long as it. */
bool pt_stack_view_make(const pt_profile_t *p, const char *filter, pt_stack_view_t *ret_view);
void pt_stack_view_free(pt_stack_view_t *view);

/* The number of a name; PT_PROFILE_NONE when no frame has it. */
uint32_t pt_stack_name(const pt_stack_view_t *view, const char *name);
static inline const char *pt_stack_name_text(const pt_stack_view_t *view, uint32_t name) {
    return pt_frame_name(view->p, view->frame_of[name]);
}
/* Room for the names of any stack and one number more, to be freed; NULL without memory. */
uint32_t *pt_stack_path_room(const pt_stack_view_t *view);
/* The names down to a node, outermost first; returns how many. */
uint32_t pt_stack_path(const pt_stack_view_t *view, uint32_t node, uint32_t *name);
/* What a weight is sorted by: sums of the same weights in another order may differ in their last
 * bits, and must not part what is equal. */
double pt_stack_rank(const pt_stack_view_t *view, double weight);
/* weight as a part of base; 0 when base is 0. Never above 1. */
double pt_share(double weight, double base);

#endif
