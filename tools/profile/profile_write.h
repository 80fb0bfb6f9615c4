/* profile_write.h: a model as speedscope's JSON and as collapsed stacks. SPDX-License-Identifier:
 * MIT
 *
 * Pure: text goes to a buffer, which the caller empties now and then. */
#ifndef PERFTRACE_PROFILE_PROFILE_WRITE_H
#define PERFTRACE_PROFILE_PROFILE_WRITE_H
#include "profile_model.h"

/* Where text goes. flush is called whenever a good part of a megabyte has come together, and takes
 * what it likes of it; false ends the writing. NULL: all text stays in the buffer. */
typedef struct pt_profile_sink {
    perftrace__strbuf_t text;
    bool (*flush)(void *ctx, perftrace__strbuf_t *text);
    void *ctx;
} pt_profile_sink_t;

/* One sampled profile for each thread that has samples, each sample as it was read. name and
 * exporter may be NULL. Needs keep_order, and at least one sample. False without memory, or as
 * flush said. */
bool pt_speedscope_write(const pt_profile_t *p, const char *name, const char *exporter,
                         pt_profile_sink_t *sink);

/* How weights are written in collapsed stacks: multiplied by factor, as integers or as they come.
 */
typedef struct pt_collapsed_weights {
    double factor;
    bool integers;
} pt_collapsed_weights_t;

/* A line for each distinct stack, in the order of threads and of their first sample. Where not all
 * stacks of a thread begin with its name, it is put before them. Of frames only the names are
 * written; a semicolon in one becomes a colon, a line end a blank. With `other`, a line has two
 * weights, those of p and those of other, and stacks of either. False as above. */
bool pt_collapsed_write(const pt_profile_t *p, const pt_profile_t *other,
                        const pt_collapsed_weights_t *how, pt_profile_sink_t *sink);

#endif
