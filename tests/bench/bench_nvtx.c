/* bench_nvtx.c: what a range costs a program whose NVTX calls are injected into.
 * SPDX-License-Identifier: MIT
 *
 * As in bench_scope.c; the library's path is compiled in. */
#include "bench_util.h"
#include "mini_nvtx.h"

#define BATCH 8000

static BENCH_NOINLINE uint64_t batch_range(long n) {
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        mini_push("bench.range");
        BENCH_KEEP(i);
        mini_pop();
    }
    return bench_ticks() - begin;
}

int main(int argc, char **argv) {
    bench_args_t a = bench_args(argc, argv);
    long batch = a.count && a.count < BATCH ? a.count : BATCH;
    unsigned batches = a.count && a.count < batch * 60 ? 3 : 60;
    double ratio[BENCH_ROUNDS_MAX], ns[BENCH_ROUNDS_MAX], floor[60], ours[60];
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    bench_start(&config, a.dir, true);
    setenv("NVTX_INJECTION64_PATH", NVTX_LIBRARY, 1);
    if (mini_nvtx_load() != 1) {
        bench_die("the library is not loaded: " NVTX_LIBRARY);
    }
    bench_pin(0);
    batch_range(batch);
    bench_save(batch);
    for (unsigned round = 0; round < a.rounds; round++) {
        for (unsigned i = 0; i < batches; i++) {
            floor[i] = (double)bench_floor_pair(batch);
            ours[i] = (double)batch_range(batch);
            bench_save(batch);
        }
        ns[round] = bench_percentile(ours, batches, 0.5) * bench_tick_ns() / (double)batch;
        ratio[round] = bench_percentile(ours, batches, 0.5) / bench_percentile(floor, batches, 0.5);
    }
    bench_result("nvtx", ratio, a.rounds);
    bench_detail("nvtx", "%.2f ns a push and a pop", bench_percentile(ns, a.rounds, 0.5));
    return perftrace_shutdown() ? 1 : 0;
}
