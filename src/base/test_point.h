/* test_point.h: named points between atomic steps. SPDX-License-Identifier: MIT
 *
 * Built with PERFTRACE_TEST_POINTS=ON, the process kills itself with SIGKILL when it passes the
 * point named by the environment variable PERFTRACE_TEST_KILL="name" or "name:N" (the Nth passage,
 * from 1). In any other build a point is nothing at all. */
#ifndef PERFTRACE_BASE_TEST_POINT_H
#define PERFTRACE_BASE_TEST_POINT_H

/* One list: tests iterate over it, so a new point is tested without further ado. */
#define PERFTRACE__TEST_POINT_LIST(X)                                                              \
    X(ring_created)                                                                                \
    X(slot_published)                                                                              \
    X(site_logged)                                                                                 \
    X(record_filled)                                                                               \
    X(record_committed)                                                                            \
    X(drain_encoded)                                                                               \
    X(drain_half_written)                                                                          \
    X(drain_written)                                                                               \
    X(drain_committed)                                                                             \
    X(drain_released)                                                                              \
    X(file_created)                                                                                \
    X(footer_written)                                                                              \
    X(ring_unlinked)                                                                               \
    X(recover_claimed)                                                                             \
    X(recover_cut)                                                                                 \
    X(recover_written)                                                                             \
    X(recover_sessions_cut)                                                                        \
    X(recover_sessions_written)                                                                    \
    X(recover_removed)

#ifdef PERFTRACE__TEST_POINTS
void perftrace__test_point(const char *name);
#    define PT_TEST_POINT(name) perftrace__test_point(#    name)
#else
#    define PT_TEST_POINT(name) ((void)0)
#endif

/* The names, in list order, NULL at the end. Present in every build. */
extern const char *const perftrace__test_point_names[];

#endif
