/* output_target.h: where an output really goes. SPDX-License-Identifier: MIT
 *
 * Below output.c only. */
#ifndef PERFTRACE_COMMON_OUTPUT_TARGET_H
#define PERFTRACE_COMMON_OUTPUT_TARGET_H

#include "compiler.h"

#include <stdbool.h>

typedef struct pt_output_target {
    int fd;       /* an open descriptor that was named ("-", /dev/stdout, /dev/fd/N); else -1 */
    char *path;   /* with symbolic links at its end followed; NULL with fd */
    char *folder; /* the directory of path; "." for a bare name */
} pt_output_target_t;

/* Follows symbolic links at the end of path, also to a file that does not exist yet. 0 or a
 * negative errno (-ENOENT for ""); free in every case. */
int pt_output_target_resolve(const char *path, pt_output_target_t *ret_target);
void pt_output_target_free(pt_output_target_t *target);

/* Whether both are one file, or would be once they are written. */
bool pt_output_target_is_same(const pt_output_target_t *target, const pt_output_target_t *other);

/* The name of a temporary file beside the target, ".NAME.PID.tmp", or ".NAME.PID.ATTEMPT.tmp"; NAME
 * is cut where the whole would be too long for a file system. malloc'ed; NULL without memory. */
char *pt_output_target_temp(const pt_output_target_t *target, uint32_t pid, unsigned attempt);

#endif
