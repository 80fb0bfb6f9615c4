/* trace_name.h: names that say what is in a file. SPDX-License-Identifier: MIT
 *
 * Pure but for the time zone. The public functions are declared in perftrace/profiler.h. */
#ifndef PERFTRACE_PROFILER_TRACE_NAME_H
#define PERFTRACE_PROFILER_TRACE_NAME_H

#include "compiler.h"

#include <perftrace/profiler.h>
#include <stdbool.h>

#define PERFTRACE__EXTENSION_MAX 24

/* The fields of a structure that may be shorter than this library's. False for one without size. */
bool perftrace__trace_name_whole(const perftrace_trace_name_t *name, perftrace_trace_name_t *ret);

/* Whether a label reads as the field of the steps, or as one of those that stand behind the time:
 * a '-' behind it tells it from them. */
bool perftrace__trace_field_step(const char *text, size_t len);
bool perftrace__trace_field_after(const char *text, size_t len);

#endif
