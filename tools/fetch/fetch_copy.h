/* fetch_copy.h: what lies in the bucket, and its way here. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_FETCH_COPY_H
#define PERFTRACE_TOOL_FETCH_COPY_H

#include "aws_command.h"
#include "fetch_store.h"

/* Asks what lies under the prefix. PT_EXIT_OK, or an exit status with a message. Blocks. */
int pt_fetch_list(const pt_aws_t *aws, pt_bucket_list_t *ret);

/* Copies the wanted objects and what an earlier run left unfinished; after it none is wanted any
 * more, but for a signal (pt_child_signal) or a folder that cannot be written. PT_EXIT_OK, or an
 * exit status with a message. Blocks. */
int pt_fetch_copy(const pt_aws_t *aws, const pt_store_t *store, pt_bucket_list_t *list);

#endif
