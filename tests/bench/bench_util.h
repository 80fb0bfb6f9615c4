/* bench_util.h: what the benchmark programs share. SPDX-License-Identifier: MIT
 *
 * Every program measures a floor and the library in turn, in rounds, and prints for each figure
 *     RESULT <tab> figure <tab> value of round 1 <tab> value of round 2 ...
 *     DETAIL <tab> figure <tab> words for the reader
 * table.awk makes the table out of these lines. Programs are single files; all of this is static.
 */
#ifndef BENCH_UTIL_H
#define BENCH_UTIL_H

#include <perftrace/perftrace.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BENCH_ROUNDS_MAX 99

/* Keeps the compiler from moving or removing what makes a value. */
#define BENCH_KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")
#define BENCH_NOINLINE    __attribute__((noinline, unused))

typedef struct bench_args {
    unsigned rounds;
    long count;      /* 0: the program's own */
    const char *dir; /* where trace files go */
} bench_args_t;

static inline _Noreturn void bench_die(const char *what) {
    fprintf(stderr, "bench: %s: %s\n", what, errno ? strerror(errno) : "failed");
    exit(1);
}

/* --rounds N --count N --dir DIR, in any order; anything else ends the program. */
static inline bench_args_t bench_args(int argc, char **argv) {
    bench_args_t a = {.rounds = 5, .count = 0, .dir = "."};
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value && strcmp(argv[i], "--rounds") == 0) {
            a.rounds = (unsigned)strtoul(value, NULL, 10);
        } else if (value && strcmp(argv[i], "--count") == 0) {
            a.count = strtol(value, NULL, 10);
        } else if (value && strcmp(argv[i], "--dir") == 0) {
            a.dir = value;
        } else {
            fprintf(stderr, "usage: %s [--rounds N] [--count N] [--dir DIR]\n", argv[0]);
            exit(2);
        }
    }
    if (a.rounds < 1 || a.rounds > BENCH_ROUNDS_MAX) {
        fprintf(stderr, "bench: rounds: 1 to %d\n", BENCH_ROUNDS_MAX);
        exit(2);
    }
    return a;
}

static inline uint64_t bench_ticks(void) {
    return perftrace_i_clock();
}

/* The floor of a scope: n pairs of clock reads; their ticks. */
static BENCH_NOINLINE uint64_t bench_floor_pair(long n) {
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        uint64_t a = bench_ticks();
        BENCH_KEEP(a);
        uint64_t b = bench_ticks();
        BENCH_KEEP(b);
    }
    return bench_ticks() - begin;
}

static inline double bench_seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Nanoseconds a tick of the processor's counter, measured once over 50 ms. */
static inline double bench_tick_ns(void) {
    static double ns;
    if (ns == 0) {
        double s0 = bench_seconds(CLOCK_MONOTONIC);
        uint64_t t0 = bench_ticks();
        double s1;
        do {
            s1 = bench_seconds(CLOCK_MONOTONIC);
        } while (s1 - s0 < 0.05);
        ns = (s1 - s0) * 1e9 / (double)(bench_ticks() - t0);
    }
    return ns;
}

/* Pins the calling thread, and only it, to the n-th processor that the process may use. Called
 * after perftrace_init, so that the library's own thread stays free to run elsewhere. */
static inline void bench_pin(unsigned n) {
    static cpu_set_t allowed;
    static bool known;
    if (!known) {
        known = true;
        if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
            bench_die("sched_getaffinity");
        }
    }
    unsigned left = n % (unsigned)CPU_COUNT(&allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && left-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            if (pthread_setaffinity_np(pthread_self(), sizeof(one), &one) != 0) {
                bench_die("pthread_setaffinity_np");
            }
            return;
        }
    }
}

static inline int bench_compare(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value at a share (0.5: median) of n values, which are sorted by the call. */
static inline double bench_percentile(double *values, size_t n, double share) {
    qsort(values, n, sizeof(*values), bench_compare);
    size_t at = (size_t)((double)n * share);
    return values[at < n ? at : n - 1];
}

static inline void bench_result(const char *figure, const double *values, unsigned n) {
    printf("RESULT\t%s", figure);
    for (unsigned i = 0; i < n; i++) {
        printf("\t%.4g", values[i]);
    }
    printf("\n");
    fflush(stdout);
}

__attribute__((format(printf, 2, 3))) static inline void bench_detail(const char *figure,
                                                                      const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    printf("DETAIL\t%s\t", figure);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    fflush(stdout);
}

/* The least that a scope can be: two clock reads, one record of 32 bytes into memory of the
 * thread's own, one word that publishes it. */
#define BENCH_RING_WORDS (1u << 17)
typedef struct bench_ring {
    uint64_t head;
    uint64_t limit;
    uint64_t pad[6];
    uint64_t words[BENCH_RING_WORDS];
} bench_ring_t;

static __thread bench_ring_t *bench_own_ring;

static inline void bench_ring_make(void) {
    bench_own_ring = malloc(sizeof(*bench_own_ring));
    if (!bench_own_ring) {
        bench_die("a ring");
    }
    memset(bench_own_ring, 0x11, sizeof(*bench_own_ring)); /* its pages are there */
    bench_own_ring->head = 0;
    bench_own_ring->limit = UINT64_MAX;
}

static inline void bench_ring_scope(void) {
    bench_ring_t *r = bench_own_ring;
    uint64_t a = bench_ticks();
    BENCH_KEEP(a);
    uint64_t b = bench_ticks();
    uint64_t head = r->head;
    if (head + 4 <= r->limit) {
        uint64_t *record = r->words + head % BENCH_RING_WORDS;
        record[0] = BENCH_RING_WORDS;
        record[1] = a;
        record[2] = b;
        record[3] = 0;
        __atomic_store_n(&r->head, head + 4, __ATOMIC_RELEASE);
    }
}

/* Nanoseconds that two clock reads take in a loop. */
static inline double bench_hot_pair_ns(void) {
    double batch[101];
    for (int i = 0; i < 101; i++) {
        uint64_t begin = bench_ticks();
        for (int j = 0; j < 2000; j++) {
            uint64_t t = bench_ticks();
            BENCH_KEEP(t);
        }
        batch[i] = (double)(bench_ticks() - begin) / 1000;
    }
    return bench_percentile(batch, 101, 0.5) * bench_tick_ns();
}

static inline void bench_log(int level, const char *message, void *user) {
    (void)user;
    if (level < PERFTRACE_LOG_NOTE) {
        fprintf(stderr, "bench: perftrace says: %s\n", message);
    }
}

/* Starts tracing into dir with the defaults, except that nothing is written before it is asked for
 * when quiet: the library's thread must not run inside a timed batch. */
static inline void bench_start(perftrace_config_t *config, const char *dir, bool quiet) {
    config->dir = dir;
    config->log = bench_log;
    config->flush_ms = quiet ? 60000 : config->flush_ms;
    if (perftrace_init(config) != 0) {
        fprintf(stderr, "bench: tracing could not be started in %s\n", dir);
        exit(1);
    }
}

/* Everything emitted so far is in the file. Ends the program unless exactly `expected` events came
 * since the last call: otherwise something else than recording was measured. */
static inline void bench_save(long expected) {
    static uint64_t before;
    perftrace_stats_t stats = {.struct_size = sizeof(stats)};
    if (perftrace_save(-1, 0) != 0 || perftrace_get_stats(&stats) != 0) {
        fprintf(stderr, "bench: saving failed\n");
        exit(1);
    }
    if (stats.written - before != (uint64_t)expected) {
        fprintf(stderr, "bench: %llu events were written where %ld were emitted\n",
                (unsigned long long)(stats.written - before), expected);
        exit(1);
    }
    before = stats.written;
}

#endif
