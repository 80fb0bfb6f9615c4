/* bench_lttng.c: a scope by LTTng-UST, as bench_scope.c measures ours. SPDX-License-Identifier: MIT
 *
 * run.sh starts a session first; without one the tracepoints are off, which is said. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench_lttng_provider.h"
#include "bench_util.h"

#define BATCH   4000
#define BATCHES 60

static BENCH_NOINLINE uint64_t batch_scope(long n) {
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        lttng_ust_tracepoint(bench, scope_begin);
        BENCH_KEEP(i);
        lttng_ust_tracepoint(bench, scope_end);
    }
    return bench_ticks() - begin;
}

int main(int argc, char **argv) {
    static const struct timespec pause = {0, 5000000}; /* the consumer empties the buffers */
    double ratio[BENCH_ROUNDS_MAX];
    double ns[BENCH_ROUNDS_MAX];
    double floor[BATCHES];
    double scope[BATCHES];
    bench_args_t a = bench_args(argc, argv);
    long batch = a.count && a.count < BATCH ? a.count : BATCH;
    if (!lttng_ust_tracepoint_enabled(bench, scope_begin)) {
        printf("DETAIL\tlttng.scope\tno session was there: its tracepoints were off\n");
        return 0;
    }
    bench_pin(0);
    batch_scope(batch);
    for (unsigned round = 0; round < a.rounds; round++) {
        for (int i = 0; i < BATCHES; i++) {
            nanosleep(&pause, NULL);
            floor[i] = (double)bench_floor_pair(batch);
            scope[i] = (double)batch_scope(batch);
        }
        double pair = bench_percentile(floor, BATCHES, 0.5);
        double cost = bench_percentile(scope, BATCHES, 0.5);
        ratio[round] = cost / pair;
        ns[round] = cost * bench_tick_ns() / (double)batch;
    }
    bench_result("lttng.scope", ratio, a.rounds);
    bench_detail("lttng.scope", "LTTng-UST, begin and end: %.1f ns; over a pair of clock reads",
                 bench_percentile(ns, a.rounds, 0.5));
    return 0;
}
