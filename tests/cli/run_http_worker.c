/* run_http_worker.c: a worker that is controlled from outside whatever its environment says, with a
 * profiler of its own that writes files. Prints "url URL", goes on until SIGTERM.
 * SPDX-License-Identifier: MIT */
#include <perftrace/control.h>
#include <perftrace/perftrace.h>
#include <perftrace/profiler.h>

#include <signal.h>
#include <stdio.h>
#include <time.h>

static int stop(void *user, const perftrace_profiler_window_t *w) {
    FILE *f = fopen(w->path, "w");
    (void)user;
    if (!f) {
        return 1;
    }
    fprintf(f, "recorded\n");
    return fclose(f);
}

static volatile sig_atomic_t asked_to_end;

static void on_signal(int number) {
    (void)number;
    asked_to_end = 1;
}

int main(void) {
    static const perftrace_profiler_back_end_t writer = {
        .struct_size = sizeof(writer), .name = "own", .extension = ".txt", .stop = stop};
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    perftrace_profiler_options_t options = PERFTRACE_PROFILER_OPTIONS_INIT;
    perftrace_profiler_t *profiler = NULL;
    char url[512];
    signal(SIGTERM, on_signal);
    config.control = "on";
    options.callback = &writer;
    options.dir = "profiles";
    options.all_ranks = 1;
    if (perftrace_init(&config) != PERFTRACE_OK ||
        perftrace_profiler_open(&options, &profiler) != PERFTRACE_OK ||
        perftrace_control_url(url, sizeof(url)) < 0) {
        return 1;
    }
    perftrace_profiler_set_main(profiler);
    printf("url %s\n", url);
    fflush(stdout);
    while (!asked_to_end) {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    perftrace_profiler_set_main(NULL);
    perftrace_profiler_close(profiler);
    perftrace_shutdown();
    return 0;
}
