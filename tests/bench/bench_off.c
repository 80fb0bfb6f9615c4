/* bench_off.c: what a scope costs while tracing is off. SPDX-License-Identifier: MIT
 *
 * The same loop around the same call with and without a scope, in turn. Instructions are counted
 * from outside: --mode runs one loop only, and run.sh lets valgrind count inside its function. */
#include "bench_util.h"

#define BATCH   20000
#define BATCHES 101

/* What stands in a scope: a call that the compiler cannot see into. */
static BENCH_NOINLINE void work(long i) {
    __asm__ volatile("" : : "r"(i) : "memory");
}
static void (*volatile work_at)(long) = work;

static BENCH_NOINLINE uint64_t loop_plain(long n) {
    void (*call)(long) = work_at;
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        call(i);
    }
    return bench_ticks() - begin;
}

static BENCH_NOINLINE uint64_t loop_scope(long n) {
    void (*call)(long) = work_at;
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        PERFTRACE_SCOPE("bench.off", "bench");
        call(i);
    }
    return bench_ticks() - begin;
}

static BENCH_NOINLINE uint64_t loop_args2(long n) {
    void (*call)(long) = work_at;
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        PERFTRACE_SCOPE("bench.off_args", "bench", PERFTRACE_INT("step", i),
                        PERFTRACE_INT("left", n - i));
        call(i);
    }
    return bench_ticks() - begin;
}

static BENCH_NOINLINE uint64_t loop_instant(long n) {
    void (*call)(long) = work_at;
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        PERFTRACE_INSTANT("bench.off_instant", "bench");
        call(i);
    }
    return bench_ticks() - begin;
}

typedef uint64_t (*batch_fn)(long n);

static const struct row {
    const char *mode;
    const char *figure;
    batch_fn batch;
} rows[] = {{"plain", NULL, loop_plain},
            {"scope", "off.ns", loop_scope},
            {"args2", "off.args2.ns", loop_args2},
            {"instant", "off.instant.ns", loop_instant}};
#define NROWS (sizeof(rows) / sizeof(rows[0]))

static void measure(const struct row *r, const bench_args_t *a, long batch) {
    double added[BENCH_ROUNDS_MAX];
    double base[BENCH_ROUNDS_MAX];
    double with[BATCHES];
    double without[BATCHES];
    for (unsigned round = 0; round < a->rounds; round++) {
        for (int i = 0; i < BATCHES; i++) {
            without[i] = (double)loop_plain(batch);
            with[i] = (double)r->batch(batch);
        }
        double scale = bench_tick_ns() / (double)batch;
        base[round] = bench_percentile(without, BATCHES, 0.5) * scale;
        added[round] = bench_percentile(with, BATCHES, 0.5) * scale - base[round];
    }
    bench_result(r->figure, added, a->rounds);
    bench_detail(r->figure, "on a call of %.2f ns", bench_percentile(base, a->rounds, 0.5));
}

/* Tracing that was started and switched off, and whose sites have been seen. */
static void start_and_stop(const char *dir) {
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    bench_start(&config, dir, true);
    for (size_t i = 0; i < NROWS; i++) {
        rows[i].batch(1);
    }
    bench_save(3);
    perftrace_set_enabled(0);
    for (size_t i = 0; i < NROWS; i++) {
        rows[i].batch(1);
    }
    bench_save(0);
}

int main(int argc, char **argv) {
    const char *mode = NULL;
    if (argc > 2 && strcmp(argv[1], "--mode") == 0) {
        mode = argv[2];
        argc -= 2;
        argv += 2;
    }
    bench_args_t a = bench_args(argc, argv);
    long batch = a.count && (mode || a.count < BATCH) ? a.count : BATCH;
    start_and_stop(a.dir);
    bench_pin(0);
    for (size_t i = 0; i < NROWS; i++) {
        if (mode && strcmp(rows[i].mode, mode) == 0) {
            rows[i].batch(batch);
            mode = "";
        } else if (!mode && rows[i].figure) {
            measure(&rows[i], &a, batch);
        }
    }
    if (mode && *mode) {
        fprintf(stderr, "bench: no such mode: %s\n", mode);
        return 2;
    }
    bench_save(0);
    return perftrace_shutdown() ? 1 : 0;
}
