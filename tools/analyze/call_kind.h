/* call_kind.h: what a call of the device's runtime does, by its name. SPDX-License-Identifier: MIT
 *
 * Pure. */
#ifndef PERFTRACE_ANALYZE_CALL_KIND_H
#define PERFTRACE_ANALYZE_CALL_KIND_H
#include "trace_event.h"

typedef enum pt_call_kind {
    PT_CALL_KNOWN = 1,      /* it was looked at */
    PT_CALL_HANDS_OVER = 2, /* work: others have correlations, too */
    PT_CALL_KERNEL = 4,     /* that work is one kernel */
    PT_CALL_GRAPH = 8,      /* it is a CUDA graph */
    PT_CALL_WAITS = 16      /* for the device */
} pt_call_kind_t;

/* All that fits, PT_CALL_KNOWN among it. */
unsigned pt_call_kinds(pt_str_t name);

#endif
