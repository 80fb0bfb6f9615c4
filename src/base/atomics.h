/* atomics.h: atomic operations with the memory order in the name. SPDX-License-Identifier: MIT
 *
 * They work on plain integer objects, so that the same structures can lie in files that are mapped
 * and can be read by C++ through the public headers. Each ordered use says at the call what it
 * publishes or observes and which function it pairs with (docs/THREADING.md has the table). There
 * are no fences: ThreadSanitizer does not follow them. */
#ifndef PERFTRACE_BASE_ATOMICS_H
#define PERFTRACE_BASE_ATOMICS_H

#include <stdint.h>

#define pt_load_relaxed(p)        __atomic_load_n((p), __ATOMIC_RELAXED)
#define pt_load_acquire(p)        __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define pt_store_relaxed(p, v)    __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define pt_store_release(p, v)    __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define pt_add_relaxed(p, v)      __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define pt_add_acq_rel(p, v)      __atomic_fetch_add((p), (v), __ATOMIC_ACQ_REL)
#define pt_exchange_acq_rel(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)
#define pt_cas_acq_rel(p, pold, v)                                                                 \
    __atomic_compare_exchange_n((p), (pold), (v), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#define pt_cas_relaxed(p, pold, v)                                                                 \
    __atomic_compare_exchange_n((p), (pold), (v), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)

#endif
