/* text_chunks.h: a text of stacks, read in pieces by several threads. SPDX-License-Identifier: MIT
 *
 * Where the text is cut depends on the text alone, and pieces are put together in order, so that
 * the model does not depend on how many threads there are. */
#ifndef PERFTRACE_PROFILE_TEXT_CHUNKS_H
#define PERFTRACE_PROFILE_TEXT_CHUNKS_H
#include "profile_load.h"
#include "text_source.h"

typedef struct pt_text_chunks {
    const pt_profile_load_t *load;
    pt_text_source_t *source;
    perftrace__strbuf_t *head; /* what was read of the text already; left empty */
    pt_profile_format_t format;
    bool two_columns;
    unsigned file;
    pt_profile_t *p;
    uint64_t lines, bytes; /* of the pieces that are in the model */
} pt_text_chunks_t;

/* Reads to the end. PT_EXIT_OK or PT_EXIT_INTERNAL. Blocks as reading does. */
pt_exit_t pt_text_chunks_read(pt_text_chunks_t *c);

#endif
