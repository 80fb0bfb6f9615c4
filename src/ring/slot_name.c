/* slot_name.c. SPDX-License-Identifier: MIT */
#include "slot_name.h"

#include "atomics.h"

#include <stddef.h>

bool perftrace__slot_name(const perftrace__slot_t *s, char ret_name[64], uint32_t *ret_seq) {
    bool still = false;
    for (int tries = 0; tries < 100 && !still; tries++) {
        /* Pairs with the release in perftrace__core_thread_name. */
        uint32_t before = pt_load_acquire(&s->name_seq);
        for (size_t i = 0; i < 64; i++) {
            ret_name[i] = pt_load_acquire(&s->name[i]);
        }
        still = !(before & 1) && pt_load_relaxed(&s->name_seq) == before;
        *ret_seq = still ? before : *ret_seq;
    }
    ret_name[63] = '\0';
    return still;
}
