/* run_block.h: values of a profiling block, each with its place. SPDX-License-Identifier: MIT
 *
 * Below run_profile_yaml.c only. */
#ifndef PERFTRACE_TOOL_RUN_BLOCK_H
#define PERFTRACE_TOOL_RUN_BLOCK_H

#include "config_yaml.h"
#include "run_profile_yaml.h"
#include "run_yaml.h"

typedef struct pt_block {
    const pt_run_profile_file_t *file;
    pt_yaml_t *yaml;
    perftrace__config_doc_t doc; /* the same text, for ${...} */
    pt_run_profile_t *profile;
    pt_run_problems_t *problems;
    const char *block; /* path of the block: "cluster.profiling" */
    perftrace__strbuf_t place;
} pt_block_t;

/* "run.yaml:7: cluster.profiling.options.t"; key and name may be NULL. Valid until the next call.
 */
const char *pt_block_place(pt_block_t *r, const pt_yaml_node_t *node, const char *key,
                           const char *name);

/* A scalar's text with ${...} resolved; NULL (and a problem) where that is not possible. The caller
 * frees. */
char *pt_block_text(pt_block_t *r, const pt_yaml_node_t *node, const char *where);

/* "must be WANTED, this is a list". */
void pt_block_wrong_kind(pt_block_t *r, const pt_yaml_node_t *node, const char *where,
                         const char *wanted);

/* A text, or a list of texts: replaces what is in the list. */
void pt_block_names(pt_block_t *r, const pt_yaml_node_t *node, const char *key,
                    pt_string_list_t *list);

/* A mapping of scalars: added to the settings. */
void pt_block_settings(pt_block_t *r, const pt_yaml_node_t *node, const char *key,
                       pt_settings_t *settings);

#endif
