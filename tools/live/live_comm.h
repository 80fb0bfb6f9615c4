/* live_comm.h: which scopes wait for other ranks. SPDX-License-Identifier: MIT
 *
 * A scope does when its category is one of those for communication ("comm", and what the user
 * adds), or when its name is that of an operation: the last word behind '.', ':' or '/', without
 * nccl, rccl, hccl or mpi in front and case, '_' and '-' aside, so that "all_reduce",
 * "ncclAllReduce", "MPI_Allreduce" and "dist.all_reduce" are the same. Pure. */
#ifndef PERFTRACE_LIVE_LIVE_COMM_H
#define PERFTRACE_LIVE_LIVE_COMM_H

#include "live_model.h"
#include "string_list.h"

/* X(name, COLLECTIVE or PEER). Names as they are after the above. */
#define PT_LIVE_OPERATION_LIST(X)                                                                  \
    X(allreduce, COLLECTIVE)                                                                       \
    X(allgather, COLLECTIVE)                                                                       \
    X(allgatherv, COLLECTIVE)                                                                      \
    X(allgatherintotensor, COLLECTIVE)                                                             \
    X(allgatherobject, COLLECTIVE)                                                                 \
    X(reducescatter, COLLECTIVE)                                                                   \
    X(reducescattertensor, COLLECTIVE)                                                             \
    X(reducescatterblock, COLLECTIVE)                                                              \
    X(alltoall, COLLECTIVE)                                                                        \
    X(alltoallv, COLLECTIVE)                                                                       \
    X(alltoallsingle, COLLECTIVE)                                                                  \
    X(broadcast, COLLECTIVE)                                                                       \
    X(broadcastobjectlist, COLLECTIVE)                                                             \
    X(bcast, COLLECTIVE)                                                                           \
    X(barrier, COLLECTIVE)                                                                         \
    X(monitoredbarrier, COLLECTIVE)                                                                \
    X(reduce, COLLECTIVE)                                                                          \
    X(gather, COLLECTIVE)                                                                          \
    X(scatter, COLLECTIVE)                                                                         \
    X(scan, COLLECTIVE)                                                                            \
    X(exscan, COLLECTIVE)                                                                          \
    X(send, PEER)                                                                                  \
    X(recv, PEER)                                                                                  \
    X(isend, PEER)                                                                                 \
    X(irecv, PEER)                                                                                 \
    X(sendrecv, PEER)                                                                              \
    X(batchisendirecv, PEER)

typedef struct pt_live_rules {
    const pt_string_list_t *names;      /* more names of collectives, globs, matched with case */
    const pt_string_list_t *categories; /* more categories */
} pt_live_rules_t;

pt_live_comm_t pt_live_comm_of(const pt_live_rules_t *rules, const char *name,
                               const char *category);

#endif
