/* text_wrap.h: paragraphs set to a width. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_COMMON_TEXT_WRAP_H
#define PERFTRACE_COMMON_TEXT_WRAP_H

#include "strbuf.h"

/* Appends text with lines of at most width columns where words allow it, each begun with `indent`
 * blanks except the first, which stands at `column` already. "\n\n" parts paragraphs; a line of the
 * text that begins with two blanks stands as it is. Ends with a line feed. Pure. */
void pt_text_wrap(perftrace__strbuf_t *out, const char *text, unsigned width, unsigned column,
                  unsigned indent);

/* Columns that UTF-8 text takes, one for each character. Pure. */
unsigned pt_text_columns(const char *text, size_t len);

/* Appends n blanks. */
void pt_text_pad(perftrace__strbuf_t *out, unsigned n);

#endif
