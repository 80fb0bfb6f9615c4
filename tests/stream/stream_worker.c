/* stream_worker.c: a traced process that forwards. SPDX-License-Identifier: MIT
 *
 * stream_worker EVENTS RATE THREADS [fork] [sessions] [hold]: each thread makes EVENTS events, RATE
 * a second (0: as fast as it can). fork: a child makes as many after the first half. sessions: each
 * hundredth event is a session too. hold: waits for the end of standard input before it ends.
 * end: makes none any more from then on.
 * Prints one JSON line: the status of the shutdown. */
#include <perftrace/perftrace.h>
#include <perftrace/session.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long events;
static long rate;
static bool with_sessions;
static atomic_bool over;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *produce(void *arg) {
    (void)arg;
    const double begin = now();
    for (long i = 0; i < events && !atomic_load(&over); i++) {
        if (rate && i % 100 == 0) {
            double ahead = (double)i / (double)rate - (now() - begin);
            if (ahead > 0.001) {
                usleep((useconds_t)(ahead * 1e6));
            }
        }
        PERFTRACE_SCOPE("work", "compute", PERFTRACE_INT("i", i));
        if (with_sessions && i % 100 == 0) {
            int64_t session = perftrace_session_register(PERFTRACE_NO_ID);
            perftrace_session_finalize(session, PERFTRACE_ACCEPTED, NULL);
        }
    }
    return NULL;
}

/* Ends when standard input does. */
static void *wait_for_end(void *arg) {
    while (getchar() != EOF) {
    }
    atomic_store(&over, true);
    return arg;
}

static void produce_all(long threads) {
    pthread_t t[64];
    for (long i = 0; i < threads; i++) {
        pthread_create(&t[i], NULL, produce, NULL);
    }
    for (long i = 0; i < threads; i++) {
        pthread_join(t[i], NULL);
    }
}

int main(int argc, char **argv) {
    bool forks = false;
    bool holds = false;
    bool ends = false;
    if (argc < 4) {
        return 2;
    }
    events = strtol(argv[1], NULL, 10);
    rate = strtol(argv[2], NULL, 10);
    const long threads = strtol(argv[3], NULL, 10);
    for (int i = 4; i < argc; i++) {
        forks = forks || strcmp(argv[i], "fork") == 0;
        with_sessions = with_sessions || strcmp(argv[i], "sessions") == 0;
        holds = holds || strcmp(argv[i], "hold") == 0;
        ends = ends || strcmp(argv[i], "end") == 0;
    }
    if (threads < 1 || threads > 64 || perftrace_init(NULL) != PERFTRACE_OK) {
        return 1;
    }
    pthread_t waiter;
    if (ends && pthread_create(&waiter, NULL, wait_for_end, NULL) != 0) {
        return 1;
    }
    produce_all(threads);
    if (forks) {
        const pid_t child = fork();
        if (child == 0) {
            produce_all(threads);
            _exit(perftrace_shutdown() == PERFTRACE_OK ? 0 : 1);
        }
        produce_all(threads);
        int status = 1;
        if (waitpid(child, &status, 0) != child || status != 0) {
            return 1;
        }
    }
    if (holds) {
        printf("holding\n");
        fflush(stdout);
        while (getchar() != EOF) {
        }
    }
    printf("{\"status\": %d}\n", perftrace_shutdown());
    return 0;
}
