/* ranks_mpi.c: ranks that mpirun has started. SPDX-License-Identifier: MIT */
#include "ranks.h"

#include <mpi.h>
#include <stdio.h>

struct ranks {
    int rank, size;
};

int ranks_run(int wanted, size_t largest, int (*body)(ranks_t *ranks, void *user), void *user) {
    (void)wanted;
    (void)largest;
    int provided = 0;
    /* The loader threads never call MPI. */
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        fprintf(stderr, "MPI does not start\n");
        return 1;
    }
    ranks_t ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
    int status = body(&ranks, user);
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}

int ranks_rank(const ranks_t *ranks) {
    return ranks->rank;
}

int ranks_size(const ranks_t *ranks) {
    return ranks->size;
}

void ranks_mean(ranks_t *ranks, float *values, size_t count) {
    MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < count; i++) {
        values[i] /= (float)ranks->size;
    }
}
