/* peak_memory.h: the most memory that this process had. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_COMMON_PEAK_MEMORY_H
#define PERFTRACE_COMMON_PEAK_MEMORY_H

/* Resident, in KiB, since the program began. getrusage would say what the process that started it
 * had, too: Linux keeps that over an exec. -1: there is no /proc. Opens a file. */
long pt_peak_memory_kib(void);

#endif
