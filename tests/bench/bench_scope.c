/* bench_scope.c: what an event costs the thread that emits it. SPDX-License-Identifier: MIT
 *
 * Batches that fit into the ring are timed, floor and event in turn; between two batches the ring
 * is emptied, untimed. A round's figure is the median batch over the median batch of its floor. */
#include "bench_util.h"

#define BATCH_DEFAULT 8000 /* records of the largest kind fill a third of the default ring */
#define LAP_PHASES    4

typedef uint64_t (*batch_fn)(long n);

static BENCH_NOINLINE uint64_t floor_read(long n) {
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        uint64_t a = bench_ticks();
        BENCH_KEEP(a);
    }
    return bench_ticks() - begin;
}

static BENCH_NOINLINE uint64_t batch_scope(long n) {
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        PERFTRACE_SCOPE("bench.scope", "bench");
        BENCH_KEEP(i);
    }
    return bench_ticks() - begin;
}

static BENCH_NOINLINE uint64_t batch_args2(long n) {
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        PERFTRACE_SCOPE("bench.scope_args", "bench", PERFTRACE_INT("step", i),
                        PERFTRACE_INT("left", n - i));
        BENCH_KEEP(i);
    }
    return bench_ticks() - begin;
}

static BENCH_NOINLINE uint64_t batch_instant(long n) {
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        PERFTRACE_INSTANT("bench.instant", "bench");
        BENCH_KEEP(i);
    }
    return bench_ticks() - begin;
}

/* Phases of a loop, as in a training step: n of them. */
static BENCH_NOINLINE uint64_t batch_lap(long n) {
    uint64_t begin = bench_ticks();
    PERFTRACE_LAP_BEGIN(phase, "bench.start", "bench");
    for (long i = 0; i < n; i += LAP_PHASES) {
        PERFTRACE_LAP(phase, "bench.load", "bench");
        BENCH_KEEP(i);
        PERFTRACE_LAP(phase, "bench.forward", "bench");
        BENCH_KEEP(i);
        PERFTRACE_LAP(phase, "bench.backward", "bench");
        BENCH_KEEP(i);
        PERFTRACE_LAP(phase, "bench.reduce", "bench");
        BENCH_KEEP(i);
    }
    PERFTRACE_LAP_END(phase);
    return bench_ticks() - begin;
}

/* What an own function for each step costs: four phases are five clock reads. */
static BENCH_NOINLINE void one_step(void) {
    PERFTRACE_LAP_BEGIN(phase, "bench.load", "bench");
    BENCH_KEEP(0);
    PERFTRACE_LAP(phase, "bench.forward", "bench");
    BENCH_KEEP(0);
    PERFTRACE_LAP(phase, "bench.backward", "bench");
    BENCH_KEEP(0);
    PERFTRACE_LAP(phase, "bench.reduce", "bench");
    BENCH_KEEP(0);
}

static BENCH_NOINLINE uint64_t batch_lap_function(long n) {
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i += LAP_PHASES) {
        one_step();
    }
    return bench_ticks() - begin;
}

static int64_t session;

static BENCH_NOINLINE uint64_t batch_phase(long n) {
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        PERFTRACE_SESSION_PHASE("bench.phase");
        BENCH_KEEP(i);
    }
    return bench_ticks() - begin;
}

/* Begun and ended by a handle, of a session that is given. */
static BENCH_NOINLINE uint64_t batch_phase_handle(long n) {
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        perftrace_phase_t phase;
        PERFTRACE_SESSION_PHASE_BEGIN(&phase, session, "bench.phase_handle");
        BENCH_KEEP(i);
        PERFTRACE_SESSION_PHASE_END(&phase);
    }
    return bench_ticks() - begin;
}

static BENCH_NOINLINE uint64_t batch_timer(long n) {
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        PERFTRACE_TIMER_ONLY("bench.timer");
        BENCH_KEEP(i);
    }
    return bench_ticks() - begin;
}

/* The same as a scope, too: it has its two readings in common with the timer. */
static BENCH_NOINLINE uint64_t batch_timer_scope(long n) {
    uint64_t begin = bench_ticks();
    for (long i = 0; i < n; i++) {
        PERFTRACE_TIMER("bench.timer_scope", "bench");
        BENCH_KEEP(i);
    }
    return bench_ticks() - begin;
}

static const struct row {
    const char *figure;
    batch_fn batch;
    batch_fn floor;
    const char *floor_name;
    long more; /* events of a batch beyond its count */
    long each; /* events that one of its count makes */
} rows[] = {
    {"scope", batch_scope, bench_floor_pair, "pair of clock reads", 0, 1},
    {"args2", batch_args2, bench_floor_pair, "pair of clock reads", 0, 1},
    {"instant", batch_instant, floor_read, "clock read", 0, 1},
    {"lap", batch_lap, bench_floor_pair, "pair of clock reads", 1, 1},
    {"lap.function", batch_lap_function, bench_floor_pair, "pair of clock reads", 0, 1},
    {"timer", batch_timer, bench_floor_pair, "pair of clock reads", 0, 0},
    {"timer.scope", batch_timer_scope, bench_floor_pair, "pair of clock reads", 0, 1},
    {"phase", batch_phase, bench_floor_pair, "pair of clock reads", 0, 2},
    {"phase.handle", batch_phase_handle, bench_floor_pair, "pair of clock reads", 0, 2},
};
#define NROWS (sizeof(rows) / sizeof(rows[0]))

static void measure(const struct row *r, const bench_args_t *a, long batch) {
    unsigned batches = a->count && a->count < batch * 60 ? 3 : 60;
    double ratio[BENCH_ROUNDS_MAX];
    double floor_ns[BENCH_ROUNDS_MAX];
    double ours_ns[BENCH_ROUNDS_MAX];
    double floor[60];
    double ours[60];
    for (unsigned round = 0; round < a->rounds; round++) {
        for (unsigned i = 0; i < batches; i++) {
            floor[i] = (double)r->floor(batch);
            ours[i] = (double)r->batch(batch);
            bench_save(batch * r->each + r->more);
        }
        double scale = bench_tick_ns() / (double)batch;
        floor_ns[round] = bench_percentile(floor, batches, 0.5) * scale;
        ours_ns[round] = bench_percentile(ours, batches, 0.5) * scale;
        ratio[round] = ours_ns[round] / floor_ns[round];
    }
    bench_result(r->figure, ratio, a->rounds);
    bench_detail(r->figure, "%.2f ns, %s %.2f ns", bench_percentile(ours_ns, a->rounds, 0.5),
                 r->floor_name, bench_percentile(floor_ns, a->rounds, 0.5));
}

int main(int argc, char **argv) {
    bench_args_t a = bench_args(argc, argv);
    long batch = a.count && a.count < BATCH_DEFAULT ? a.count : BATCH_DEFAULT;
    batch -= batch % LAP_PHASES;
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    config.session_enabled = 1;
    bench_start(&config, a.dir, true);
    bench_pin(0);
    bench_tick_ns();
    session = perftrace_session_register(PERFTRACE_NO_ID);
    perftrace_session_set_current(session);
    bench_save(1);
    for (size_t i = 0; i < NROWS; i++) {
        rows[i].batch(batch); /* sites are registered, the thread has its ring */
        bench_save(batch * rows[i].each + rows[i].more);
        measure(&rows[i], &a, batch);
    }
    return perftrace_shutdown() ? 1 : 0;
}
