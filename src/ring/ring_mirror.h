/* ring_mirror.h: a slot's memory: its control page, then its ring twice in a row, so that a record
 * never meets the ring's end. SPDX-License-Identifier: MIT
 *
 * bytes: of one ring, a multiple of the page size. Gives the control page's address, at which
 * PERFTRACE_I_DATA_AT + 2 * bytes are mapped and touched (no page fault comes later); NULL without
 * memory. The caller unmaps. Thread-safe. */
#ifndef PERFTRACE_RING_MIRROR_H
#define PERFTRACE_RING_MIRROR_H

#include <stddef.h>
#include <stdint.h>

/* From a file that has these pages: control page at `at`, ring PERFTRACE_I_DATA_AT behind it. */
void *perftrace__mirror_file(int fd, uint64_t at, size_t bytes);

/* From memory without a file. Works where no file may grow (RLIMIT_FSIZE, which holds for
 * memfd_create too) and where no descriptor is free. */
void *perftrace__mirror_memory(size_t bytes);

#endif
