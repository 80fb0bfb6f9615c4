/* bench_stall.c: the longest emit while the disk hangs. SPDX-License-Identifier: MIT
 *
 * Needs shim.c preloaded. From some instant on no write to the trace file returns; scopes go on at
 * full speed, each timed, each followed by an empty window. When a window is long, the kernel is
 * asked whether it took the processor away meanwhile: such windows are counted apart, since they
 * say nothing about the library. */
#include "bench_util.h"

#include <dlfcn.h>
#include <sys/resource.h>

#define SECONDS_DEFAULT 10
#define LONG_NS         20000.0

enum { PASS, STALL };

typedef struct longest {
    double ns;       /* of windows in which the thread kept the processor */
    double taken_ns; /* of the others */
    long taken;
} longest_t;

static long switches_seen;

static long switches(void) {
    struct rusage u;
    return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nivcsw : 0;
}

static void note(longest_t *l, double ns) {
    if (ns > l->ns && ns > LONG_NS) {
        long now = switches();
        bool taken = now != switches_seen;
        switches_seen = now;
        if (taken) {
            l->taken++;
            l->taken_ns = ns > l->taken_ns ? ns : l->taken_ns;
            return;
        }
    }
    l->ns = ns > l->ns ? ns : l->ns;
}

static void emit_for(double seconds, longest_t *ours, longest_t *nothing) {
    double tick_ns = bench_tick_ns();
    uint64_t end = bench_ticks() + (uint64_t)(seconds * 1e9 / tick_ns);
    uint64_t a = bench_ticks();
    switches_seen = switches();
    while (a < end) {
        {
            PERFTRACE_SCOPE("bench.stall", "bench");
            BENCH_KEEP(a);
        }
        uint64_t b = bench_ticks();
        BENCH_KEEP(b);
        uint64_t c = bench_ticks();
        note(ours, (double)(b - a) * tick_ns);
        note(nothing, (double)(c - b) * tick_ns);
        a = bench_ticks();
    }
}

int main(int argc, char **argv) {
    double ms[BENCH_ROUNDS_MAX];
    double nothing_ms[BENCH_ROUNDS_MAX];
    double taken_ms[BENCH_ROUNDS_MAX];
    bench_args_t a = bench_args(argc, argv);
    double seconds = a.count ? (double)a.count / 1000 : SECONDS_DEFAULT;
    long (*shim_set)(int);
    void *symbol = dlsym(RTLD_DEFAULT, "shim_set");
    memcpy(&shim_set, &symbol, sizeof(symbol));
    if (!shim_set) {
        fprintf(stderr, "bench: libbench_shim.so is not preloaded\n");
        return 77;
    }
    perftrace_stats_t stats = {.struct_size = sizeof(stats)};
    for (unsigned round = 0; round < a.rounds; round++) {
        longest_t ours = {0, 0, 0};
        longest_t nothing = {0, 0, 0};
        perftrace_config_t config = PERFTRACE_CONFIG_INIT;
        bench_start(&config, a.dir, false);
        bench_pin(0);
        for (int i = 0; i < 100; i++) {
            PERFTRACE_INSTANT("bench.before", "bench");
        }
        perftrace_save(-1, 0);
        shim_set(STALL);
        emit_for(seconds, &ours, &nothing);
        perftrace_get_stats(&stats);
        if (shim_set(PASS) == 0 && seconds > 1) {
            fprintf(stderr, "bench: no write was stalled\n");
            return 1;
        }
        perftrace_shutdown();
        ms[round] = ours.ns / 1e6;
        nothing_ms[round] = nothing.ns / 1e6;
        taken_ms[round] = ours.taken_ns / 1e6;
    }
    bench_result("stall", ms, a.rounds);
    bench_detail("stall", "windows the kernel interrupted aside: %.1f ms with them",
                 bench_percentile(taken_ms, a.rounds, 0.5));
    bench_detail("stall", "%.1f million scopes dropped and counted",
                 (double)stats.dropped[PERFTRACE_DROP_ring_full] / 1e6);
    bench_result("stall.nothing", nothing_ms, a.rounds);
    bench_detail("stall.nothing", "ms, the longest empty window of the same loop");
    return 0;
}
