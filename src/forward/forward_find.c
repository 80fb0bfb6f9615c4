/* forward_find.c: which way a text means. SPDX-License-Identifier: MIT */
#include "address_form.h"
#include "forward_link.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define NATS_LIBRARY "libperftrace-nats.so"
#define NATS_SYMBOL  "perftrace_nats_link"

/* Beside the library (or program) that this code is in, else where the system looks. */
static void *load_nats(char *problem, size_t size) {
    Dl_info here;
    char path[4096];
    const char *test = secure_getenv("PERFTRACE_TEST_NATS_LIBRARY");
    void *library = test ? dlopen(test, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!test && dladdr(&perftrace__forward_tcp, &here) && here.dli_fname) {
        const char *slash = strrchr(here.dli_fname, '/');
        int dir = slash ? (int)(slash + 1 - here.dli_fname) : 0;
        int len = snprintf(path, sizeof path, "%.*s%s", dir, here.dli_fname, NATS_LIBRARY);
        if (slash && len > 0 && (size_t)len < sizeof path) {
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
    }
    if (!test && !library) {
        library = dlopen(NATS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
        const char *why = dlerror();
        snprintf(problem, size, "NATS needs %s (%s)", NATS_LIBRARY, why ? why : "not found");
    }
    return library;
}

static const perftrace__forward_link_ops_t *find_nats(char *problem, size_t size) {
    void *library = load_nats(problem, size);
    const perftrace__forward_link_ops_t *ops = library ? dlsym(library, NATS_SYMBOL) : NULL;
    if (library && (!ops || ops->abi != PERFTRACE__FORWARD_LINK_ABI)) {
        snprintf(problem, size, "%s is of another version than this library", NATS_LIBRARY);
        return NULL;
    }
    return ops;
}

const perftrace__forward_link_ops_t *
perftrace__forward_link_find(const char *forward, const char **ret_to, char *problem, size_t size) {
    const char *wrong = perftrace__address_problem(forward);
    if (wrong) {
        snprintf(problem, size, "%s", wrong);
        return NULL;
    }
    if (strncmp(forward, "tcp:", 4) == 0) {
        *ret_to = forward + (strncmp(forward, "tcp://", 6) == 0 ? 6 : 4);
        return &perftrace__forward_tcp;
    }
    *ret_to = forward;
    return find_nats(problem, size);
}
