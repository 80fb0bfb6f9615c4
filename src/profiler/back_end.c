/* back_end.c: the table of what records. SPDX-License-Identifier: MIT */
#include "back_end.h"

#include <string.h>

static const perftrace__back_end_t *const table[] = {
    &perftrace__back_end_self, &perftrace__back_end_cuda, &perftrace__back_end_roc,
    &perftrace__back_end_perf, &perftrace__back_end_nvtx,
};

const perftrace__back_end_t *perftrace__back_end_find(const char *name, size_t len) {
    for (size_t i = 0; i < PT_ARRAY_LEN(table); i++) {
        const char *known = table[i]->calls.name;
        if (strlen(known) == len && memcmp(known, name, len) == 0) {
            return table[i];
        }
    }
    return NULL;
}

const char *perftrace__back_end_names(void) {
    return "self cuda roc perf nvtx";
}
