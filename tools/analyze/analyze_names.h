/* analyze_names.h: texts, each once, by number. SPDX-License-Identifier: MIT
 *
 * Numbers count from 0 in the order of appearance; 0 is the empty text. Not thread-safe. */
#ifndef PERFTRACE_ANALYZE_NAMES_H
#define PERFTRACE_ANALYZE_NAMES_H
#include "hashmap.h"
#include "trace_event.h"

typedef struct pt_names {
    perftrace__hashmap_t map;
    uint64_t *at; /* by number: where the text lies in the map's memory */
    uint32_t *len;
    size_t count, cap, len_cap;
    bool failed; /* out of memory: texts are missing */
} pt_names_t;

/* The number of a text; 0 without memory (and failed set). */
uint32_t pt_names_add(pt_names_t *names, const char *text, size_t len);
/* The same of a JSON string with its quotes, decoded. */
uint32_t pt_names_add_json(pt_names_t *names, pt_str_t text);
uint32_t pt_names_add_cstr(pt_names_t *names, const char *text); /* NULL: 0 */
/* The text; lives until the next one is added. */
pt_str_t pt_names_get(const pt_names_t *names, uint32_t number);
/* As memcmp orders texts; a shorter one before those that go on. Pure. */
int pt_str_compare(pt_str_t a, pt_str_t b);
void pt_names_free(pt_names_t *names); /* accepts NULL; usable again */

#endif
