/* stacks_convert.h: profiles written again. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_STACKS_STACKS_CONVERT_H
#define PERFTRACE_STACKS_STACKS_CONVERT_H
#include "profile_write.h"
#include "stacks_input.h"

/* convert and merge: the loaded inputs to a file. Tells what is wrong, and what was done. */
pt_exit_t pt_stacks_convert(const pt_stacks_options_t *o, pt_stacks_input_t *input);

/* All perf_*_collapsed.txt (or .txt.gz) of a directory, each to a speedscope file, and their
 * threads to perf_thread_summary.txt. */
pt_exit_t pt_stacks_batch(const pt_stacks_options_t *o, const char *dir, pt_problems_t *book);

/* Two loaded inputs compared. */
pt_exit_t pt_stacks_diff(const pt_stacks_options_t *o, const pt_stacks_input_t input[2],
                         pt_problems_t *book);

/* Whether a model can be written: stacks of a hundred thousand frames, each a little deeper than
 * the other, would fill any disk. Tells what is wrong; name is the input's, or NULL. */
bool pt_stacks_can_write(const pt_profile_t *p, bool collapsed, const char *name);

/* How weights of this unit are written in collapsed stacks. */
pt_collapsed_weights_t pt_stacks_collapsed_weights(const pt_stacks_options_t *o,
                                                   pt_profile_unit_t unit);
/* The unit of most threads of a model: that of its first one; *ret_mixed tells whether there are
 * others. */
pt_profile_unit_t pt_stacks_unit(const pt_profile_t *p, bool *ret_mixed);
/* What stands for the extensions of `path`: see stacks_convert.c. */
void pt_stacks_output_name(const char *path, bool collapsed, perftrace__strbuf_t *out);
/* The name of a profile: that of its file without the last extension. */
void pt_stacks_profile_name(const char *path, perftrace__strbuf_t *out);

#endif
