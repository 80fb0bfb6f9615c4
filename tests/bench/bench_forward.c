/* bench_forward.c: what forwarding costs the producer. SPDX-License-Identifier: MIT
 *
 * Usage: bench_forward --to ADDRESS --name FIGURE [--rounds N] [--count N] [--dir DIR]
 *
 * The producer records COUNT scopes in bursts of a thousand, one each 10 ms (100,000 a second), in
 * turn without and with forwarding to ADDRESS; ring, drain, file and flush period are the defaults.
 * Its CPU time within the bursts is what is compared, pieces of half a second taking turns. Then
 * the same at full speed: as fast as it can, the ring's owner waiting where the drain is behind
 * (overflow block); CPU time again, and beside it the time on the clock, in which the two
 * processors are shared by producer, drain, forwarding and, here, the collector too. */
#include "bench_util.h"

#define BURST       1000
#define BURST_NS    10000000L
#define PIECE_BURST 50

typedef struct spent {
    double cpu, wall;
    long scopes;
} spent_t;

static void begin(const char *dir, const char *to, int overflow) {
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    config.forward = to;
    config.run_id = "bench";
    config.rank = 0;
    config.world_size = 1;
    config.overflow = overflow;
    config.forward_wait_ms = 60000;
    bench_start(&config, dir, false);
}

static void end(void) {
    perftrace_stats_t stats = {.struct_size = sizeof(stats)};
    bool good = perftrace_get_stats(&stats) == 0;
    for (size_t i = 0; i < sizeof(stats.dropped) / sizeof(stats.dropped[0]); i++) {
        good = good && stats.dropped[i] == 0;
    }
    if (perftrace_shutdown() != 0 || !good) {
        bench_die("a run with all its events");
    }
}

static BENCH_NOINLINE void burst(long n) {
    for (long i = 0; i < n; i++) {
        PERFTRACE_SCOPE("work", "compute", PERFTRACE_INT("i", i));
    }
}

static void timed(spent_t *s, long n) {
    double wall = bench_seconds(CLOCK_MONOTONIC);
    double cpu = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    burst(n);
    s->cpu += bench_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    s->wall += bench_seconds(CLOCK_MONOTONIC) - wall;
    s->scopes += n;
}

/* Bursts at their rate. */
static void paced(spent_t *s, long bursts) {
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (long i = 0; i < bursts; i++) {
        next.tv_nsec += BURST_NS;
        next.tv_sec += next.tv_nsec / 1000000000L;
        next.tv_nsec %= 1000000000L;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        timed(s, BURST);
    }
}

static double scope_ns(double seconds, const spent_t *s) {
    return seconds * 1e9 / (double)s->scopes;
}

static double middle(const double *values, unsigned n) {
    double copy[BENCH_ROUNDS_MAX];
    memcpy(copy, values, n * sizeof(*copy));
    return bench_percentile(copy, n, 0.5);
}

int main(int argc, char **argv) {
    const char *to = NULL;
    const char *name = "forward";
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        const char **value = strcmp(argv[i], "--to") == 0     ? &to
                             : strcmp(argv[i], "--name") == 0 ? &name
                                                              : NULL;
        if (value && i + 1 < argc) {
            *value = argv[++i];
        } else {
            argv[kept++] = argv[i];
        }
    }
    bench_args_t args = bench_args(kept, argv);
    if (!to) {
        fprintf(stderr, "usage: %s --to ADDRESS [--name FIGURE] ...\n", argv[0]);
        return 2;
    }
    long pieces = (args.count > 0 ? args.count : 1000000) / (BURST * PIECE_BURST);
    pieces = pieces > 1 ? pieces : 1;
    double ratio[BENCH_ROUNDS_MAX], off[BENCH_ROUNDS_MAX], on[BENCH_ROUNDS_MAX];
    double full[BENCH_ROUNDS_MAX], wall[BENCH_ROUNDS_MAX];
    char figure[64];
    bench_pin(0);
    for (unsigned r = 0; r < args.rounds; r++) {
        spent_t s[2] = {{0, 0, 0}, {0, 0, 0}}, f[2] = {{0, 0, 0}, {0, 0, 0}};
        for (long i = 0; i < pieces * 2; i++) {
            int with = (int)((i + r) & 1);
            begin(args.dir, with ? to : "off", PERFTRACE_OVERFLOW_DROP);
            burst(BURST); /* the first touch of everything */
            paced(&s[with], PIECE_BURST);
            end();
        }
        for (int i = 0; i < 2; i++) {
            int with = (i + (int)r) & 1;
            begin(args.dir, with ? to : "off", PERFTRACE_OVERFLOW_BLOCK);
            timed(&f[with], pieces * BURST * PIECE_BURST);
            end();
        }
        off[r] = scope_ns(s[0].cpu, &s[0]);
        on[r] = scope_ns(s[1].cpu, &s[1]);
        ratio[r] = on[r] / off[r];
        full[r] = scope_ns(f[1].cpu, &f[1]) / scope_ns(f[0].cpu, &f[0]);
        wall[r] = scope_ns(f[1].wall, &f[1]) / scope_ns(f[0].wall, &f[0]);
    }
    bench_result(name, ratio, args.rounds);
    bench_detail(name, "%.1f ns of CPU time a scope, %.1f without, in bursts of 1,000 each 10 ms",
                 middle(on, args.rounds), middle(off, args.rounds));
    snprintf(figure, sizeof(figure), "%s.full", name);
    bench_result(figure, full, args.rounds);
    bench_detail(figure, "CPU time of the producer at full speed, over without; block policy");
    snprintf(figure, sizeof(figure), "%s.full.wall", name);
    bench_result(figure, wall, args.rounds);
    bench_detail(figure,
                 "time on the clock: producer, drain, forwarding and collector share %ld "
                 "processors",
                 sysconf(_SC_NPROCESSORS_ONLN));
    return 0;
}
