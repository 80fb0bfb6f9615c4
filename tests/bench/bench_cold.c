/* bench_cold.c: a scope when the program has used the caches for its own work.
 * SPDX-License-Identifier: MIT
 *
 * 4 MB are walked before each window that is timed. A window is closed by fences, so that a miss
 * inside it cannot be paid outside. Windows take turns: an empty one, one with a pair of clock
 * reads, one with the least that a scope can be (a ring of one's own), one with a scope. The cost
 * of a scope is its window less the empty one. */
#include "bench_util.h"

#define WALK_BYTES (4u << 20)
#define LINE       64u
#define WINDOWS    2000 /* of each kind in a round */

static unsigned char *memory;

/* Writes, since pages that were only read would all be the one page of zeros. */
static BENCH_NOINLINE void walk(void) {
    for (size_t i = 0; i < WALK_BYTES; i += LINE) {
        memory[i]++;
    }
    BENCH_KEEP(memory);
}

static inline uint64_t window_begin(void) {
#if defined(__x86_64__)
    __asm__ volatile("mfence\n\tlfence" : : : "memory");
    uint64_t t = bench_ticks();
    __asm__ volatile("lfence" : : : "memory");
    return t;
#else
    __asm__ volatile("dsb sy\n\tisb" : : : "memory");
    return bench_ticks();
#endif
}

/* Waits for what was loaded in the window, not for its stores: those are buffered as in a program.
 */
static inline uint64_t window_end(void) {
#if defined(__x86_64__)
    __asm__ volatile("lfence" : : : "memory");
#else
    __asm__ volatile("dsb ld\n\tisb" : : : "memory");
#endif
    return bench_ticks();
}

static BENCH_NOINLINE uint64_t window_empty(void) {
    uint64_t begin = window_begin();
    return window_end() - begin;
}

static BENCH_NOINLINE uint64_t window_pair(void) {
    uint64_t begin = window_begin();
    uint64_t a = bench_ticks();
    BENCH_KEEP(a);
    uint64_t b = bench_ticks();
    BENCH_KEEP(b);
    return window_end() - begin;
}

static BENCH_NOINLINE uint64_t window_scope(void) {
    uint64_t begin = window_begin();
    {
        PERFTRACE_SCOPE("bench.cold", "bench");
        BENCH_KEEP(begin);
    }
    return window_end() - begin;
}

static BENCH_NOINLINE uint64_t window_ring(void) {
    uint64_t begin = window_begin();
    bench_ring_scope();
    return window_end() - begin;
}

/* The window without fences, as a program would time itself: one clock read is in it, and what is
 * still on its way from memory is not. */
static BENCH_NOINLINE uint64_t open_window_scope(void) {
    uint64_t begin = bench_ticks();
    BENCH_KEEP(begin);
    {
        PERFTRACE_SCOPE("bench.cold_open", "bench");
        BENCH_KEEP(begin);
    }
    return bench_ticks() - begin;
}

/* Mean without the slowest and quickest tenth: interruptions are out, and the counter's own steps,
 * which are as long as a clock read on some machines, average out. */
static double trimmed_mean(double *values, size_t n) {
    size_t cut = n / 10;
    double sum = 0;
    bench_percentile(values, n, 0);
    for (size_t i = cut; i < n - cut; i++) {
        sum += values[i];
    }
    return sum / (double)(n - 2 * cut);
}

enum { EMPTY, PAIR, RING, SCOPE, OPEN_SCOPE, NWINDOWS };

/* One round; costs in ticks, of the open window its median. */
static void measure(size_t count, double cost[NWINDOWS]) {
    static uint64_t (*const windows[NWINDOWS])(void) = {window_empty, window_pair, window_ring,
                                                        window_scope, open_window_scope};
    static double ticks[NWINDOWS][WINDOWS];
    for (size_t i = 0; i < count; i++) {
        for (int w = 0; w < NWINDOWS; w++) {
            walk();
            ticks[w][i] = (double)windows[w]();
        }
    }
    bench_save((long)(2 * count));
    cost[EMPTY] = trimmed_mean(ticks[EMPTY], count);
    for (int w = PAIR; w <= SCOPE; w++) {
        cost[w] = trimmed_mean(ticks[w], count) - cost[EMPTY];
    }
    cost[OPEN_SCOPE] = bench_percentile(ticks[OPEN_SCOPE], count, 0.5);
}

int main(int argc, char **argv) {
    static double ratio[NWINDOWS][BENCH_ROUNDS_MAX];
    double open_ns[BENCH_ROUNDS_MAX];
    double scope_ns[BENCH_ROUNDS_MAX];
    bench_args_t a = bench_args(argc, argv);
    size_t count = a.count && a.count < WINDOWS ? (size_t)a.count : WINDOWS;
    memory = calloc(1, WALK_BYTES);
    if (!memory) {
        bench_die("memory");
    }
    bench_ring_make();
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    bench_start(&config, a.dir, true);
    bench_pin(0);
    window_scope();
    open_window_scope();
    bench_save(2);
    for (unsigned round = 0; round < a.rounds; round++) {
        double cost[NWINDOWS];
        double hot = bench_hot_pair_ns() / bench_tick_ns();
        measure(count, cost);
        for (int w = PAIR; w <= SCOPE; w++) {
            ratio[w][round] = cost[w] / hot;
        }
        scope_ns[round] = cost[SCOPE] * bench_tick_ns();
        open_ns[round] = cost[OPEN_SCOPE] * bench_tick_ns();
    }
    bench_result("cold", ratio[SCOPE], a.rounds);
    bench_result("cold.smallest_ring", ratio[RING], a.rounds);
    bench_result("cold.pair", ratio[PAIR], a.rounds);
    bench_detail("cold", "%.1f ns; without fences and with one read more, median %.0f ns",
                 bench_percentile(scope_ns, a.rounds, 0.5),
                 bench_percentile(open_ns, a.rounds, 0.5));
    bench_detail("cold.smallest_ring",
                 "two reads, one record of 32 bytes and its publishing, in the same place");
    bench_detail("cold.pair", "two clock reads in the same place");
    free(memory);
    free(bench_own_ring);
    return perftrace_shutdown() ? 1 : 0;
}
