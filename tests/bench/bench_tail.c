/* bench_tail.c: the slow ones among many scopes. SPDX-License-Identifier: MIT
 *
 * One scope each 10 us on average, timed from outside by two clock reads. Between two scopes a
 * window with nothing but a pair of clock reads and one with the least that a scope can be are
 * timed the same way: what the machine does to those it does to any code. The distance varies at
 * random, since the kernel's timer runs at a multiple of 10 us: in step with it, its interrupt hits
 * either every window or none. */
#include "bench_util.h"

#define COUNT_DEFAULT 200000
#define PERIOD_NS     10000.0

/* True when the processor was elsewhere meanwhile: caches and translations are not the thread's own
 * then. */
static bool wait_until(uint64_t ticks) {
    static const double gap_ns = 400;
    uint64_t gap = (uint64_t)(gap_ns / bench_tick_ns());
    bool interrupted = false;
    uint64_t before = bench_ticks();
    while (before < ticks) {
        uint64_t now = bench_ticks();
        interrupted |= now - before > gap;
        before = now;
    }
    return interrupted;
}

static BENCH_NOINLINE uint64_t window_pair(void) {
    uint64_t begin = bench_ticks();
    BENCH_KEEP(begin);
    uint64_t a = bench_ticks();
    BENCH_KEEP(a);
    uint64_t b = bench_ticks();
    BENCH_KEEP(b);
    return bench_ticks() - begin;
}

static BENCH_NOINLINE uint64_t window_ring(void) {
    uint64_t begin = bench_ticks();
    BENCH_KEEP(begin);
    bench_ring_scope();
    return bench_ticks() - begin;
}

static BENCH_NOINLINE uint64_t window_scope(void) {
    uint64_t begin = bench_ticks();
    BENCH_KEEP(begin);
    {
        PERFTRACE_SCOPE("bench.tail", "bench");
        BENCH_KEEP(begin);
    }
    return bench_ticks() - begin;
}

/* 0 to 1, the same sequence in each run. */
static double random_share(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

#define NSHARES 5
static const double shares[NSHARES] = {0.5, 0.99, 0.999, 0.9999, 1};

enum { SCOPE, RING, PAIR, NWINDOWS };

static const struct {
    const char *figure;
    const char *what;
    uint64_t (*window)(void);
} kinds[NWINDOWS] = {{"tail", "a scope and one read", window_scope},
                     {"tail.smallest_ring", "the same of the smallest ring scope", window_ring},
                     {"tail.pair", "the same of a pair of clock reads", window_pair}};

/* [kind][share][round] */
static double ns_at[NWINDOWS][NSHARES][BENCH_ROUNDS_MAX];

static void say(int kind, unsigned rounds) {
    double m[NSHARES];
    for (int i = 0; i < NSHARES; i++) {
        m[i] = bench_percentile(ns_at[kind][i], rounds, 0.5);
    }
    bench_detail(kinds[kind].figure, "%s: p50 %.0f, p99 %.0f, p99.9 %.0f, p99.99 %.0f, max %.0f ns",
                 kinds[kind].what, m[0], m[1], m[2], m[3], m[4]);
}

int main(int argc, char **argv) {
    static double ratio[NWINDOWS][BENCH_ROUNDS_MAX];
    static double undisturbed_ratio[BENCH_ROUNDS_MAX];
    double *ns[NWINDOWS];
    long disturbed = 0;
    bench_args_t a = bench_args(argc, argv);
    size_t count = a.count ? (size_t)a.count : COUNT_DEFAULT;
    for (int kind = 0; kind < NWINDOWS; kind++) {
        ns[kind] = malloc(count * sizeof(double));
        if (!ns[kind]) {
            bench_die("memory");
        }
        memset(ns[kind], 1, count * sizeof(double)); /* its pages are there */
    }
    double *undisturbed = malloc(count * sizeof(double));
    if (!undisturbed) {
        bench_die("memory");
    }
    memset(undisturbed, 1, count * sizeof(double));
    bench_ring_make();
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    bench_start(&config, a.dir, false);
    bench_pin(0);
    double tick_ns = bench_tick_ns();
    window_scope();
    for (unsigned round = 0; round < a.rounds; round++) {
        double pair = bench_hot_pair_ns();
        uint64_t next = bench_ticks();
        size_t nundisturbed = 0;
        for (size_t i = 0; i < count; i++) {
            double part = PERIOD_NS / NWINDOWS / tick_ns * (0.5 + random_share());
            /* After an interruption the lost slots are not made up for in a burst. */
            next = next > bench_ticks() ? next : bench_ticks();
            bool interrupted = false;
            for (int kind = NWINDOWS - 1; kind >= 0; kind--) {
                next += (uint64_t)part;
                interrupted |= wait_until(next);
                ns[kind][i] = (double)kinds[kind].window() * tick_ns;
            }
            if (!interrupted) {
                undisturbed[nundisturbed++] = ns[SCOPE][i];
            }
        }
        for (int kind = 0; kind < NWINDOWS; kind++) {
            for (int s = 0; s < NSHARES; s++) {
                ns_at[kind][s][round] = bench_percentile(ns[kind], count, shares[s]);
            }
            ratio[kind][round] = ns_at[kind][2][round] / pair;
        }
        undisturbed_ratio[round] = bench_percentile(undisturbed, nundisturbed, shares[2]) / pair;
        disturbed += (long)(count - nundisturbed);
    }
    bench_save((long)(a.rounds * count + 1));
    for (int kind = 0; kind < NWINDOWS; kind++) {
        bench_result(kinds[kind].figure, ratio[kind], a.rounds);
        say(kind, a.rounds);
        free(ns[kind]);
    }
    bench_result("tail.undisturbed", undisturbed_ratio, a.rounds);
    bench_detail("tail.undisturbed",
                 "as tail, without %.2f %% of the scopes: those in whose 10 us "
                 "the processor was elsewhere",
                 100.0 * (double)disturbed / (double)a.rounds / (double)count);
    free(undisturbed);
    free(bench_own_ring);
    return perftrace_shutdown() ? 1 : 0;
}
