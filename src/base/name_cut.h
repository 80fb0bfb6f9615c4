/* name_cut.h: names that must not exceed a length. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_BASE_NAME_CUT_H
#define PERFTRACE_BASE_NAME_CUT_H

#include "strbuf.h"

/* Hexadecimal digits that tell a text apart; the same on every machine and in every run. */
#define PERFTRACE__NAME_HASH 8
void perftrace__name_hash(const char *text, size_t len, char ret[PERFTRACE__NAME_HASH + 1]);

/* Cuts what stands from `start` on in a buffer to `room` bytes (9 or more): on a character
 * boundary, with '-' and the hash of the text it was made from at the end, so that texts that
 * differ anywhere stay apart. Nothing is done when it is short enough. */
void perftrace__name_cut(perftrace__strbuf_t *b, size_t start, size_t room, const char *text,
                         size_t len);

#endif
