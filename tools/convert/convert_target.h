/* convert_target.h: which operand is the output, and what it is called. SPDX-License-Identifier:
 * MIT */
#ifndef PERFTRACE_CONVERT_TARGET_H
#define PERFTRACE_CONVERT_TARGET_H
#include "convert_options.h"
#include "paths.h"

/* Sees whether the last of two operands is the output (IN OUT, the form of AReaL's converter): it
 * is when no such file exists, or the file that exists is no trace. Takes it off the operands and
 * sets options->output then. PT_OPTION_GO_ON, or PT_EXIT_USAGE (told) when it cannot be known what
 * is meant. */
int pt_convert_target_split(pt_convert_options_t *options, pt_string_list_t *operands);

/* The output's name when none is given: trace.json for trace.jsonl, DIR/traces.json for a
 * directory, traces.json in the common parent of several. Appended to out. */
void pt_convert_target_infer(const pt_string_list_t *operands, const pt_paths_t *paths,
                             const pt_convert_options_t *options, perftrace__strbuf_t *out);

/* Takes files that were only met in a folder off the list when they are the target, or an earlier
 * output of this tool (noted). target may be NULL. */
void pt_convert_target_prune(pt_paths_t *paths, const char *target);

/* For pt_paths_collect: what is taken from directories. */
bool pt_convert_target_wanted(const char *name, void *ctx);

#endif
