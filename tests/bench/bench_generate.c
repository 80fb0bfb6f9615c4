/* bench_generate.c: rank files to convert, made by the library. SPDX-License-Identifier: MIT
 *
 * Usage: bench_generate --dir DIR --bytes N [--ranks N]. Each rank is a process that records
 * training steps until its file has its part of N bytes: laps, nested scopes with arguments,
 * counters, instants, flows, and a second thread that loads data. */
#include "bench_util.h"

#include <sys/stat.h>
#include <sys/wait.h>

#define CHUNK_STEPS 500
#define LAYERS      4

static pthread_barrier_t chunk;
static volatile bool over;

/* A scope of some length, so that durations have digits. */
static void spend(long turns) {
    for (long i = 0; i < turns; i++) {
        BENCH_KEEP(i);
    }
}

static void layer(long step, int index) {
    PERFTRACE_SCOPE("layer.forward", "compute", PERFTRACE_INT("layer", index),
                    PERFTRACE_DOUBLE("norm", 1.0 / (double)(step + index + 1)));
    spend(200 + 31 * index);
}

static void train_step(long step) {
    PERFTRACE_STEP(step);
    PERFTRACE_SCOPE("train.step", "compute", PERFTRACE_INT("tokens", 4096 + step % 512));
    PERFTRACE_LAP_BEGIN(phase, "forward", "compute");
    for (int i = 0; i < LAYERS; i++) {
        layer(step, i);
    }
    PERFTRACE_LAP(phase, "backward", "compute");
    PERFTRACE_FLOW_START("gradients", "comm", step);
    spend(900);
    PERFTRACE_LAP(phase, "allreduce", "comm");
    PERFTRACE_FLOW_END("gradients", "comm", step);
    spend(400);
    PERFTRACE_LAP(phase, "optimizer", "compute");
    spend(300);
    PERFTRACE_LAP_END(phase);
    PERFTRACE_COUNTER("loss", 5.0 / (double)(step + 1));
    PERFTRACE_INSTANT("batch.ready", "scheduler", PERFTRACE_INT("queue", step % 7));
    if (step % 100 == 0) {
        PERFTRACE_INSTANT("checkpoint", "io", PERFTRACE_STRING("file", "step \"latest\"\n"));
    }
}

static void *load_data(void *arg) {
    perftrace_thread_set_name("loader");
    for (;;) {
        pthread_barrier_wait(&chunk);
        if (over) {
            return arg;
        }
        for (int i = 0; i < CHUNK_STEPS; i++) {
            PERFTRACE_SCOPE("loader.next", "io", PERFTRACE_UINT("bytes", 65536u + (unsigned)i));
            spend(2000);
        }
        pthread_barrier_wait(&chunk);
    }
}

static int run_rank(const char *dir, int rank, int ranks, long bytes) {
    char path[4096];
    struct stat st = {0};
    pthread_t loader;
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    config.rank = rank;
    config.world_size = ranks;
    config.role = "actor";
    config.run_id = "bench";
    config.overflow = PERFTRACE_OVERFLOW_BLOCK;
    config.block_ms = 60000;
    config.shutdown_ms = 60000;
    bench_start(&config, dir, false);
    snprintf(path, sizeof(path), "%s/traces-r%d.jsonl", dir, rank);
    pthread_barrier_init(&chunk, NULL, 2);
    if (pthread_create(&loader, NULL, load_data, NULL) != 0) {
        bench_die("pthread_create");
    }
    for (long step = 0; st.st_size < bytes;) {
        pthread_barrier_wait(&chunk);
        for (int i = 0; i < CHUNK_STEPS; i++) {
            train_step(step++);
        }
        pthread_barrier_wait(&chunk);
        if (perftrace_save(-1, 0) != 0 || stat(path, &st) != 0) {
            bench_die(path);
        }
    }
    over = true;
    pthread_barrier_wait(&chunk);
    pthread_join(loader, NULL);
    return perftrace_shutdown() ? 1 : 0;
}

int main(int argc, char **argv) {
    const char *dir = NULL;
    long bytes = 0;
    int ranks = 8;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--dir") == 0) {
            dir = argv[i + 1];
        } else if (strcmp(argv[i], "--bytes") == 0) {
            bytes = strtol(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--ranks") == 0) {
            ranks = atoi(argv[i + 1]);
        }
    }
    if (!dir || bytes <= 0 || ranks < 1 || ranks > 1024) {
        fprintf(stderr, "usage: %s --dir DIR --bytes N [--ranks N]\n", argv[0]);
        return 2;
    }
    for (int rank = 0; rank < ranks; rank++) {
        pid_t pid = fork();
        if (pid < 0) {
            bench_die("fork");
        }
        if (pid == 0) {
            exit(run_rank(dir, rank, ranks, bytes / ranks));
        }
    }
    int failed = 0;
    int status;
    while (wait(&status) > 0) {
        failed |= status;
    }
    return failed ? 1 : 0;
}
