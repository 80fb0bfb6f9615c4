/* 03_laps.c: consecutive phases at half the price, and scopes that do not fit a block.
 * SPDX-License-Identifier: MIT */
#include <perftrace/perftrace.h>

#include <stdio.h>

static double spin(int n) {
    double sum = 0.0;
    for (int i = 1; i <= n; i++) {
        sum += 1.0 / ((double)i * i);
    }
    return sum;
}

/* A span that begins in one function and ends in another, on the same thread. */
static perftrace_span_t epoch;

static void epoch_begin(int number) {
    PERFTRACE_BEGIN(&epoch, "epoch", "compute", PERFTRACE_INT("number", number));
}

static void epoch_end(void) {
    PERFTRACE_END(&epoch);
}

int main(void) {
    perftrace_init(NULL);
    double sum = 0.0;
    for (int number = 0; number < 3; number++) {
        epoch_begin(number);
        for (int step = 0; step < 10; step++) {
            /* One read of the clock ends a phase and begins the next: four phases cost five reads
             * and leave no gaps. Leaving the block ends the last one, too. */
            PERFTRACE_LAP_BEGIN(phase, "data", "io");
            sum += spin(1000);
            PERFTRACE_LAP(phase, "forward", "compute");
            sum += spin(20000);
            PERFTRACE_LAP(phase, "backward", "compute");
            sum += spin(40000);
            PERFTRACE_LAP(phase, "optimizer", "compute");
            sum += spin(5000);
            PERFTRACE_LAP_END(phase);
        }
        epoch_end();
    }
    printf("%.3f\n", sum);
    perftrace_shutdown();
    return 0;
}
