/* text_cut.c. SPDX-License-Identifier: MIT */
#include "text_cut.h"

#define WINDOW_LEAST ((size_t)4 << 10) /* more than most lines */
#define WINDOW_MOST  ((size_t)64 << 10)

size_t pt_text_whole(pt_profile_format_t format, const char *text, size_t len) {
    const char *feed = len > 0 ? memrchr(text, '\n', len) : NULL;
    while (feed != NULL && format == PT_PROFILE_PERF_SCRIPT) {
        const char *before = feed > text && feed[-1] == '\r' ? feed - 1 : feed;
        if (before > text && before[-1] == '\n') {
            break;
        }
        feed = feed > text ? memrchr(text, '\n', (size_t)(feed - text)) : NULL;
    }
    return feed != NULL ? (size_t)(feed - text) + 1 : 0;
}

void pt_text_cut_begin(pt_text_cut_t *cut, const pt_text_source_t *source,
                       pt_profile_format_t format) {
    *cut = (pt_text_cut_t){.source = source,
                           .format = format,
                           .at = source->mark,
                           .on = source->encoding == PT_TEXT_UTF8 && !source->end &&
                                 pt_input_seekable(source->input)};
}

bool pt_text_cut_next(pt_text_cut_t *cut, size_t most, pt_text_piece_t *ret_piece) {
    char window[WINDOW_MOST];
    for (size_t size = WINDOW_LEAST; size <= WINDOW_MOST && size <= most; size *= 4) {
        uint64_t from = cut->at + most - size;
        int64_t got = pt_input_pread(cut->source->input, window, size, from);
        if (got < 0) {
            break; /* whoever reads the source tells of it */
        }
        cut->end = (size_t)got < size;
        size_t whole = cut->end ? (size_t)got : pt_text_whole(cut->format, window, size);
        if (whole > 0 || cut->end) {
            *ret_piece = (pt_text_piece_t){
                .at = cut->at, .len = (size_t)(from - cut->at) + whole, .last = cut->end};
            cut->at += ret_piece->len;
            return true;
        }
    }
    cut->on = false;
    return false;
}
