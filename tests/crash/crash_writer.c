/* crash_writer.c: a program to be killed. SPDX-License-Identifier: MIT
 *
 * crash_writer SIDE THREADS EVENTS LIFE PACE_US ENDING
 * Each thread emits numbered events by the fast and the slow way, inside "outer" scopes, and counts
 * them in SIDE. Each block of events is a phase of a session. Ends when EVENTS are emitted in all
 * (0: never) by ENDING: return, _exit, abort, segv, idle (waits to be killed). LIFE > 0: a thread
 * ends after so many events and another goes on with its numbers. PACE_US > 0: sleeps so long after
 * every 16 events. */
#include "crash_side.h"

#include <perftrace/perftrace.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static crash_side_t *side;
static unsigned threads;
static uint64_t wanted;
static uint64_t life;
static useconds_t pace;
static int stop;

static void count(uint64_t *place, uint64_t value) {
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
}

static void one_event(int64_t t, int64_t n) {
    static const char awkward[] = "a \"quoted\" \\ \x01 \xFF text, \xC3\xA4";
    char name[32];
    switch (n % 4) {
    case 0: {
        PERFTRACE_SCOPE("ev", "compute", PERFTRACE_INT("t", t), PERFTRACE_INT("n", n));
        break;
    }
    case 1: {
        PERFTRACE_SCOPE("ev", "io", PERFTRACE_INT("t", t), PERFTRACE_INT("n", n),
                        PERFTRACE_STRING("text", awkward));
        break;
    }
    case 2:
        PERFTRACE_INSTANT("ev", "comm", PERFTRACE_INT("t", t), PERFTRACE_INT("n", n));
        break;
    default: {
        snprintf(name, sizeof(name), "ev \"%d\"", (int)(n / 4 % 500));
        PERFTRACE_SCOPE_NAMED(name, "misc", PERFTRACE_INT("t", t), PERFTRACE_INT("n", n));
        break;
    }
    }
}

static void count_records(crash_thread_t *me, unsigned n) {
    count(&me->records, me->records + n);
}

static void one_phase(int64_t session, crash_thread_t *me, int64_t t, uint64_t from, uint64_t to) {
    perftrace_phase_t phase;
    PERFTRACE_SESSION_PHASE_BEGIN(&phase, session, "generate",
                                  PERFTRACE_INT("from", (int64_t)from));
    count_records(me, 1);
    for (uint64_t n = from; n < to; n++) {
        one_event(t, (int64_t)n);
        count(&me->events, n + 1);
        if (pace && n % 16 == 15) {
            usleep(pace);
        }
    }
    PERFTRACE_SESSION_PHASE_END(&phase);
    count_records(me, 1);
}

/* Emits the numbers from..to within one scope, as one session. */
static void one_block(crash_thread_t *me, int64_t t, uint64_t from, uint64_t to) {
    uint64_t m = me->outers;
    PERFTRACE_SCOPE("outer", "scheduler", PERFTRACE_INT("t", t), PERFTRACE_INT("m", (int64_t)m));
    count(&me->outer_open, 1);
    int64_t session = perftrace_session_register(CRASH_TASK(t, m));
    count(&me->submitted, m + 1);
    count_records(me, 2);
    one_phase(session, me, t, from, to);
    if (!CRASH_STAYS_OPEN(m)) {
        perftrace_session_finalize(session, PERFTRACE_ACCEPTED, NULL);
        count_records(me, 2);
    }
    count(&me->finished, m + 1);
    count(&me->outer_open, 0);
}

static void *thread_main(void *arg);

static void start_thread(uintptr_t t) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_main, (void *)t) != 0) {
        exit(99);
    }
    pthread_detach(thread);
}

static void *thread_main(void *arg) {
    uintptr_t t = (uintptr_t)arg;
    crash_thread_t *me = &side->thread[t];
    uint64_t born = me->events;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) && (!life || me->events < born + life)) {
        one_block(me, (int64_t)t, me->events, me->events + 100);
        count(&me->outers, me->outers + 1);
    }
    if (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        start_thread(t);
    } else {
        count(&me->outer_open, 2);
    }
    return NULL;
}

static uint64_t total(void) {
    uint64_t n = 0;
    for (unsigned t = 0; t < threads; t++) {
        n += __atomic_load_n(&side->thread[t].events, __ATOMIC_ACQUIRE);
    }
    return n;
}

static void *killer_main(void *ending) {
    if (strcmp(ending, "abort") == 0) {
        abort();
    }
    raise(SIGSEGV);
    return NULL;
}

/* Lets the threads end by themselves, so that a count is exact. */
static void stop_threads(void) {
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (unsigned t = 0; t < threads; t++) {
        while (__atomic_load_n(&side->thread[t].outer_open, __ATOMIC_ACQUIRE) != 2) {
            usleep(100);
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 7) {
        return 2;
    }
    int fd = open(argv[1], O_RDWR | O_CREAT, 0666);
    if (fd < 0 || ftruncate(fd, sizeof(*side)) != 0) {
        return 3;
    }
    side = mmap(NULL, sizeof(*side), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    threads = (unsigned)atoi(argv[2]);
    wanted = strtoull(argv[3], NULL, 10);
    life = strtoull(argv[4], NULL, 10);
    pace = (useconds_t)atoi(argv[5]);
    const char *ending = argv[6];
    if (side == MAP_FAILED || threads < 1 || threads > CRASH_THREADS) {
        return 3;
    }
    if (perftrace_init(NULL) != 0) {
        return 4;
    }
    count(&side->started, 1);
    for (uintptr_t t = 0; t < threads; t++) {
        start_thread(t);
    }
    while (!wanted || total() < wanted) {
        usleep(200);
    }
    if (strcmp(ending, "return") == 0) {
        stop_threads();
        return 0;
    }
    if (strcmp(ending, "_exit") == 0) {
        _exit(7);
    }
    if (strcmp(ending, "idle") == 0) {
        stop_threads();
        count(&side->started, 2);
        for (;;) {
            pause();
        }
    }
    pthread_t killer;
    char how[16];
    snprintf(how, sizeof(how), "%s", ending);
    pthread_create(&killer, NULL, killer_main, how);
    for (;;) {
        pause();
    }
}
