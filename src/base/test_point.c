/* test_point.c. SPDX-License-Identifier: MIT */
#include "test_point.h"

#include <stddef.h>

const char *const perftrace__test_point_names[] = {
#define X(name) #name,
    PERFTRACE__TEST_POINT_LIST(X)
#undef X
        NULL};

#ifdef PERFTRACE__TEST_POINTS
#    include "atomics.h"

#    include <signal.h>
#    include <stdlib.h>
#    include <string.h>
#    include <unistd.h>

void perftrace__test_point(const char *name) {
    static unsigned long passages;
    const char *want = getenv("PERFTRACE_TEST_KILL");
    if (!want) {
        return;
    }
    size_t n = strlen(name);
    if (strncmp(want, name, n) != 0 || (want[n] != '\0' && want[n] != ':')) {
        return;
    }
    unsigned long at = want[n] == ':' ? strtoul(want + n + 1, NULL, 10) : 1;
    if (pt_add_acq_rel(&passages, 1) + 1 >= at) {
        kill(getpid(), SIGKILL);
        for (;;) {
            pause();
        }
    }
}
#endif
