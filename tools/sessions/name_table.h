/* name_table.h: texts to small numbers and back. SPDX-License-Identifier: MIT
 *
 * Numbers are given from 0 in the order in which texts come. Not thread-safe. */
#ifndef PERFTRACE_SESSIONS_NAME_TABLE_H
#define PERFTRACE_SESSIONS_NAME_TABLE_H
#include "parsed_session.h"
#include "strbuf.h"

#define PT_NO_NAME      UINT32_MAX
#define PT_NAMES_RECENT 16U /* power of two */

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
    uint32_t
        recent[PT_NAMES_RECENT]; /* numbers plus 1 of texts that were asked for, by a cheap hash */
    uint64_t seed;
} pt_name_table_t;

/* The number of a text, which is added when it is new; PT_NO_NAME without memory. */
uint32_t pt_name_table_add(pt_name_table_t *table, pt_name_t name);
/* Where the number of a text may be kept, after it was asked for. */
static inline unsigned pt_name_place(pt_name_t name) {
    return name.len == 0 ? 0
                         : ((unsigned)name.len * 7 + (unsigned char)name.p[0] +
                            (unsigned)(unsigned char)name.p[name.len - 1] * 3) %
                               PT_NAMES_RECENT;
}
/* The number of a text that was asked for just before, as most are; else PT_NO_NAME. */
static inline uint32_t pt_name_table_recent(const pt_name_table_t *table, pt_name_t name) {
    uint32_t id = table->recent[pt_name_place(name)];
    if (PT_LIKELY(id != 0)) {
        const pt_name_entry_t *e = &table->entry[id - 1];
        if (PT_LIKELY(e->len == name.len &&
                      pt_same_bytes(table->text.data + e->at, name.p, name.len))) {
            return id - 1;
        }
    }
    return PT_NO_NAME;
}
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
