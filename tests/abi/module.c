/* module.c: a plug-in with call sites of its own. SPDX-License-Identifier: MIT */
#include <perftrace/perftrace.h>

__attribute__((visibility("default"))) void module_emit(int n);

void module_emit(int n) {
    PERFTRACE_SCOPE("module.scope", "compute", PERFTRACE_INT("n", n));
    PERFTRACE_INSTANT("module.point", "io");
    PERFTRACE_COUNTER("module.counter", n);
}
