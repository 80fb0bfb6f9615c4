/* run_worker.c: a traced worker for the tests of perf-trace-run: ten scopes.
 * SPDX-License-Identifier: MIT */
#include <perftrace/perftrace.h>

int main(void) {
    int status = perftrace_init(NULL);
    for (int i = 0; i < 10; i++) {
        PERFTRACE_SCOPE("work", "compute", PERFTRACE_INT("i", i));
    }
    perftrace_shutdown();
    return status == PERFTRACE_OK ? 0 : 1;
}
