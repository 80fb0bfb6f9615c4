/* base_random.h: repeatable random numbers for property tests. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TESTS_BASE_RANDOM_H
#define PERFTRACE_TESTS_BASE_RANDOM_H

#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood 2014): any seed will do. */
static inline uint64_t base_random(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* 0 to n - 1. */
static inline uint32_t base_random_below(uint64_t *state, uint32_t n) {
    return (uint32_t)(base_random(state) % n);
}

#endif
