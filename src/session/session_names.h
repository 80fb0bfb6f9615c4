/* session_names.h: names of phases and counters, each once. SPDX-License-Identifier: MIT
 *
 * A name is kept as the piece of JSON that a record needs. Not thread-safe. */
#ifndef PERFTRACE_SESSION_SESSION_NAMES_H
#define PERFTRACE_SESSION_SESSION_NAMES_H

#include "hashmap.h"
#include "session_fold.h"

#define PERFTRACE__NAMES_MAX 65534u
#define PERFTRACE__NAME_PAD  32u /* bytes behind each text that can be read */

typedef struct perftrace__session_name {
    char *json; /* `, "NAME`, escaped, no NUL */
    uint32_t len;
    bool single;   /* phases: not allow_multiple */
    bool finishes; /* phases: ready_on_complete */
    bool is_total; /* its sum would be called total_s, which is taken */
    bool is_queue; /* its sum is called queue_s */
} perftrace__session_name_t;

typedef struct perftrace__session_names {
    perftrace__session_name_t *items;
    uint32_t count;
    uint32_t cap;
    uint32_t other; /* index that stands for all names that found no place */
    uint64_t bytes; /* of the texts */
    /* The name that was asked for last, often asked for again. */
    char last[24];
    uint32_t last_len; /* UINT32_MAX: none */
    uint32_t last_index;
    perftrace__hashmap_t map;
} perftrace__session_names_t;

#define PERFTRACE__SESSION_NAMES_INIT                                                              \
    { NULL, 0, 0, 0, 0, {0}, UINT32_MAX, 0, PERFTRACE__HASHMAP_INIT }

/* Adds the first names, `other` the last of them. False without memory. */
bool perftrace__session_names_init(perftrace__session_names_t *n, const char *const *names,
                                   uint32_t count);
/* Index of a name, made on first sight; that of "other" for no name, for one beyond
 * PERFTRACE__NAMES_MAX or of more than a megabyte, and, with false, without memory. Names that
 * differ only in invalid UTF-8 are one. */
bool perftrace__session_names_index(perftrace__session_names_t *n, perftrace__text_t name,
                                    uint32_t *ret_index);
uint64_t perftrace__session_names_bytes(const perftrace__session_names_t *n);
void perftrace__session_names_free(perftrace__session_names_t *n);

#endif
