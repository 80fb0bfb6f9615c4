/* back_end.h: what records in windows. SPDX-License-Identifier: MIT
 *
 * One table. An entry makes its state from the options and gives the functions that a program's own
 * back end has as well (perftrace/profiler.h), with that state as `user`. A start that fails leaves
 * the reason for describe. */
#ifndef PERFTRACE_PROFILER_BACK_END_H
#define PERFTRACE_PROFILER_BACK_END_H

#include "compiler.h"

#include <perftrace/profiler.h>

typedef struct perftrace__back_end {
    perftrace_profiler_back_end_t calls;                        /* user is NULL */
    void *(*open)(const perftrace_profiler_options_t *options); /* NULL without memory */
    void (*close)(void *user);
    unsigned activities; /* PERFTRACE_PROFILER_CPU, _GPU; 0: what calls.gpu says */
} perftrace__back_end_t;

/* NULL: there is none of that name. */
const perftrace__back_end_t *perftrace__back_end_find(const char *name, size_t len);
/* The names, parted by blanks, for messages. */
const char *perftrace__back_end_names(void);

/* The table's entries, one a file or two. */
extern const perftrace__back_end_t perftrace__back_end_self;
extern const perftrace__back_end_t perftrace__back_end_cuda;
extern const perftrace__back_end_t perftrace__back_end_roc;
extern const perftrace__back_end_t perftrace__back_end_perf;
extern const perftrace__back_end_t perftrace__back_end_nvtx;

#endif
