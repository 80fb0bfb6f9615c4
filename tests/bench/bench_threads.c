/* bench_threads.c: whether two producers hinder each other. SPDX-License-Identifier: MIT
 *
 * Each thread emits batches that fit its ring and takes its own CPU time for them, so that a busy
 * machine does not matter. One thread alone and two at the same time take turns. */
#include "bench_util.h"

#define BATCH   8000
#define BATCHES 60

static pthread_barrier_t start_line;
static pthread_barrier_t end_line;
static long batch_size;
static volatile bool both;
static volatile bool over;
static double cost[2];

static BENCH_NOINLINE double batch(long n) {
    double begin = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < n; i++) {
        PERFTRACE_SCOPE("bench.threads", "bench");
        BENCH_KEEP(i);
    }
    return bench_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static void *producer(void *arg) {
    unsigned me = *(unsigned *)arg;
    bench_pin(me);
    for (;;) {
        pthread_barrier_wait(&start_line);
        if (over) {
            return NULL;
        }
        if (me == 0 || both) {
            cost[me] = batch(batch_size);
        }
        pthread_barrier_wait(&end_line);
    }
}

static void run_batch(bool two) {
    both = two;
    pthread_barrier_wait(&start_line);
    pthread_barrier_wait(&end_line);
    bench_save(batch_size * (two ? 2 : 1));
}

int main(int argc, char **argv) {
    static unsigned ids[2] = {0, 1};
    double ratio[BENCH_ROUNDS_MAX];
    double one_ns[BENCH_ROUNDS_MAX];
    double alone[BATCHES];
    double together[2 * BATCHES];
    bench_args_t a = bench_args(argc, argv);
    batch_size = a.count && a.count < BATCH ? a.count : BATCH;
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
        printf("SKIP\tthreads\tthere is one processor only\n");
        return 0;
    }
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    bench_start(&config, a.dir, true);
    pthread_t threads[2];
    pthread_barrier_init(&start_line, NULL, 3);
    pthread_barrier_init(&end_line, NULL, 3);
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, producer, &ids[i]) != 0) {
            bench_die("pthread_create");
        }
    }
    run_batch(true); /* both have their rings */
    for (unsigned round = 0; round < a.rounds; round++) {
        for (int i = 0; i < BATCHES; i++) {
            run_batch(false);
            alone[i] = cost[0];
            run_batch(true);
            together[2 * i] = cost[0];
            together[2 * i + 1] = cost[1];
        }
        double one = bench_percentile(alone, BATCHES, 0.5);
        ratio[round] = bench_percentile(together, (size_t)2 * BATCHES, 0.5) / one;
        one_ns[round] = one * 1e9 / (double)batch_size;
    }
    bench_result("threads", ratio, a.rounds);
    bench_detail("threads", "one producer %.2f ns of CPU time a scope",
                 bench_percentile(one_ns, a.rounds, 0.5));
    over = true;
    pthread_barrier_wait(&start_line);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&start_line);
    pthread_barrier_destroy(&end_line);
    return perftrace_shutdown() ? 1 : 0;
}
