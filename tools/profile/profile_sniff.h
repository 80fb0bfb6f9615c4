/* profile_sniff.h: what kind of profile a file is. SPDX-License-Identifier: MIT
 *
 * Pure. */
#ifndef PERFTRACE_PROFILE_PROFILE_SNIFF_H
#define PERFTRACE_PROFILE_PROFILE_SNIFF_H
#include "compiler.h"

#include <stdbool.h>

typedef enum pt_profile_format {
    PT_PROFILE_UNKNOWN, /* text in which no line is a stack */
    PT_PROFILE_EMPTY,   /* nothing, or nothing but blanks and comments */
    PT_PROFILE_JSON,    /* speedscope, or some other JSON */
    PT_PROFILE_COLLAPSED,
    PT_PROFILE_PERF_SCRIPT
} pt_profile_format_t;

typedef enum pt_text_encoding {
    PT_TEXT_UTF8,
    PT_TEXT_UTF16_LE,
    PT_TEXT_UTF16_BE
} pt_text_encoding_t;

/* "speedscope", "collapsed", "perf script"; "" for the others. */
const char *pt_profile_format_name(pt_profile_format_t format);

/* The encoding by the first bytes; *ret_mark is the length of the byte order mark. UTF-16 without
 * one is known by its zero bytes. */
pt_text_encoding_t pt_text_encoding(const char *data, size_t len, size_t *ret_mark);

/* The format by the beginning of the text, in UTF-8 and without a mark; whole: it is all there is.
 * *ret_two_columns: for collapsed stacks, as pt_collapsed_sniff has it. */
pt_profile_format_t pt_profile_sniff(const char *text, size_t len, bool whole,
                                     bool *ret_two_columns);

#endif
