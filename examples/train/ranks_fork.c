/* ranks_fork.c: ranks as forked processes that share a piece of memory. SPDX-License-Identifier:
 * MIT
 */
#include "ranks.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct shared {
    pthread_barrier_t barrier;
    float values[]; /* one row of `largest` floats a rank, and one for the result */
} shared_t;

struct ranks {
    int rank, size;
    size_t largest;
    shared_t *shared;
};

/* Waits for all; when one fails the others are stopped, as they would wait for it for ever. */
static int wait_for_all(const pid_t *pids, int count, int worst) {
    for (int left = count; left > 0; left--) {
        if (worst != 0) {
            for (int i = 0; i < count; i++) {
                kill(pids[i], SIGTERM);
            }
        }
        int status = 0;
        if (wait(&status) < 0) {
            return 1;
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            worst = 1;
        }
    }
    return worst;
}

/* What torchrun would have set; the tracer finds its rank there, too. */
static void set_environment(int rank, int size) {
    char text[24];
    snprintf(text, sizeof(text), "%d", rank);
    setenv("RANK", text, 1);
    setenv("LOCAL_RANK", text, 1);
    snprintf(text, sizeof(text), "%d", size);
    setenv("WORLD_SIZE", text, 1);
    snprintf(text, sizeof(text), "fork-%ld", (long)getppid());
    setenv("TORCHELASTIC_RUN_ID", text, 1);
}

int ranks_run(int wanted, size_t largest, int (*body)(ranks_t *ranks, void *user), void *user) {
    const size_t size = (size_t)wanted;
    const size_t bytes = sizeof(shared_t) + (size + 1) * largest * sizeof(float);
    shared_t *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t *pids = calloc(size, sizeof(*pids));
    if (shared == MAP_FAILED || pids == NULL) {
        perror("memory for the ranks");
        free(pids);
        return 1;
    }
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &attributes, (unsigned)wanted);
    pthread_barrierattr_destroy(&attributes);
    int started = 0;
    for (; started < wanted; started++) {
        pids[started] = fork();
        if (pids[started] == 0) {
            free(pids);
            set_environment(started, wanted);
            ranks_t ranks = {started, wanted, largest, shared};
            exit(body(&ranks, user));
        }
        if (pids[started] < 0) {
            perror("fork");
            break;
        }
    }
    const int worst = wait_for_all(pids, started, started == wanted ? 0 : 1);
    free(pids);
    munmap(shared, bytes);
    return worst;
}

int ranks_rank(const ranks_t *ranks) {
    return ranks->rank;
}

int ranks_size(const ranks_t *ranks) {
    return ranks->size;
}

/* Each rank puts its values in, adds up its own share of all rows, and takes the whole result. */
void ranks_mean(ranks_t *ranks, float *values, size_t count) {
    shared_t *shared = ranks->shared;
    const size_t size = (size_t)ranks->size;
    const size_t rank = (size_t)ranks->rank;
    float *result = shared->values + size * ranks->largest;
    for (size_t i = 0; i < count; i++) {
        shared->values[rank * ranks->largest + i] = values[i];
    }
    pthread_barrier_wait(&shared->barrier);
    for (size_t i = rank * count / size; i < (rank + 1) * count / size; i++) {
        float sum = 0.0F;
        for (size_t r = 0; r < size; r++) {
            sum += shared->values[r * ranks->largest + i];
        }
        result[i] = sum / (float)size;
    }
    pthread_barrier_wait(&shared->barrier);
    for (size_t i = 0; i < count; i++) {
        values[i] = result[i];
    }
    /* No third barrier: the next call writes `result` only behind its first one, which nobody
     * passes before everybody has left this loop. */
}
