/* ranks.h: the processes that train together: by MPI or by fork. SPDX-License-Identifier: MIT */
#ifndef EXAMPLES_TRAIN_RANKS_H
#define EXAMPLES_TRAIN_RANKS_H

#include <stddef.h>

typedef struct ranks ranks_t;

/* Calls body(ranks, user) once in every rank and returns its exit status; the process that started
 * the ranks returns the worst. `wanted` ranks where we start them ourselves (fork); under mpirun
 * it is mpirun that knows. `largest`: most floats of one ranks_mean. */
int ranks_run(int wanted, size_t largest, int (*body)(ranks_t *ranks, void *user), void *user);

int ranks_rank(const ranks_t *ranks);
int ranks_size(const ranks_t *ranks);
/* Replaces values by their mean over all ranks. All ranks call it with the same count, and all get
 * the same bits. */
void ranks_mean(ranks_t *ranks, float *values, size_t count);

#endif
