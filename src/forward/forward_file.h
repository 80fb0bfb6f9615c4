/* forward_file.h: a file on its way to the collector. SPDX-License-Identifier: MIT
 *
 * It is written by somebody else (the drain, another process); only whole lines below `limit` are
 * read. One thread. */
#ifndef PERFTRACE_FORWARD_FORWARD_FILE_H
#define PERFTRACE_FORWARD_FORWARD_FILE_H

#include "os.h"
#include "stream_message.h"

typedef struct perftrace__forward_file {
    struct perftrace__forward_file *next;
    perftrace__stream_key_t key; /* .stream is known once `known` is set */
    char path[4096];
    int fd; /* -1: not open yet */
    perftrace__os_file_id_t id;
    uint64_t limit; /* bytes that are final */
    uint64_t sent;
    uint64_t acked;
    bool ended; /* nothing will follow limit */
    bool known;
    bool asked;  /* where to go on */
    bool placed; /* the answer has come */
    bool last_sent;
    uint64_t last_told; /* what was acknowledged when the last piece was sent */
    bool last_acked;
    bool spool;       /* what is acknowledged is given back to the system, see punch */
    bool kept;        /* giving back does not work there */
    uint64_t punched; /* given back up to here */
    int failed;       /* the errno that made it unreadable; 0: readable */
} perftrace__forward_file_t;

/* A file at path. key's texts are taken; name is the path's last part. NULL without memory. */
perftrace__forward_file_t *perftrace__forward_file_new(const char *path,
                                                       const perftrace__stream_key_t *key);
/* Opens it now, not when it is read first. What fails is tried again then. */
void perftrace__forward_file_open(perftrace__forward_file_t *f);
/* Closes. Accepts NULL. */
void perftrace__forward_file_free(perftrace__forward_file_t *f);
/* Finds out which stream it is, once its first line is final. False: not yet, or failed is set. */
bool perftrace__forward_file_identify(perftrace__forward_file_t *f);
/* Reads whole lines from `sent` on into buf, about `wanted` bytes, more where a line is longer.
 * *ret_len 0: nothing is there. False: failed is set, or 0 where only a descriptor or memory is
 * missing now. Blocks as read does. */
bool perftrace__forward_file_read(perftrace__forward_file_t *f, perftrace__strbuf_t *buf,
                                  size_t wanted, size_t *ret_len);
/* Gives the memory of what is acknowledged back to the system, but for the file's beginning, which
 * tells what it is. The file stays as long as it is. Of a spool only. */
void perftrace__forward_file_punch(perftrace__forward_file_t *f);
/* Why it failed; static storage or strerror's. */
const char *perftrace__forward_file_problem(const perftrace__forward_file_t *f);
/* Everything is acknowledged that there will ever be. */
bool perftrace__forward_file_done(const perftrace__forward_file_t *f);

#endif
