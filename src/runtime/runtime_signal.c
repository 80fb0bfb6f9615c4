/* runtime_signal.c: SIGTERM, when the program asked for it. SPDX-License-Identifier: MIT
 *
 * The handler only touches atomics, futexes and a timer. When SIGTERM would have killed the
 * process, the drain's thread writes the rest and the footer while the handler waits (at most
 * shutdown_ms), then the process dies of the signal as before. When the program has a handler of
 * its own, what is in the rings is asked to be written and that handler runs, as it would without
 * ours; the program decides. Where the signal is ignored it stays ignored.
 *
 * The signal may have stopped its thread with a lock in hand that the drain's thread needs: of an
 * allocator (those of jemalloc, tcmalloc and AddressSanitizer are shared by threads), of the core,
 * of a drain that stands still for a fork. So the handler does not stand for long: it lets the
 * thread go on for a moment, with a timer that brings SIGTERM again. */
#include "atomics.h"
#include "os.h"
#include "runtime_state.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

/* How long the handler stands at a time, and how long its thread then goes on, twice as long each
 * time: the fork of a large process begins anew at each signal. */
#define STAND_NS   100000000u
#define GO_ON_NS   10000000u
#define GO_ON_MOST 640000000u

static struct sigaction previous;
static timer_t again; /* brings SIGTERM once more */
static bool have_timer;
static uint64_t began; /* monotonic time of the first signal; 0: none yet */
static uint64_t go_on_ns;
static unsigned waiting; /* handlers that look at the drain */

bool perftrace__runtime_signal_waits(void) {
    /* Pairs with the fence in begin_look: either its handler sees that the run is over, or this
     * sees the handler. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return pt_load_acquire(&waiting) != 0;
}

/* From here to end_look the output that a handler finds is not freed. */
static void begin_look(void) {
    pt_add_acq_rel(&waiting, 1);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* see perftrace__runtime_signal_waits */
}

static void end_look(void) {
    pt_add_acq_rel(&waiting, -1u);
}

/* The drain of the active run, for a look; NULL without a thread to do its work. */
static perftrace__drain_t *drain_at_work(void) {
    perftrace__output_t *out = pt_load_relaxed(&perftrace__runtime.out);
    return out && pt_load_relaxed(&out->drain.running) ? &out->drain : NULL;
}

/* Whether there is still something to wait for; asks for it. */
static bool unfinished(perftrace__runtime_t *rt) {
    if (!pt_load_acquire(&rt->active)) {
        return pt_load_acquire(&rt->stopping); /* another thread, or this one, is at it */
    }
    perftrace__drain_t *drain = drain_at_work();
    if (!drain) {
        return false; /* what is in the rings stays there */
    }
    uint32_t not_yet = 0;
    pt_cas_acq_rel(&drain->finish_asked, &not_yet, 1);
    if (not_yet == 2) {
        return false;
    }
    perftrace__drain_wake(drain);
    return true;
}

/* False: not within that time. */
static bool await_end(uint64_t until_ns) {
    begin_look();
    bool ended;
    while (!(ended = !unfinished(&perftrace__runtime)) && perftrace__os_mono_ns() < until_ns) {
        struct timespec ms = {0, 1000000};
        nanosleep(&ms, NULL);
    }
    end_look();
    return ended;
}

static bool come_again(void) {
    uint64_t ns = pt_load_relaxed(&go_on_ns);
    pt_store_relaxed(&go_on_ns, PT_MIN(2 * ns, GO_ON_MOST));
    struct itimerspec once = {.it_value = {0, (long)ns}};
    return timer_settime(again, 0, &once, NULL) == 0;
}

/* True: the process may die. False: the thread goes on, the signal comes again. */
static bool finish(void) {
    uint64_t now = perftrace__os_mono_ns();
    uint64_t first = 0;
    if (pt_cas_acq_rel(&began, &first, now)) {
        first = now;
    }
    uint64_t limit = (uint64_t)perftrace__runtime.config.opt.shutdown_ms * 1000000u;
    uint64_t stand = have_timer ? PT_MIN(STAND_NS, limit / 4) : limit;
    uint64_t end = first + limit;
    return await_end(PT_MIN(now + stand, end)) || perftrace__os_mono_ns() >= end || !come_again();
}

/* No other signal meanwhile: its handler might jump away, out of the look. */
static void wake_drain(void) {
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    begin_look();
    bool active = pt_load_acquire(&perftrace__runtime.active);
    perftrace__drain_t *drain = active ? drain_at_work() : NULL;
    if (drain) {
        perftrace__drain_wake(drain);
    }
    end_look();
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Whether this signal kills. A handler of SA_RESETHAND has one, the next one kills. */
static bool kills_now(void) {
    static uint32_t handled;
    return previous.sa_handler == SIG_DFL ||
           (((unsigned)previous.sa_flags & SA_RESETHAND) && pt_exchange_acq_rel(&handled, 1));
}

static void on_sigterm(int sig, siginfo_t *info, void *context) {
    int saved = errno;
    bool deadly = kills_now();
    bool die = deadly && finish();
    if (!deadly) {
        wake_drain();
    }
    errno = saved;
    if (die) {
        signal(sig, SIG_DFL);
        raise(sig); /* delivered when this handler returns */
    } else if (!deadly && (previous.sa_flags & SA_SIGINFO)) {
        previous.sa_sigaction(sig, info, context);
    } else if (!deadly) {
        previous.sa_handler(sig);
    }
}

void perftrace__runtime_install_sigterm(void) {
    static bool installed;
    /* Known before ours is there: it may be called at once. */
    if (!installed && (sigaction(SIGTERM, NULL, &previous) || previous.sa_handler == SIG_IGN)) {
        return;
    }
    if (!have_timer) { /* nor has the child of a fork its parent's */
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM};
        have_timer = timer_create(CLOCK_MONOTONIC, &event, &again) == 0;
        go_on_ns = GO_ON_NS;
    }
    if (installed) {
        return;
    }
    installed = true;
    struct sigaction sa = {.sa_flags = SA_RESTART};
    sigemptyset(&sa.sa_mask);
    if (previous.sa_handler != SIG_DFL) {
        sa = previous; /* its mask, its stack, whether calls are interrupted */
    }
    sa.sa_sigaction = on_sigterm;
    sa.sa_flags = (int)(((unsigned)sa.sa_flags & ~SA_RESETHAND) | SA_SIGINFO);
    sigaction(SIGTERM, &sa, NULL);
}

void perftrace__runtime_signal_after_fork(void) {
    have_timer = false;
    began = 0;
    waiting = 0;
}
