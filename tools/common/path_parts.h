/* path_parts.h: traces that lie in several files. SPDX-License-Identifier: MIT
 *
 * perf-trace-collect ends a file by size or time and goes on in traces-r3.part2.jsonl, part3 and so
 * on, each beginning with a copy of the first line (docs/COLLECT.md). They are one trace. */
#ifndef PERFTRACE_COMMON_PATH_PARTS_H
#define PERFTRACE_COMMON_PATH_PARTS_H
#include "paths.h"

/* Takes the parts of a trace together: the first of them that is there stays in the list, the
 * others come to be its `more`. Parts are of one directory and name, and begin with the same line.
 * What is missing in between is warned of. Reads the beginning of files whose names say that they
 * are parts, and of those that they follow. False without memory. Blocks on the file system. */
bool pt_path_parts_join(pt_paths_t *paths);

/* Which part a file name says it is, from 2 on; 1: none, or the first. *ret_stem_len: the length of
 * what stands before ".partN" and before the ending (".jsonl" or ".jsonl.gz"). 0: parts have no
 * such names. Pure. */
unsigned pt_path_parts_number(const char *name, size_t *ret_stem_len);

#endif
