/* text_cut.h: where a text in a plain file may be cut, found without reading all of it.
 * SPDX-License-Identifier: MIT
 *
 * Only a few bytes around each cut are read here, so that those who work on the pieces read them
 * themselves, side by side, each into memory that its processor still holds. Files are read, never
 * mapped: one that is made shorter meanwhile ends early and does no harm. */
#ifndef PERFTRACE_PROFILE_TEXT_CUT_H
#define PERFTRACE_PROFILE_TEXT_CUT_H
#include "text_source.h"

typedef struct pt_text_cut {
    const pt_text_source_t *source;
    pt_profile_format_t format;
    uint64_t at; /* in the file: where the next piece begins */
    bool on;     /* pieces are cut here; false: the source has to be read */
    bool end;    /* the last piece was given */
} pt_text_cut_t;

typedef struct pt_text_piece {
    uint64_t at; /* in the file */
    size_t len;
    bool last; /* it may turn out to be shorter, because len is the most that there is */
} pt_text_piece_t;

/* How much of a text is whole lines (or, of perf script, whole samples). Pure. */
size_t pt_text_whole(pt_profile_format_t format, const char *text, size_t len);

/* Begins at the first byte of a source's text; `on` where that is UTF-8 in a file that is not
 * packed, of which more than what was read already may be left. */
void pt_text_cut_begin(pt_text_cut_t *cut, const pt_text_source_t *source,
                       pt_profile_format_t format);
/* Gives the next piece, of at most `most` bytes. False, and `on` is false from now on: there is no
 * border near enough, or the file cannot be read so; all from `at` on is left to the source, which
 * has to be moved there. Call only while `on` and not at the end. */
bool pt_text_cut_next(pt_text_cut_t *cut, size_t most, pt_text_piece_t *ret_piece);

#endif
