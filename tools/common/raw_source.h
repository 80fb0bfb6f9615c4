/* raw_source.h: a file's own bytes, through one buffer. SPDX-License-Identifier: MIT
 *
 * Below input.c only. Not thread-safe. */
#ifndef PERFTRACE_COMMON_RAW_SOURCE_H
#define PERFTRACE_COMMON_RAW_SOURCE_H

#include "compiler.h"

#include <stdbool.h>

/* So many bytes before `cur` stay as they were read, for a decoder that gives bytes back. */
#define PT_RAW_BACK 16

typedef struct pt_raw_source {
    const uint8_t *cur; /* the next byte */
    size_t left;        /* bytes at cur */
    uint64_t offset;    /* of cur in the file */
    int fd;             /* -1: bytes in memory */
    bool owns_fd;
    bool end;  /* there is nothing behind cur + left */
    int error; /* errno of a read that failed; implies end */
    uint8_t *allocated;
    uint8_t *buffer; /* page-aligned, with room for PT_RAW_BACK bytes before it */
    size_t room;     /* bytes at buffer: no more than were wanted so far */
    size_t size;     /* the most that buffer may hold */
} pt_raw_source_t;

/* Takes a descriptor, or with fd -1 the bytes data[0..len). Nothing is allocated before something
 * is wanted; without memory the source then ends with ENOMEM. */
void pt_raw_source_init(pt_raw_source_t *raw, int fd, bool owns_fd, size_t buffer_size,
                        const void *data, size_t len);
/* Closes what it owns. A zeroed structure is accepted. */
void pt_raw_source_free(pt_raw_source_t *raw);

/* Reads until at least `want` bytes (up to the buffer's size) are left, or the end. Returns left.
 */
size_t pt_raw_source_fill(pt_raw_source_t *raw, size_t want);
/* The same, but at most `most` are left afterwards: not all may be wanted. */
size_t pt_raw_source_look(pt_raw_source_t *raw, size_t want, size_t most);
/* Moves forward, or back by at most PT_RAW_BACK. */
void pt_raw_source_skip(pt_raw_source_t *raw, int64_t bytes);
/* Copies size bytes out, fewer only at the end; large pieces do not pass through the buffer. */
size_t pt_raw_source_read(pt_raw_source_t *raw, void *out, size_t size);

#endif
