/* temp_registry.c: temporary files that a signal must not leave behind. SPDX-License-Identifier:
 * MIT */
#include "temp_registry.h"

#include "atomics.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define SLOTS 64

static const char *slots[SLOTS]; /* atomic */
static int dying;                /* atomic: a handler has begun to read the slots */

void pt_temp_registry_add(const char *path) {
    for (size_t i = 0; i < SLOTS; i++) {
        const char *none = NULL;
        /* Publishes the string's bytes; pairs with the load in remove_all. */
        if (pt_cas_acq_rel(&slots[i], &none, path)) {
            return;
        }
    }
}

void pt_temp_registry_remove(char *path) {
    for (size_t i = 0; i < SLOTS; i++) {
        const char *held = path;
        if (pt_cas_acq_rel(&slots[i], &held, NULL)) {
            break;
        }
    }
    /* A handler in another thread may have taken the pointer just before. It set `dying` first, and
     * the fences here and there give one order of both: so either it did not see the pointer, or
     * this sees that it runs, and leaves the string, as the process is about to end. */
    pt_fence_seq_cst();
    if (!pt_load_relaxed(&dying)) {
        free(path);
    }
}

static void remove_all(int signal_number) {
    int saved = errno;
    pt_store_relaxed(&dying, 1);
    pt_fence_seq_cst();
    for (size_t i = 0; i < SLOTS; i++) {
        /* Observes the string's bytes; pairs with pt_temp_registry_add. */
        const char *path = pt_load_acquire(&slots[i]);
        if (path) {
            unlink(path);
        }
    }
    errno = saved;
    /* SA_RESETHAND has put the default back: this ends the process once the handler returns. */
    raise(signal_number);
}

void pt_temp_registry_catch_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < PT_ARRAY_LEN(signals); i++) {
        struct sigaction old;
        if (sigaction(signals[i], NULL, &old) != 0 || old.sa_handler == SIG_IGN) {
            continue; /* nohup and shells' background jobs rely on it */
        }
        struct sigaction action = {.sa_handler = remove_all, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
}
