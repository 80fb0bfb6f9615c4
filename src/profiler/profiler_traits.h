/* profiler_traits.h: what a profiler can do, for those that take requests. SPDX-License-Identifier:
 * MIT */
#ifndef PERFTRACE_PROFILER_PROFILER_TRAITS_H
#define PERFTRACE_PROFILER_PROFILER_TRAITS_H

#include <perftrace/profiler.h>
#include <stdbool.h>

typedef struct perftrace__profiler_traits {
    const char *dir;     /* for its files, absolute; as long as the profiler */
    bool files;          /* a back end writes some */
    bool details;        /* the back end self has categories for windows only */
    unsigned activities; /* PERFTRACE_PROFILER_CPU, _GPU: of its back ends */
} perftrace__profiler_traits_t;

/* They do not change. */
perftrace__profiler_traits_t perftrace__profiler_get_traits(const perftrace_profiler_t *profiler);

#endif
