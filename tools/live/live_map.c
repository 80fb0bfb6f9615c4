/* live_map.c. SPDX-License-Identifier: MIT */
#include "live_map.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the handler may touch: set while a page is mapped. */
static struct {
    char *volatile page;
    volatile size_t bytes;
    volatile sig_atomic_t cut;
} mapped;

static void on_bus_error(int signal_number, siginfo_t *info, void *context) {
    char *at = info->si_addr;
    (void)context;
    if (mapped.page != NULL && at >= mapped.page && at < mapped.page + mapped.bytes &&
        mmap(mapped.page, mapped.bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) != MAP_FAILED) {
        mapped.cut = 1;
        return; /* the load is made again */
    }
    (void)signal(signal_number, SIG_DFL); /* and comes back to end the process */
}

void pt_live_map_init(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, NULL);
}

const perftrace__slot_t *pt_live_map(int fd, uint64_t at) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (sizeof(perftrace__slot_t) + page - 1) / page * page;
    void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)at);
    if (p == MAP_FAILED) {
        return NULL;
    }
    mapped.cut = 0;
    mapped.bytes = bytes;
    mapped.page = p;
    return p;
}

void pt_live_unmap(const perftrace__slot_t *slot) {
    size_t bytes = mapped.bytes;
    mapped.page = NULL;
    (void)munmap((void *)(uintptr_t)slot, bytes);
}

bool pt_live_map_was_cut(void) {
    return mapped.cut != 0;
}
