/* json_mend.h: strings, numbers and words of damaged JSON. SPDX-License-Identifier: MIT
 *
 * Only for the files of this room: the parts of json_repair that look at no structure. */
#ifndef PERFTRACE_JSON_MEND_H
#define PERFTRACE_JSON_MEND_H

#include "json_repair.h"

typedef struct perftrace__json_mend {
    perftrace__json_cursor_t c; /* for its text, its end and its error */
    perftrace__strbuf_t *out;
    unsigned done; /* PERFTRACE__JSON_REPAIR_ bits */
} perftrace__json_mend_t;

/* Appends the string whose opening quote is at p in strict form; returns the byte after the closing
 * one, or NULL with the error recorded. */
const char *perftrace__json_mend_string(perftrace__json_mend_t *m, const char *p);

/* The same for a number, a word, or what somebody meant by one. */
const char *perftrace__json_mend_scalar(perftrace__json_mend_t *m, const char *p);

#endif
