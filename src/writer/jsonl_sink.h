/* jsonl_sink.h: the sink that writes traces-r<rank>.jsonl. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_WRITER_JSONL_SINK_H
#define PERFTRACE_WRITER_JSONL_SINK_H

#include "jsonl_encode.h"

typedef struct perftrace__jsonl_sink perftrace__jsonl_sink_t;

/* A sink over an open file (owned from now on) of which `offset` bytes count; begins with the
 * header lines unless offset is above 0. NULL without memory (the file stays the caller's). */
perftrace__sink_t *perftrace__jsonl_sink_open(int fd, uint64_t offset,
                                              const perftrace__run_meta_t *meta);

/* The errno of the last failed write, 0 when the last one worked. */
int perftrace__jsonl_sink_errno(const perftrace__sink_t *s);

/* Cuts off what a failed flush has left of an incomplete batch. Only when nobody goes on writing.
 */
void perftrace__jsonl_sink_cut(perftrace__sink_t *s);

/* Closes the file and nothing else: for a forked child when the sink was in use by a thread that
 * the child does not have. */
void perftrace__jsonl_sink_disown(perftrace__sink_t *s);

/* Adds a header line with new values of rank and world size. */
void perftrace__jsonl_sink_header(perftrace__sink_t *s, const perftrace__run_meta_t *meta);

/* What to do when the program closed the file behind the sink's back: it is opened again by path
 * (the caller's, up to date as long as the sink lives; "" unknown). When the name was removed
 * while the file was written: create returns a new file (owned by the sink from then on) or a
 * negative errno. Without it the sink writes on into the nameless file. */
void perftrace__jsonl_sink_on_gone(perftrace__sink_t *s, const char *path,
                                   int (*create)(void *user), void *user);

/* How far the file may grow (line_file.h). */
void perftrace__jsonl_sink_limit(perftrace__sink_t *s, uint64_t (*limit)(void));

#endif
