/* run_meta.h: who recorded this. SPDX-License-Identifier: MIT
 *
 * Lies as it is in the header of the ring file, so that a killed run can be finished by anyone:
 * fixed sizes, no pointers, every string NUL-terminated within its array. Append only. */
#ifndef PERFTRACE_RECORD_RUN_META_H
#define PERFTRACE_RECORD_RUN_META_H

#include <stdint.h>

#define PERFTRACE__TOPOLOGY_LIST(X)                                                                \
    X(tp)                                                                                          \
    X(pp)                                                                                          \
    X(dp)                                                                                          \
    X(cp)                                                                                          \
    X(ep)

typedef struct perftrace__run_meta {
    int32_t rank; /* -1 unknown */
    int32_t world_size;
    int32_t local_rank;
#define X(name) int32_t name; /* -1 unset */
    PERFTRACE__TOPOLOGY_LIST(X)
#undef X
    uint32_t pid;
    uint32_t clock_kind;    /* PERFTRACE__CLOCK_ */
    uint64_t process_start; /* perftrace__os_process_start(pid) */
    uint64_t epoch_ns;      /* realtime at ts 0 */
    uint64_t mono_ns;       /* CLOCK_MONOTONIC_RAW at ts 0 */
    char run_id[64];
    char role[2048];
    char experiment[2048]; /* "" none, like the others */
    char trial[2048];
    char host[256];
    char boot_id[40];
    char launcher[32];
    char trace_path[4096];
    uint64_t pid_namespace; /* perftrace__os_pid_namespace: pid means something only in there */
} perftrace__run_meta_t;

enum {
    PERFTRACE__CLOCK_MONO = 0, /* clock_gettime(CLOCK_MONOTONIC_RAW): ticks are ns */
    PERFTRACE__CLOCK_TSC = 1,
    PERFTRACE__CLOCK_CNTVCT = 2
};

#endif
