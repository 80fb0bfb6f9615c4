/* 01_first_trace.c: the shortest useful program. SPDX-License-Identifier: MIT
 *
 *     cc 01_first_trace.c $(pkg-config --cflags --libs perftrace) -o first_trace
 *     ./first_trace
 *     perf-trace-convert perftrace-out -o trace.json      # then open it in ui.perfetto.dev
 */
#include <perftrace/perftrace.h>

#include <stdio.h>

static double work(int n) {
    PERFTRACE_FUNCTION("compute"); /* a scope named "work" */
    double sum = 0.0;
    for (int i = 1; i <= n; i++) {
        sum += 1.0 / i;
    }
    return sum;
}

int main(void) {
    /* Settings come from the environment (PERFTRACE_DIR, PERFTRACE_RANKS, ...) or from the file
     * that PERFTRACE_CONFIG names. A failure leaves the program as it is, without a trace. */
    if (perftrace_init(NULL) != 0) {
        fprintf(stderr, "running without a trace\n");
    }
    double sum = 0.0;
    for (int step = 0; step < 10; step++) {
        PERFTRACE_STEP(step);                     /* the scopes below carry this global_step */
        PERFTRACE_SCOPE("train.step", "compute"); /* until the end of this block */
        sum += work(100000);
    }
    printf("%.3f\n", sum);
    perftrace_shutdown();
    return 0;
}
