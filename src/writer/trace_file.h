/* trace_file.h: a file that only grows, made exclusively. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_WRITER_TRACE_FILE_H
#define PERFTRACE_WRITER_TRACE_FILE_H

#include "compiler.h"

#include <stdbool.h>

/* Creates the first of stem + ext, stem.1 + ext, stem.2 + ext... that does not exist yet (O_EXCL,
 * no lock calls: shared file systems often have none). Directories are made. On success *ret_fd is
 * the file and path (size bytes) its name. 0 or a negative errno. */
int perftrace__trace_file_create(const char *stem, const char *ext, char *path, size_t size,
                                 int *ret_fd);

/* Writes len bytes at offset, retried on EINTR; *ret_done tells how much is there. 0 or -errno. */
int perftrace__trace_file_write(int fd, const void *data, size_t len, uint64_t offset,
                                size_t *ret_done);

/* True when parts of the file were given back to the system: one that did not stay (the option
 * forward_local), of which the collector has the rest. */
bool perftrace__trace_file_holed(int fd);

/* True when the file has no name any more. */
bool perftrace__trace_file_gone(int fd);

#endif
