/* 02_args_and_counters.c: what a scope can carry, counters, instants and the account.
 * SPDX-License-Identifier: MIT */
#include <perftrace/perftrace.h>

#include <stdbool.h>
#include <stdio.h>

int main(void) {
    perftrace_init(NULL);
    double loss = 4.0;
    for (int64_t step = 0; step < 20; step++) {
        char batch[32];
        snprintf(batch, sizeof(batch), "shard-%lld", (long long)step % 4);
        /* Arguments are read when the scope begins; strings are copied, so `batch` may change. */
        PERFTRACE_SCOPE("train.step", "compute", PERFTRACE_INT("step", step),
                        PERFTRACE_UINT("tokens", 4096), PERFTRACE_DOUBLE("lr", 0.001),
                        PERFTRACE_BOOL("warmup", step < 5), PERFTRACE_STRING("batch", batch));
        loss *= 0.9;
        /* A number over time, and one track with several of them. */
        PERFTRACE_COUNTER("loss", loss);
        PERFTRACE_COUNTERS("memory", "misc", PERFTRACE_UINT("weights", 1000),
                           PERFTRACE_INT("activations", 100 * step));
        /* A name that is made at run time is copied. */
        PERFTRACE_INSTANT_NAMED(batch, "io", PERFTRACE_BOOL("last", step == 19));
    }

    /* Every event emitted so far is in the file, and the file is on the disk. */
    if (perftrace_save(-1, 1) != 0) {
        fprintf(stderr, "the trace could not be saved\n");
    }
    perftrace_stats_t stats = {.struct_size = sizeof(stats)};
    if (perftrace_get_stats(&stats) == 0) {
        printf("%llu events emitted, %llu written\n", (unsigned long long)stats.emitted,
               (unsigned long long)stats.written);
    }
    perftrace_shutdown();
    return stats.emitted == stats.written ? 0 : 1;
}
