/* upload_kind.h: what a profiled job uploads, by the names of its files. SPDX-License-Identifier:
 * MIT
 *
 * Pure. The names are those of Ray Data's profiling, whose jobs upload what matches. */
#ifndef PERFTRACE_TOOL_UPLOAD_KIND_H
#define PERFTRACE_TOOL_UPLOAD_KIND_H

#include "compiler.h"

#include <stdbool.h>

/* X(NAME, word, pattern, what such files are). The first pattern that fits counts. */
#define PT_UPLOAD_KINDS(X)                                                                         \
    X(GPU, "gpu", "gpu_usage*", "use of the GPUs over time")                                       \
    X(NET, "net", "net_counters*", "counters of the network over time")                            \
    X(NSYS, "nsys", "nsys_*", "reports of Nsight Systems")                                         \
    X(TORCH, "torch", "torch_profile_*", "traces of torch.profiler, for perf-trace-analyze")       \
    X(GC, "gc", "driver_gc*", "garbage collections of the driver")                                 \
    X(PYSPY, "pyspy", "pyspy_*", "stacks sampled by py-spy, for perf-trace-stacks")                \
    X(PERF, "perf", "perf_*", "stacks sampled by perf, for perf-trace-stacks batch")               \
    X(RESULT, "result", "result*.json", "results of the job")                                      \
    X(STORE, "store", "object_store_state*", "state of the object store over time")                \
    X(ACTORS, "actors", "actor_placement*", "where the actors were placed")                        \
    X(PLASMA, "plasma", "plasma_stats*", "statistics of plasma, the shared memory of objects")

typedef enum pt_upload_kind {
#define X(name, word, pattern, what) PT_UPLOAD_##name,
    PT_UPLOAD_KINDS(X)
#undef X
        PT_UPLOAD_OTHER,
    PT_UPLOAD_COUNT
} pt_upload_kind_t;

/* "gpu"; "other" for what no pattern fits. */
const char *pt_upload_word(pt_upload_kind_t kind);
/* "gpu_usage*"; "*" of other. */
const char *pt_upload_pattern(pt_upload_kind_t kind);
/* The kind of a file, by the last part of its path. */
pt_upload_kind_t pt_upload_kind_of(const char *path);
/* The kind that a word names; PT_UPLOAD_COUNT: none. ret_nearest (may be NULL) then gets the word
 * that may be meant, or NULL. */
pt_upload_kind_t pt_upload_find(const char *word, const char **ret_nearest);

#endif
