/* 08_hang.c: a rank of a job that hangs: all but rank 2 come to the all-reduce. examples/hang.sh
 * starts four of them and looks at them with perf-trace-live. SPDX-License-Identifier: MIT */
#include <perftrace/perftrace.h>

#include <stdlib.h>
#include <unistd.h>

static void wait_for_ever(void) {
    for (;;) {
        pause();
    }
}

static void load_batch(long rank, int64_t step) {
    PERFTRACE_SCOPE("load_batch", "io", PERFTRACE_INT("batch", step));
    if (rank == 2 && step == 3) {
        wait_for_ever(); /* the queue is empty, and nobody fills it */
    }
}

/* Stands for a collective: it ends when everybody has come. */
static void all_reduce(int64_t step) {
    PERFTRACE_SCOPE("all_reduce", "comm");
    if (step == 3) {
        wait_for_ever();
    }
}

int main(void) {
    const char *rank = getenv("RANK");
    perftrace_init(NULL);
    for (int64_t step = 0;; step++) {
        PERFTRACE_STEP(step);
        PERFTRACE_SCOPE("train.step", "compute");
        load_batch(rank ? strtol(rank, NULL, 10) : 0, step);
        all_reduce(step);
    }
}
