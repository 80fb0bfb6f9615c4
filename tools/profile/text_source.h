/* text_source.h: the text of an input as UTF-8, with its end known. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_PROFILE_TEXT_SOURCE_H
#define PERFTRACE_PROFILE_TEXT_SOURCE_H
#include "input.h"
#include "profile_sniff.h"
#include "utf16.h"

typedef struct pt_text_source {
    pt_input_t *input;
    pt_text_encoding_t encoding;
    pt_utf16_t utf16;
    size_t mark;      /* bytes before the text */
    uint64_t skipped; /* of the mark, for offsets */
    bool end;
    bool damaged; /* the input ended by an error: see pt_input_problem */
} pt_text_source_t;

/* Begins at an input's first byte. The input stays the caller's. */
void pt_text_source_begin(pt_text_source_t *s, pt_input_t *input);
/* Appends up to `want` bytes or so to out, fewer only at the end. False without memory. */
bool pt_text_source_read(pt_text_source_t *s, size_t want, perftrace__strbuf_t *out);

#endif
