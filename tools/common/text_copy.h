/* text_copy.h: a copy of a part of a text. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_COMMON_TEXT_COPY_H
#define PERFTRACE_COMMON_TEXT_COPY_H

#include <stdlib.h>
#include <string.h>

/* Ends with a NUL; the caller frees it. NULL without memory. Not strndup, which wants a text with
 * an end: what lies in a file has none. */
static inline char *pt_text_copy(const char *p, size_t len) {
    char *out = malloc(len + 1);
    if (out != NULL) {
        memcpy(out, p, len);
        out[len] = '\0';
    }
    return out;
}

#endif
