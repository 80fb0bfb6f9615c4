/* line_file.h: a file that takes text in whole batches of lines. SPDX-License-Identifier: MIT
 *
 * One thread at a time. A batch counts when all of it is written: after a failed flush the caller
 * keeps its text and flushes it again, and what is in the file already is not written twice. */
#ifndef PERFTRACE_WRITER_LINE_FILE_H
#define PERFTRACE_WRITER_LINE_FILE_H

#include "os.h"
#include "sink.h"
#include "strbuf.h"

typedef struct perftrace__line_file {
    int fd; /* -1: none, or the program closed it and it is not there any more */
    perftrace__os_file_id_t id; /* of the file, to know whether fd still means it */
    uint64_t offset;            /* bytes of whole batches */
    size_t done;                /* bytes of the present batch that are in the file already */
    int last_errno;             /* of the last flush; 0: it worked */
    const char *path;           /* the file's name, "" unknown; the creator's, who may change it */
    uint64_t (*limit)(void);    /* how far it may grow now; NULL: as far as it can */
} perftrace__line_file_t;

/* Takes over fd, of which offset bytes count. path is kept by pointer; limit is NULL. */
void perftrace__line_file_open(perftrace__line_file_t *f, int fd, uint64_t offset,
                               const char *path);
/* True when there is no file, or it has no name any more. Where the program has closed fd behind
 * our back the file is opened again by its name first. */
bool perftrace__line_file_gone(perftrace__line_file_t *f);
/* Writes the batch and clears it, as far as how says. 0 or a status, and last_errno (ENOBUFS: it
 * would grow beyond its limit). */
int perftrace__line_file_flush(perftrace__line_file_t *f, perftrace__strbuf_t *batch,
                               perftrace__flush_t how);
/* Cuts off what a failed flush has left of an incomplete batch. Only when nobody goes on writing.
 */
void perftrace__line_file_cut(perftrace__line_file_t *f);
/* Closes fd when it still means the file. */
void perftrace__line_file_close(perftrace__line_file_t *f);

#endif
