/* string_list.h: a growing list of owned strings. SPDX-License-Identifier: MIT
 *
 * Not thread-safe. */
#ifndef PERFTRACE_COMMON_STRING_LIST_H
#define PERFTRACE_COMMON_STRING_LIST_H

#include "compiler.h"

#include <stdbool.h>

typedef struct pt_string_list {
    char **items; /* NULL while empty */
    size_t count;
    size_t cap;
} pt_string_list_t;

#define PT_STRING_LIST_INIT                                                                        \
    { NULL, 0, 0 }

/* Appends a copy of text[0..len) or of a whole string. False without memory (nothing changed). */
bool pt_string_list_add_len(pt_string_list_t *list, const char *text, size_t len);
bool pt_string_list_add(pt_string_list_t *list, const char *text);
/* Appends the parts of text between separators, blanks around each taken off, empty parts left out.
 */
bool pt_string_list_split(pt_string_list_t *list, const char *text, char separator);
bool pt_string_list_has(const pt_string_list_t *list, const char *text);
/* Frees; the list is empty and usable again. Accepts NULL. */
void pt_string_list_free(pt_string_list_t *list);

#endif
