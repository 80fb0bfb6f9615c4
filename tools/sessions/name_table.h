/* name_table.h: texts to small numbers and back. SPDX-License-Identifier: MIT
 *
 * Numbers are given from 0 in the order in which texts come. Not thread-safe. */
#ifndef PERFTRACE_SESSIONS_NAME_TABLE_H
#define PERFTRACE_SESSIONS_NAME_TABLE_H
#include "parsed_session.h"
#include "strbuf.h"

#define PT_NO_NAME UINT32_MAX

typedef struct pt_name_entry {
    uint64_t hash;
    size_t at; /* in the texts; a NUL stands behind each */
    size_t len;
} pt_name_entry_t;

/* All zero is an empty table. */
typedef struct pt_name_table {
    perftrace__strbuf_t text;
    pt_name_entry_t *entry;
    uint32_t count, cap;
    uint32_t *slot; /* numbers plus 1; 0: free */
    uint32_t slots; /* power of two, or 0 */
    uint32_t last;  /* the number that was asked for last: most texts come again at once */
    uint64_t seed;
} pt_name_table_t;

/* The number of a text, which is added when it is new; PT_NO_NAME without memory. */
uint32_t pt_name_table_add(pt_name_table_t *table, pt_name_t name);
/* The number of a text, or PT_NO_NAME. */
uint32_t pt_name_table_find(const pt_name_table_t *table, pt_name_t name);
/* The text, with a NUL behind it, until the next add; id must be below count. */
pt_name_t pt_name_table_get(const pt_name_table_t *table, uint32_t id);
/* Empties it but keeps the memory. */
void pt_name_table_clear(pt_name_table_t *table);
void pt_name_table_free(pt_name_table_t *table); /* accepts NULL; usable again */

/* Numbers the texts anew in the order of `less` (as qsort's compare, on texts; natural order of
 * names when it is NULL): *ret_map, to be freed, gives the new number of each old one. False
 * without memory, with nothing changed. */
bool pt_name_table_sort(pt_name_table_t *table, int (*compare)(pt_name_t a, pt_name_t b),
                        uint32_t **ret_map);

#endif
