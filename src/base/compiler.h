/* compiler.h: what the compiler offers, under one spelling. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_BASE_COMPILER_H
#define PERFTRACE_BASE_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#define PT_LIKELY(x)     __builtin_expect(!!(x), 1)
#define PT_UNLIKELY(x)   __builtin_expect(!!(x), 0)
#define PT_ALWAYS_INLINE static inline __attribute__((always_inline))
#define PT_NOINLINE      __attribute__((noinline))
#define PT_COLD          __attribute__((cold, noinline))
#define PT_PRINTF(f, a)  __attribute__((format(printf, f, a)))
#define PT_CACHE_LINE    64
#define PT_ARRAY_LEN(a)  (sizeof(a) / sizeof((a)[0]))
#define PT_MIN(a, b)     ((a) < (b) ? (a) : (b))
#define PT_MAX(a, b)     ((a) > (b) ? (a) : (b))

#endif
