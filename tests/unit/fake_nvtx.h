/* fake_nvtx.h: what the profiler of fake_nvtx.c has seen. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TESTS_FAKE_NVTX_H
#define PERFTRACE_TESTS_FAKE_NVTX_H

#include <stdint.h>

typedef struct fake_nvtx {
    int initialised, pushes, pops;
    int wrong; /* pops too many, other domains, structures that are none */
    int left;  /* ranges that threads left open when they ended */
    int threads_ended;
    int categories[64]; /* ranges of each number */
    char category_names[64][64];
    char domain[64];
    char text[4096];           /* "+outer +inner -inner -outer", all threads as they came; cut */
    void (*within_push)(void); /* called in each push */
} fake_nvtx_t;

fake_nvtx_t *fake_nvtx_book(void);

#endif
