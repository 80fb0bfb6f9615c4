/* bench_memory.c: what the tracer adds to a program's resident memory.
 * SPDX-License-Identifier: MIT
 *
 * The same four threads run in a child without tracing and in a child with it, defaults, until
 * every ring has been written all over. The figure is the difference of their resident sizes as the
 * kernel shows them; a page that is mapped twice counts twice there, so the proportional size, in
 * which it counts once, stands beside it. */
#include "bench_util.h"

#include <sys/wait.h>

#define THREADS       4
#define COUNT_DEFAULT 200000

typedef struct sizes {
    double rss_mb;
    double pss_mb;
} sizes_t;

static pthread_barrier_t line;
static long count;

static void *work(void *arg) {
    for (long i = 0; i < count; i++) {
        PERFTRACE_SCOPE("bench.memory", "bench", PERFTRACE_INT("step", i));
        BENCH_KEEP(i);
        if (i % 5000 == 0) {
            perftrace_save(-1, 0);
        }
    }
    pthread_barrier_wait(&line); /* all are alive when memory is looked at */
    pthread_barrier_wait(&line);
    return arg;
}

static sizes_t look(void) {
    sizes_t s = {0, 0};
    char text[256];
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    if (!f) {
        bench_die("/proc/self/smaps_rollup");
    }
    while (fgets(text, sizeof(text), f)) {
        double kb;
        if (sscanf(text, "Rss: %lf", &kb) == 1) {
            s.rss_mb = kb / 1024;
        } else if (sscanf(text, "Pss: %lf", &kb) == 1) {
            s.pss_mb = kb / 1024;
        }
    }
    fclose(f);
    return s;
}

static sizes_t child(bool tracing, const char *dir) {
    pthread_t threads[THREADS];
    if (tracing) {
        perftrace_config_t config = PERFTRACE_CONFIG_INIT;
        bench_start(&config, dir, false);
    }
    pthread_barrier_init(&line, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, NULL) != 0) {
            bench_die("pthread_create");
        }
    }
    pthread_barrier_wait(&line);
    sizes_t s = look();
    pthread_barrier_wait(&line);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    return s;
}

static sizes_t in_child(bool tracing, const char *dir) {
    int ends[2];
    sizes_t s;
    if (pipe(ends) != 0) {
        bench_die("pipe");
    }
    pid_t pid = fork();
    if (pid == 0) {
        s = child(tracing, dir);
        exit(write(ends[1], &s, sizeof(s)) == (ssize_t)sizeof(s) ? 0 : 1);
    }
    close(ends[1]);
    int status = 0;
    if (pid < 0 || read(ends[0], &s, sizeof(s)) != (ssize_t)sizeof(s) ||
        waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "bench: the child failed\n");
        exit(1);
    }
    close(ends[0]);
    return s;
}

int main(int argc, char **argv) {
    double rss[BENCH_ROUNDS_MAX];
    double pss[BENCH_ROUNDS_MAX];
    double without[BENCH_ROUNDS_MAX];
    bench_args_t a = bench_args(argc, argv);
    count = a.count ? a.count : COUNT_DEFAULT;
    for (unsigned round = 0; round < a.rounds; round++) {
        sizes_t off = in_child(false, a.dir);
        sizes_t on = in_child(true, a.dir);
        rss[round] = on.rss_mb - off.rss_mb;
        pss[round] = on.pss_mb - off.pss_mb;
        without[round] = off.rss_mb;
    }
    bench_result("memory", rss, a.rounds);
    bench_detail("memory", "added to %.1f MB; %.1f MB when a page mapped twice counts once",
                 bench_percentile(without, a.rounds, 0.5), bench_percentile(pss, a.rounds, 0.5));
    return 0;
}
