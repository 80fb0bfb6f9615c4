/* output.h: an output that is there whole or not at all. SPDX-License-Identifier: MIT
 *
 * Bytes go to ".NAME.PID.tmp" beside the target, which commit renames; until then nothing is to be
 * seen under the target's name, and after an abort nothing under either. "-" and targets that are
 * no regular file (/dev/null, a FIFO) are written straight through. A symbolic link stays one: the
 * file it leads to is replaced. One output belongs to one thread at a time. */
#ifndef PERFTRACE_COMMON_OUTPUT_H
#define PERFTRACE_COMMON_OUTPUT_H

#include "compiler.h"
#include "paths.h"
#include "strbuf.h"

#include <stdbool.h>

typedef struct pt_output pt_output_t;

typedef struct pt_output_options {
    const pt_paths_t *inputs; /* the target must be none of these files; NULL: not checked */
    bool sync;                /* fsync file and directory at commit */
    bool no_replace;          /* an existing target is an error */
    size_t buffer_size;       /* 0: 256 KiB */
} pt_output_options_t;

/* Opens. options may be NULL. 0, or a negative errno with a sentence appended to ret_problem (may
 * be NULL) that says what is wrong, without the target's name: "is one of the inputs", "Permission
 * denied", "there is no directory OUT". Ignores SIGPIPE for the whole process from here on, so that
 * a reader that went away is an error of the write. */
int pt_output_open(const char *path, const pt_output_options_t *options, pt_output_t **ret_output,
                   perftrace__strbuf_t *ret_problem);

/* Takes len bytes: small pieces are collected, large ones go to the system at once. 0, or -1:
 * nothing more will be written and pt_output_problem says why. Blocks as write does. */
int pt_output_write(pt_output_t *output, const void *data, size_t len);

/* Writes what is left, puts the file under its name, and frees the output. 0 or a negative errno;
 * on failure nothing is left under either name (an older target is untouched) and a sentence is
 * appended to ret_problem (may be NULL). */
int pt_output_commit(pt_output_t *output, perftrace__strbuf_t *ret_problem);
/* Removes what was written and frees the output. Accepts NULL. */
void pt_output_abort(pt_output_t *output);

/* Whether two paths name one target, which may not be there yet. False also where that cannot be
 * told. */
bool pt_output_is_same(const char *path, const char *other);

const char *pt_output_name(const pt_output_t *output);    /* the path; "standard output" for "-" */
uint64_t pt_output_offset(const pt_output_t *output);     /* bytes taken so far */
const char *pt_output_problem(const pt_output_t *output); /* "" while all is well */

/* Removes the temporary files of all open outputs when SIGINT, SIGTERM or SIGHUP arrives; the
 * process then dies of that signal. Signals that are ignored stay ignored. Call once, from main. */
void pt_output_catch_signals(void);

#endif
