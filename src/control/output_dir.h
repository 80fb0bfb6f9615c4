/* output_dir.h: the directory that a request asks for. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONTROL_OUTPUT_DIR_H
#define PERFTRACE_CONTROL_OUTPUT_DIR_H

#include "strbuf.h"

#include <stdbool.h>

typedef enum perftrace__output_dir_result {
    PERFTRACE__OUTPUT_DIR_OK,
    PERFTRACE__OUTPUT_DIR_OUTSIDE, /* it is not below the root */
    PERFTRACE__OUTPUT_DIR_FAILED   /* it cannot be made, or there is no memory */
} perftrace__output_dir_result_t;

/* Appends the path of `asked` to ret_path: a path below root, or an absolute one that begins with
 * it. No component may be "..", and none below the root a symbolic link: a client does not choose
 * beyond the root where files go. make: root and directory are made where they are absent. Blocks
 * for the disk. Else ret_problem says why not. */
perftrace__output_dir_result_t perftrace__output_dir_find(const char *root, const char *asked,
                                                          bool make, perftrace__strbuf_t *ret_path,
                                                          perftrace__strbuf_t *ret_problem);

#endif
