/* clock_worker.c SECONDS: a rank that tells the true time in its events. SPDX-License-Identifier:
 * MIT
 *
 * The instant "before" carries the true time right before it, "after" of the same number right
 * after it: true time is CLOCK_MONOTONIC_RAW by the system call, which clock_shim does not touch.
 */
#include <perftrace/perftrace.h>

#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t true_ns(void) {
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
    if (perftrace_init(NULL) != 0) {
        return 1;
    }
    uint64_t begin = true_ns(), n = 0;
    for (uint64_t now = begin; (double)(now - begin) < seconds * 1e9; now = true_ns(), n++) {
        const struct timespec pause = {0, 5000000};
        uint64_t before = true_ns();
        PERFTRACE_INSTANT("before", "misc", PERFTRACE_UINT("n", n),
                          PERFTRACE_UINT("true_ns", before));
        uint64_t after = true_ns();
        PERFTRACE_INSTANT("after", "misc", PERFTRACE_UINT("n", n),
                          PERFTRACE_UINT("true_ns", after));
        nanosleep(&pause, NULL);
    }
    return perftrace_shutdown() == 0 ? 0 : 1;
}
