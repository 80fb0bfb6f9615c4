/* id_table.h: things found by a 64-bit id, which come and go. SPDX-License-Identifier: MIT
 *
 * A hash table whose nodes lie in the things themselves, so that it holds what lives and nothing of
 * what has gone. Ids are mixed with a random number: no input can build long chains. Pure but for
 * memory; not thread-safe. */
#ifndef PERFTRACE_CONVERT_ID_TABLE_H
#define PERFTRACE_CONVERT_ID_TABLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pt_id_node {
    uint64_t id;
    struct pt_id_node *next;
} pt_id_node_t;

typedef struct pt_id_table {
    pt_id_node_t **bucket; /* NULL until the first id */
    size_t cap, count;
    uint64_t seed;
} pt_id_table_t;

/* NULL when the id is absent. */
pt_id_node_t *pt_id_table_find(const pt_id_table_t *table, uint64_t id);
/* Adds a node whose id is absent. False without memory. */
bool pt_id_table_add(pt_id_table_t *table, pt_id_node_t *node);
/* Takes a node out that is in the table. */
void pt_id_table_remove(pt_id_table_t *table, const pt_id_node_t *node);
/* Frees the table, not the nodes; it is empty and usable again. Accepts a table of zeros. */
void pt_id_table_free(pt_id_table_t *table);

#endif
