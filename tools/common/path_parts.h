/* path_parts.h: traces that lie in several files. SPDX-License-Identifier: MIT
 *
 * perf-trace-collect ends a file by size or time and goes on in traces-r3.part2.jsonl, part3 and so
 * on, each beginning with a copy of the first line (docs/COLLECT.md). They are one trace. */
#ifndef PERFTRACE_COMMON_PATH_PARTS_H
#define PERFTRACE_COMMON_PATH_PARTS_H
#include "input.h"
#include "paths.h"

/* Takes the parts of a trace together: the first of them that is there stays in the list, the
 * others come to be its `more`. Parts are of one directory and name, and begin with the same line.
 * What is missing in between is warned of. Reads the beginning of files whose names say that they
 * are parts, and of those that they follow. PT_EXIT_OK, or PT_EXIT_INTERNAL without
 * memory (told). Blocks on the file system. */
pt_exit_t pt_path_parts_join(pt_paths_t *paths);

/* How an input of a path with parts is opened. */
static inline pt_input_options_t pt_path_parts_input(const pt_path_t *path) {
    return (pt_input_options_t){
        .more = path->more, .more_count = path->more_count, .cut = path->cut};
}

/* Which part a file name says it is, from 2 on; 1: none, or the first. *ret_stem_len: the length of
 * what stands before ".partN" and before the ending (".jsonl" or ".jsonl.gz"). 0: parts have no
 * such names. Pure. */
unsigned pt_path_parts_number(const char *name, size_t *ret_stem_len);

#endif
