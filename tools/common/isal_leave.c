/* isal_leave.c: what is to be done after every call into ISA-L. SPDX-License-Identifier: MIT */
#include "isal_leave.h"

#ifdef __x86_64__
#    include <immintrin.h>

__attribute__((target("avx"))) static void clear_upper_halves(void) {
    _mm256_zeroupper();
}

void pt_isal_leave(void) {
    if (__builtin_cpu_supports("avx")) {
        clear_upper_halves();
    }
}
#else
void pt_isal_leave(void) {
}
#endif
