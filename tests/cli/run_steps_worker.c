/* run_steps_worker.c: twelve steps, each told as it begins, of which those that are arguments burn
 * time in one function and the others in another. SPDX-License-Identifier: MIT */
#include <perftrace/perftrace.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEPS 12

static volatile unsigned long sum;

/* Of the processor, which is what perf samples: as many on a busy machine. */
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static __attribute__((noinline)) void in_listed_step(void) {
    for (int i = 0; i < 100000; i++) {
        sum += (unsigned long)i;
    }
}

static __attribute__((noinline)) void in_other_step(void) {
    for (int i = 0; i < 100000; i++) {
        sum += (unsigned long)i;
    }
}

static void say(int level, const char *message, void *user) {
    (void)level;
    (void)user;
    fprintf(stderr, "log: %s\n", message);
}

int main(int argc, char **argv) {
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    config.log = say;
    if (perftrace_init(&config) != PERFTRACE_OK) {
        return 1;
    }
    for (int step = 0; step < STEPS; step++) {
        bool listed = false;
        for (int i = 1; i < argc; i++) {
            listed = listed || strtol(argv[i], NULL, 10) == step;
        }
        perftrace_step(step);
        fprintf(stderr, "begins step %d\n", step);
        const double end = seconds() + 0.15;
        while (seconds() < end) {
            listed ? in_listed_step() : in_other_step();
        }
    }
    perftrace_shutdown();
    return 6;
}
