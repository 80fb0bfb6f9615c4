/* paths.h: from operands to the list of input files. SPDX-License-Identifier: MIT
 *
 * An operand is a file, a directory (searched with everything below it), a glob (only when no file
 * has that very name; knows * ? [] and ** for any number of directories) or "-". Not thread-safe.
 */
#ifndef PERFTRACE_COMMON_PATHS_H
#define PERFTRACE_COMMON_PATHS_H

#include "compiler.h"
#include "exit_code.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Says whether a file met in a directory is wanted. name is the last part of the path. */
typedef bool (*pt_path_filter_fn)(const char *name, void *ctx);

typedef struct pt_path {
    char *name;    /* as to be opened, and shown if nothing else is; "-" is standard input */
    char *shown;   /* NULL: name */
    uint64_t size; /* bytes on disk; 0 when not a regular file */
    dev_t device;  /* device and inode name the file whatever path leads to it */
    ino_t inode;
    bool regular; /* a regular file: can be read at any offset */
    bool is_stdin;
    bool named;           /* an operand (or a glob) named it; false: found in a directory */
    struct pt_path *more; /* files that go on where it ends (path_parts.h), in their order */
    size_t more_count;
    char *cut; /* of a copy: what ended its original early (input.h); NULL: nothing */
} pt_path_t;

typedef struct pt_paths {
    pt_path_t *items; /* in natural order of the names, each file once */
    size_t count;
    size_t cap;
} pt_paths_t;

#define PT_PATHS_INIT                                                                              \
    { NULL, 0, 0 }

typedef struct pt_paths_request {
    pt_path_filter_fn filter; /* for files met in directories; NULL takes all */
    void *filter_ctx;
    const char *looked_for; /* "traces-*.jsonl or *.json": named when a directory holds none */
    bool refuse_stdin;      /* "-" is an error */
    bool may_be_empty;      /* a directory that holds none is not wrong */
    bool quiet;             /* nothing is told: for a look that is repeated */
} pt_paths_request_t;

/* Collects the inputs that the operands name. Everything that is wrong is told by pt_error, not
 * only the first: a missing file, a glob without a match, a directory without a wanted file, a file
 * that cannot be opened for reading. Hidden files and directories below an operand are left out;
 * directories that cannot be read are warned of. The same file reached twice is taken once. Returns
 * PT_EXIT_OK, PT_EXIT_INPUT (something was wrong; *ret_paths has the rest), PT_EXIT_INTERNAL (no
 * memory). The caller frees *ret_paths in every case. Blocks on the file system. */
pt_exit_t pt_paths_collect(const pt_paths_request_t *request, char *const *operands, size_t count,
                           pt_paths_t *ret_paths);
void pt_paths_free(pt_paths_t *paths); /* accepts NULL; empty and usable again */
void pt_path_free(pt_path_t *path);    /* what one item holds */

/* What to call it. Lives as long as it. */
static inline const char *pt_path_shown(const pt_path_t *path) {
    return path->is_stdin ? "standard input" : path->shown != NULL ? path->shown : path->name;
}

/* Whether this is one of the regular files, or goes on where one of them ends. paths may be NULL.
 */
bool pt_paths_have(const pt_paths_t *paths, dev_t device, ino_t inode);

/* Whether a file that an option names can be read, as far as can be seen before; false: told. NULL
 * and "": none is named. */
bool pt_path_can_read(const char *option, const char *file);

/* Sum of the sizes; 0 when any is not known (no percentage can then be shown). */
uint64_t pt_paths_total_size(const pt_paths_t *paths);

/* Whether text holds a character that is special in a glob. Pure. */
bool pt_glob_is_pattern(const char *text);

#endif
