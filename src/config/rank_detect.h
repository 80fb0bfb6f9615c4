/* rank_detect.h: rank, size and run from a launcher's variables. SPDX-License-Identifier: MIT
 *
 * Launchers are tried from the most deliberate to the most incidental: torchrun (also started below
 * mpirun or srun), Open MPI, MVAPICH2, PMIx, PMI (MPICH, Hydra, Intel MPI), Slurm. The first one
 * with a usable rank decides; later ones fill in the world size or local rank it does not give, but
 * only where they agree on the rank.
 *
 * Slurm counts only inside a step that srun started: a batch script itself runs with SLURM_PROCID=0
 * and SLURM_NTASKS=8, so everything it starts without srun would call itself rank 0 of 8. Such a
 * script has no SLURM_STEP_ID, or one of the reserved numbers (0xfffffff0 and up). */
#ifndef PERFTRACE_RANK_DETECT_H
#define PERFTRACE_RANK_DETECT_H

#include "strbuf.h"

/* The value of an environment variable, or NULL; user as given. */
typedef const char *(*perftrace__getenv_fn)(const char *name, void *user);

typedef struct perftrace__rank_info {
    int rank, world_size, local_rank; /* -1 unknown */
    const char *launcher;             /* "torchrun", "Slurm", ...; "" when none was found */
    char run_id[192];                 /* the same in all ranks of one launch, or "" */
} perftrace__rank_info_t;

/* Fills *ret from the variables. Values that are no numbers and sizes that do not exceed the rank
 * are ignored, each with a message to msgs (may be NULL). Pure but for get. */
void perftrace__rank_detect(perftrace__getenv_fn get, void *user, perftrace__rank_info_t *ret,
                            perftrace__strbuf_t *msgs);

#endif
