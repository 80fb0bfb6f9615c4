/* 07_profiled_steps.c: details of chosen steps only. SPDX-License-Identifier: MIT
 *
 * Two windows of three steps each: the layers are in the trace there and nowhere else. With
 * back_ends "self,cuda" nsys (--capture-range=cudaProfilerApi) would record the same steps, with
 * "self,perf" Linux perf would. */
#include <perftrace/perftrace.h>
#include <perftrace/profiler.h>

#include <stdio.h>

static void tell(int level, const char *message, void *user) {
    (void)level;
    (void)user;
    printf("%s\n", message);
}

static double layer(int number) {
    PERFTRACE_SCOPE("layer", "detail", PERFTRACE_INT("number", number));
    double sum = 0;
    for (int i = 1; i <= 20000; i++) {
        sum += 1.0 / ((double)i * i);
    }
    return sum;
}

/* A step's body; not 0 would end the window and mark it aborted. */
static int train(void *arg) {
    double *sum = arg;
    PERFTRACE_SCOPE("train.step", "compute");
    for (int number = 0; number < 4; number++) {
        *sum += layer(number);
    }
    return 0;
}

int main(void) {
    perftrace_init(NULL);
    perftrace_profiler_options_t options = PERFTRACE_PROFILER_OPTIONS_INIT;
    options.back_ends = "self";
    options.detail_categories = "detail";
    options.name.role = "trainer";
    options.schedule.skip_first = options.schedule.wait = 3;
    options.schedule.active = 3;
    options.schedule.repeat = 2;
    options.log = tell;
    perftrace_profiler_t *profiler;
    if (perftrace_profiler_open(&options, &profiler) != 0) {
        return 1;
    }
    double sum = 0;
    for (int step = 0; step < 20; step++) {
        PERFTRACE_STEP(step);
        perftrace_profiler_step(profiler, step);
        perftrace_profiler_run(profiler, "train", 0, train, &sum);
    }
    perftrace_profiler_close(profiler);
    perftrace_shutdown();
    return sum > 0 ? 0 : 1;
}
