/* peak_memory.c: the most memory that this process had. SPDX-License-Identifier: MIT */
#include "peak_memory.h"

#include <stdio.h>

long pt_peak_memory_kib(void) {
    FILE *status = fopen("/proc/self/status", "re");
    char line[256];
    long kib = -1;
    while (status != NULL && kib < 0 && fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "VmHWM: %ld kB", &kib) != 1) { /* NOLINT(cert-err34-c): the kernel's */
            kib = -1;
        }
    }
    if (status != NULL) {
        fclose(status);
    }
    return kib;
}
