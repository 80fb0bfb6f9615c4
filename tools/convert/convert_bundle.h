/* convert_bundle.h: a tar of one trace a rank, with the manifest by which Perfetto merges them.
 * SPDX-License-Identifier: MIT
 *
 * The members are collected in unnamed files beside the output, because a tar gives each member's
 * size before its bytes. One thread at a time. */
#ifndef PERFTRACE_CONVERT_BUNDLE_H
#define PERFTRACE_CONVERT_BUNDLE_H
#include "convert_plan.h"
#include "output.h"

typedef struct pt_bundle_member {
    int spool; /* descriptor; -1: none */
    uint64_t size;
    int64_t offset_ns;         /* what a viewer adds to the member's times */
    perftrace__strbuf_t names; /* metadata events */
    char name[96];
} pt_bundle_member_t;

typedef struct pt_convert_bundle {
    const pt_convert_plan_t *plan;
    pt_output_t *output;
    pt_bundle_member_t *member; /* one for each input of the plan */
    char *dir;                  /* where the spools are made */
} pt_convert_bundle_t;

/* Opens the output and gives the inputs of the plan their own clocks back where the manifest can
 * carry the offset. PT_EXIT_OK, PT_EXIT_OUTPUT or PT_EXIT_INTERNAL (told). */
pt_exit_t pt_convert_bundle_open(pt_convert_bundle_t *bundle, const pt_convert_plan_t *plan,
                                 const pt_paths_t *inputs, const char *target);
/* Adds events (each followed by ",\n") and names to the member of input `index` of the plan. */
pt_exit_t pt_convert_bundle_add(pt_convert_bundle_t *bundle, size_t index,
                                const perftrace__strbuf_t *events,
                                const perftrace__strbuf_t *names);
/* Writes the tar and puts it under its name. *ret_size: its size. */
pt_exit_t pt_convert_bundle_commit(pt_convert_bundle_t *bundle, uint64_t *ret_size);
void pt_convert_bundle_free(pt_convert_bundle_t *bundle);

#endif
