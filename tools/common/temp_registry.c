/* temp_registry.c: temporary files that a signal must not leave behind. SPDX-License-Identifier:
 * MIT */
#include "temp_registry.h"

#include "atomics.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define SLOTS 64

/* Atomic. Who takes a pointer out of its slot owns the string: a handler that runs in one thread
 * while another closes its output can thus never read freed bytes. */
static const char *slots[SLOTS];

int pt_temp_registry_add(const char *path) {
    for (int i = 0; i < SLOTS; i++) {
        const char *none = NULL;
        /* Publishes the string's bytes; pairs with the exchange in remove_all. */
        if (pt_cas_acq_rel(&slots[i], &none, path)) {
            return i;
        }
    }
    return -1;
}

void pt_temp_registry_remove(int slot, char *path) {
    /* Another owner means that a handler is removing the files: the process is about to end. */
    if (slot < 0 || pt_exchange_acq_rel(&slots[slot], NULL) == path) {
        free(path);
    }
}

static void remove_all(int signal_number) {
    int saved = errno;
    for (size_t i = 0; i < SLOTS; i++) {
        /* Observes the string's bytes; pairs with pt_temp_registry_add. */
        const char *path = pt_exchange_acq_rel(&slots[i], NULL);
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
