/* ctl_files.h: whether traces in a directory are complete. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CTL_FILES_H
#define PERFTRACE_CTL_FILES_H

#include "exit_code.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Waits until `wanted` files of traces that are not older than since_ns (realtime) lie in dir and
 * are complete, at most timeout_ns; says on standard error what it waits for. PT_EXIT_OK;
 * PT_EXIT_PROBLEMS when the time is over (what is missing or incomplete was named);
 * PT_EXIT_INPUT when dir cannot be read. */
pt_exit_t pt_ctl_files_wait(const char *dir, size_t wanted, uint64_t since_ns, uint64_t timeout_ns);

/* Whether the file ends as a complete trace does: a gzip member that inflates to its end, JSON that
 * closes what it opened, lines with a footer. */
bool pt_ctl_file_complete(const char *path);

#endif
