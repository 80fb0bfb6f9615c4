/* filter.h: which categories and names are recorded. Pure. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CORE_FILTER_H
#define PERFTRACE_CORE_FILTER_H

#include "compiler.h"
#include "strbuf.h"

#include <stdbool.h>

/* A category as it is recorded: the reference's aliases resolved (communication -> comm,
 * synchronization -> sync, scheduling -> scheduler, instrumentation -> instr, upper and lower case
 * and surrounding blanks ignored), blank or NULL -> "misc", any other text as it is. The result is
 * either static or `category` itself. Source: AReaL's categories. */
const char *perftrace__category_canonical(const char *category);

/* Lists as in perftrace_config_t: "a,b" only these; "-a" all but these; both may be mixed:
 * exclusion wins. NULL or "": everything. categories match whole (after canonical form, any case),
 * names by prefix. name NULL (made at run time) passes every name filter. */
bool perftrace__filter_pass(const char *categories, const char *names, const char *category,
                            const char *name);

#endif
