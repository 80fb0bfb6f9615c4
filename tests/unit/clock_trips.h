/* clock_trips.h: invented round trips between two clocks. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TEST_CLOCK_TRIPS_H
#define PERFTRACE_TEST_CLOCK_TRIPS_H
#include "clock_curve.h"

#include "base_random.h"

#include <math.h>

/* The own clock at true time t is offset + t * (1 + ppm / 1e6); the reference is true time. */
typedef struct trip_net {
    double base_ns;  /* each way at least */
    double queue_ns; /* and on average so much in queues, exponentially */
    double odd;      /* so often one way waits fifty times as long: a burst, not told apart */
    double offset_ns, ppm, knee_ns, later_ppm; /* from knee_ns on the drift is later_ppm */
} trip_net_t;

static inline double trip_own(const trip_net_t *n, double t) {
    double after = n->knee_ns > 0 ? fmax(0, t - n->knee_ns) : 0;
    return n->offset_ns + t + (t - after) * n->ppm * 1e-6 + after * n->later_ppm * 1e-6;
}

static inline double trip_uniform(uint64_t *seed) {
    return (double)(base_random(seed) >> 11) / 9007199254740992.0;
}

static inline double trip_wait(const trip_net_t *n, uint64_t *seed) {
    double wait = -n->queue_ns * log(1 - trip_uniform(seed));
    return n->base_ns + (trip_uniform(seed) < n->odd ? 50 : 1) * wait;
}

/* The shortest of `trips` round trips from true time t on, as the sender takes it. */
static inline pt_clock_reading_t trip_burst(const trip_net_t *n, double t, unsigned trips,
                                            uint64_t *seed) {
    pt_clock_reading_t best = {1, 0, 0, INT64_MAX};
    for (unsigned i = 0; i < trips; i++) {
        double there = t + trip_wait(n, seed), back = there + trip_wait(n, seed);
        int64_t t1 = (int64_t)trip_own(n, t), t4 = (int64_t)trip_own(n, back);
        int64_t error = (t4 - t1) / 2 + 1;
        if (error < best.error_ns) {
            best = (pt_clock_reading_t){1, t1 + (t4 - t1) / 2, (int64_t)there, error};
        }
        t = back + 1000;
    }
    return best;
}

#endif
