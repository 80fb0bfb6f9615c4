/* runtime_signal.c: SIGTERM, when the program asked for it. SPDX-License-Identifier: MIT
 *
 * The handler only touches atomics and futexes. When SIGTERM would have killed the process, the
 * drain's thread writes the rest and the footer while the handler waits (at most shutdown_ms), then
 * the process dies of the signal as before. When the program has a handler of its own, what is in
 * the rings is asked to be written and that handler runs; the program decides. */
#include "atomics.h"
#include "os.h"
#include "runtime_state.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

static struct sigaction previous;

static void wait_for_finish(perftrace__drain_t *d, uint64_t limit_ns) {
    uint64_t begin = perftrace__os_mono_ns();
    pt_store_release(&d->finish_asked, 1);
    while (pt_load_acquire(&d->finish_asked) != 2 && perftrace__os_mono_ns() - begin < limit_ns) {
        perftrace__drain_wake(d);
        struct timespec ms = {0, 1000000};
        nanosleep(&ms, NULL);
    }
}

static void on_sigterm(int sig, siginfo_t *info, void *context) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    int saved = errno;
    bool deadly = !(previous.sa_flags & SA_SIGINFO) && previous.sa_handler == SIG_DFL;
    perftrace__output_t *out = rt->out;
    if (pt_load_acquire(&rt->active) && out && out->drain.running) {
        perftrace__drain_t *d = &out->drain;
        if (deadly) {
            wait_for_finish(d, (uint64_t)rt->config.opt.shutdown_ms * 1000000u);
        } else {
            perftrace__drain_wake(d);
        }
    }
    errno = saved;
    if (deadly) {
        signal(sig, SIG_DFL);
        raise(sig); /* delivered when this handler returns */
    } else if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(sig, info, context);
    } else if (previous.sa_handler != SIG_IGN) {
        previous.sa_handler(sig);
    }
}

void perftrace__runtime_install_sigterm(void) {
    static bool installed;
    if (installed) {
        return;
    }
    installed = true;
    struct sigaction sa = {0};
    sa.sa_sigaction = on_sigterm;
    sa.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&sa.sa_mask);
    sigaction(SIGTERM, &sa, &previous);
}
