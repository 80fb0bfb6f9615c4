/* run_writer.h: standard output and standard error, written by a thread. SPDX-License-Identifier:
 * MIT
 *
 * Whoever reads our output may stop reading. Then the writer waits, the workers' pipes are no
 * longer emptied, and the loop still hears signals and deadlines. */
#ifndef PERFTRACE_TOOL_RUN_WRITER_H
#define PERFTRACE_TOOL_RUN_WRITER_H

#include "strbuf.h"

typedef struct pt_writer pt_writer_t;

/* room is called, on the writer's thread, each time a full queue has room again. NULL without
 * memory or thread. */
pt_writer_t *pt_writer_start(void (*room)(void *user), void *user);
/* Queues bytes for a descriptor (1 or 2). False when the queue is full now: the bytes are taken,
 * but no more should come until `room`. Loop's thread only. */
bool pt_writer_put(pt_writer_t *writer, int fd, const char *data, size_t len);
/* Writes what is queued and ends the thread; `room` is not called any more. Blocks. False when an
 * output could not be written. Accepts NULL. */
bool pt_writer_end(pt_writer_t *writer);

#endif
