/* json_value.h: skipping one value, validated. SPDX-License-Identifier: MIT
 *
 * Only for the files of this room. */
#ifndef PERFTRACE_JSON_VALUE_H
#define PERFTRACE_JSON_VALUE_H

#include "json_lex.h"

/* Records the first error at byte `at`; returns NULL. */
const char *perftrace__json_fail(perftrace__json_cursor_t *c, int code, const char *at);

/* Finds the code that says best what is wrong with the byte at p (or the end of the text), where
 * `otherwise` fits a byte that is wrong in no special way; returns NULL. */
const char *perftrace__json_fail_at(perftrace__json_cursor_t *c, const char *p, int otherwise);

/* p is the byte after an opening quote; returns the address of the closing one, or NULL with the
 * error recorded. Adds to *notes. */
const char *perftrace__json_token_string(perftrace__json_cursor_t *c, const char *p,
                                         unsigned *notes);

/* Skips a value that is no container; sets *type, adds to *notes, returns the value's end, or NULL
 * with the error recorded. */
const char *perftrace__json_token_scalar(perftrace__json_cursor_t *c, const char *p,
                                         perftrace__json_type_t *type, unsigned *notes);

/* Skips and validates the value whose first byte is p, fills *ret; returns its end, or NULL with
 * the error recorded. c->depth containers lie around it already. Does not move c->p. */
const char *perftrace__json_value(perftrace__json_cursor_t *c, const char *p,
                                  perftrace__json_slice_t *ret);

/* The same for a string; p is the opening quote. */
const char *perftrace__json_value_string(perftrace__json_cursor_t *c, const char *p,
                                         perftrace__json_slice_t *ret);

/* The first byte from p on that is no white space; c->end when there is none. */
const char *perftrace__json_skip_space(const perftrace__json_cursor_t *c, const char *p);

PT_ALWAYS_INLINE const char *pt_skip_space(const perftrace__json_cursor_t *c, const char *p) {
    /* None or one blank is what most writers put. */
    if (p < c->end && *p == ' ') {
        p++;
        PT_KEEP_BRANCH(p);
    }
    if (p < c->end && PT_UNLIKELY((unsigned char)*p <= ' ')) {
        return perftrace__json_skip_space(c, p);
    }
    return p;
}

#endif
