/* collect_file.h: many files, of which some are open. SPDX-License-Identifier: MIT
 *
 * A file is opened when it is needed; beyond a number, the one that was not used for the longest
 * time is closed. Blocks as the file system does. One thread. */
#ifndef PERFTRACE_TOOL_COLLECT_FILE_H
#define PERFTRACE_TOOL_COLLECT_FILE_H

#include "compiler.h"

#include <stdbool.h>

typedef struct pt_collect_file {
    char *path;                          /* owned by the file */
    int fd;                              /* -1: not open */
    bool dirty;                          /* written since the last sync */
    struct pt_collect_file *next, *prev; /* among the open ones, from the last used on */
} pt_collect_file_t;

typedef struct pt_collect_files {
    pt_collect_file_t used; /* the ring's head */
    unsigned open;
    unsigned max;
    bool sync; /* what is dirty is synced before it is closed */
} pt_collect_files_t;

void pt_collect_files_init(pt_collect_files_t *files, unsigned max, bool sync);

/* Takes path over. Nothing is opened. */
void pt_collect_file_init(pt_collect_file_t *file, char *path);
/* Opens it for reading and writing where it is not open; create: makes it where it is not there. 0
 * or -errno. */
int pt_collect_file_open(pt_collect_files_t *files, pt_collect_file_t *file, bool create);
/* 0 or -errno; -ESTALE: see stands. *ret_done tells how much was written in either case. */
int pt_collect_file_write(pt_collect_files_t *files, pt_collect_file_t *file, const void *data,
                          size_t len, uint64_t offset, size_t *ret_done);
/* Reads len bytes, fewer only at the end. The number, or -errno. */
int64_t pt_collect_file_read(pt_collect_files_t *files, pt_collect_file_t *file, void *out,
                             size_t len, uint64_t offset);
/* Whether the file that was opened is still the one of that name, and has at least size bytes. */
bool pt_collect_file_stands(const pt_collect_file_t *file, uint64_t size);
/* The same of a descriptor; -1: any file of that name. */
bool pt_collect_descriptor_stands(int fd, const char *path, uint64_t size);
/* Its size, or -errno. */
int64_t pt_collect_file_size(pt_collect_files_t *files, pt_collect_file_t *file);
/* The offset behind the last '\n' at or above `least`; `least` without one. Or -errno. */
int64_t pt_collect_file_lines_end(pt_collect_files_t *files, pt_collect_file_t *file,
                                  uint64_t least);
/* To the disk, where it is dirty. 0 or -errno. */
int pt_collect_file_sync(pt_collect_files_t *files, pt_collect_file_t *file);
/* Closes it and frees its path. 0 or the -errno of an earlier write. */
int pt_collect_file_end(pt_collect_files_t *files, pt_collect_file_t *file);

#endif
