/* collect_parts.h: the file of a stream, which may lie in parts. SPDX-License-Identifier: MIT
 *
 * traces-r3.jsonl, traces-r3.part2.jsonl, ...: each but the first begins with a copy of the lines
 * that name things, so that it can be read alone; the claim of its name says at which offset of the
 * stream it begins and how long the copy is. Only the last part is written. Blocks as the file
 * system does. One thread. */
#ifndef PERFTRACE_TOOL_COLLECT_PARTS_H
#define PERFTRACE_TOOL_COLLECT_PARTS_H

#include "collect_file.h"
#include "strbuf.h"

typedef struct pt_collect_part {
    uint64_t base;   /* the stream's offset at which it begins */
    uint64_t copied; /* bytes of the copy */
    bool gone;       /* deleted */
} pt_collect_part_t;

typedef struct pt_collect_parts {
    const char *run_dir; /* the caller's */
    char *name;          /* of the first part; NULL: not opened */
    uint64_t stream;
    pt_collect_part_t *item;
    size_t count, cap;
    pt_collect_file_t file; /* of the last part */
    uint64_t began_ns;      /* when that was begun, since the epoch */
} pt_collect_parts_t;

/* Finds the name and its parts. first: see pt_collect_name_first. 0 or -errno: then it is to be
 * opened again. Begin with a zeroed structure. */
int pt_collect_parts_open(pt_collect_files_t *files, pt_collect_parts_t *parts, const char *run_dir,
                          const char *first, uint64_t stream);
bool pt_collect_parts_is_open(const pt_collect_parts_t *parts);
/* 0 or the -errno of an earlier write. */
int pt_collect_parts_close(pt_collect_files_t *files, pt_collect_parts_t *parts);

/* The stream's offset behind the last whole line, or -errno. */
int64_t pt_collect_parts_end(pt_collect_files_t *files, pt_collect_parts_t *parts);
/* Whether the last part is still there, with all up to an offset of the stream. */
bool pt_collect_parts_stand(const pt_collect_parts_t *parts, uint64_t offset);
/* Writes at an offset of the stream in the last part. 0 or -errno; -ESTALE: it does not stand. */
int pt_collect_parts_write(pt_collect_files_t *files, pt_collect_parts_t *parts, uint64_t offset,
                           const void *data, size_t len);
/* Reads from an offset of the stream on, to the end of its part at most. The number of bytes; 0 at
 * the end; -ENODATA: that part was deleted, see next; or -errno. */
int64_t pt_collect_parts_read(pt_collect_files_t *files, pt_collect_parts_t *parts, uint64_t offset,
                              void *out, size_t len);
/* Where the part behind the one of an offset begins. */
uint64_t pt_collect_parts_next(const pt_collect_parts_t *parts, uint64_t offset);
/* Where the last one begins. */
uint64_t pt_collect_parts_base(const pt_collect_parts_t *parts);
/* Appends the copy that a part begins with, the part being that of an offset. 0 or -errno. */
int pt_collect_parts_copy(pt_collect_files_t *files, pt_collect_parts_t *parts, uint64_t offset,
                          perftrace__strbuf_t *out);

/* Begins a part at an offset of the stream, with a copy of these lines. 0 or -errno: then all is as
 * it was, or the next open goes on with the new one. */
int pt_collect_parts_add(pt_collect_files_t *files, pt_collect_parts_t *parts, uint64_t base,
                         const perftrace__strbuf_t *names);
/* Deletes the first ones, so that at most keep (0: any number) are left, and all but the last one
 * have at most bytes (0: any) together. How many were deleted; *ret_bytes of them. */
size_t pt_collect_parts_expire(pt_collect_parts_t *parts, uint64_t keep, uint64_t bytes,
                               uint64_t *ret_bytes);

#endif
