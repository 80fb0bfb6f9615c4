/* ring_reader.h: a ring file seen from outside, all of it untrusted. SPDX-License-Identifier: MIT
 *
 * Copies what it needs out of the file by pread, so that a file that shrinks or changes cannot
 * hurt; every offset and length is checked against the file's size and the structure's own limits.
 */
#ifndef PERFTRACE_RING_READER_H
#define PERFTRACE_RING_READER_H

#include "ring_layout.h"
#include "site_table.h"

#include <stdbool.h>

typedef struct perftrace__ring_view {
    int fd;
    uint64_t file_size;
    uint32_t uid;                    /* who owns the file */
    perftrace__ring_header_t header; /* copy; strings are NUL-terminated */
    perftrace__commit_t commit;      /* the valid copy */
    unsigned char *log;
    uint64_t log_len;
    perftrace__site_table_t sites;
    uint32_t slot_count;
    const char *problem; /* text of what was found wrong; NULL when nothing was */
} perftrace__ring_view_t;

/* A slot's state and the records that are not in the file yet, in order. */
typedef struct perftrace__slot_view {
    perftrace__slot_t slot; /* copy of the control page */
    uint64_t *words;        /* records from the committed position to the published end; owned */
    uint64_t nwords;
    uint64_t pos; /* committed position, in words since the slot began */
    uint64_t drops[2];
    uint32_t depth;
    bool damaged; /* positions made no sense: words is empty */
} perftrace__slot_view_t;

/* Opens and checks a ring file. 0; ERR_NOT_FOUND, ERR_DENIED, ERR_IO; ERR_CORRUPT when it is no
 * ring or cannot be understood at all, with *ret_problem (may be NULL) saying why. */
int perftrace__ring_view_open(perftrace__ring_view_t *v, const char *path,
                              const char **ret_problem);
/* Reads slot i (below slot_count). 0, ERR_NOMEM or ERR_IO. */
int perftrace__ring_view_slot(const perftrace__ring_view_t *v, uint32_t i,
                              perftrace__slot_view_t *ret_slot);
/* Reads the header, and with it the log, again: of a file that is still written. What pointed into
 * the log or the table of sites is gone. 0, or a status as of open; then the view has no sites but
 * can be closed. */
int perftrace__ring_view_update(perftrace__ring_view_t *v, const char **ret_problem);
/* Copies n words of slot i's ring (at most ring_words) that lie from position `from` on. False when
 * they cannot be read. Whether they were overwritten meanwhile, the slot's word tells. */
bool perftrace__ring_view_words(const perftrace__ring_view_t *v, uint32_t i, uint64_t from,
                                uint64_t n, uint64_t *ret_words);
void perftrace__slot_view_free(perftrace__slot_view_t *s);
/* Frees and closes; accepts a zeroed view. */
void perftrace__ring_view_close(perftrace__ring_view_t *v);

/* Whether the process that owns a ring lives. HIDDEN: it ran on another machine or in another
 * container and cannot be seen from here; there it may be alive. A process of this machine's
 * earlier boot is dead, and so is one in another container that gave no sign of life for minutes.
 */
typedef enum perftrace__ring_owner {
    PERFTRACE__RING_OWNER_DEAD,
    PERFTRACE__RING_OWNER_ALIVE,
    PERFTRACE__RING_OWNER_HIDDEN
} perftrace__ring_owner_t;
perftrace__ring_owner_t perftrace__ring_owner(const perftrace__ring_header_t *h);

#endif
