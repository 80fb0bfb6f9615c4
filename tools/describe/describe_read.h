/* describe_read.h: a file's own words. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_DESCRIBE_READ_H
#define PERFTRACE_TOOL_DESCRIBE_READ_H

#include "described.h"

#include "exit_code.h"

/* Reads the header of a trace of ours and, where its name does not tell the steps, the steps of its
 * events. Other files are only opened. PT_EXIT_OK; else a message was printed. Blocks. */
pt_exit_t pt_describe_read(pt_described_t *d);

#endif
