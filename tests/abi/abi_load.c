/* abi_load.c LIBRARY DIR: the library is loaded, used and given back by a program that was not
 * linked with it, as Python's ctypes does. SPDX-License-Identifier: MIT */
#include <perftrace/perftrace.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *library;

static void *find(const char *name) {
    void *p = dlsym(library, name);
    if (!p) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return p;
}

/* Function pointers by way of their bytes: ISO C has no cast. */
#define FIND(pointer, name)                                                                        \
    do {                                                                                           \
        void *found = find(name);                                                                  \
        memcpy(&(pointer), &found, sizeof(found));                                                 \
    } while (0)

static perftrace_i_site_t *site;
static void (*emit)(perftrace_i_site_t *, uint64_t, const uint64_t *);
static pthread_barrier_t used;
static pthread_barrier_t closed;

static void *use_and_outlive(void *arg) {
    (void)arg;
    uint64_t value = 1;
    emit(site, 0, &value);
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&closed);
    return NULL; /* the library's hook runs now */
}

int main(int argc, char **argv) {
    if (argc != 3) {
        return 2;
    }
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*init)(const perftrace_config_t *);
    int (*stop)(void);
    int (*stats)(perftrace_stats_t *);
    int (*save)(int64_t, int);
    perftrace_i_site_t *(*create)(int, const char *, const char *, const char *, uint32_t, uint32_t,
                                  const perftrace_i_arg_t *);
    FIND(init, "perftrace_init");
    FIND(stop, "perftrace_shutdown");
    FIND(stats, "perftrace_get_stats");
    FIND(save, "perftrace_save");
    FIND(create, "perftrace_site_create");
    FIND(emit, "perftrace_emit");
    perftrace_config_t c = PERFTRACE_CONFIG_INIT;
    c.dir = argv[2];
    c.ring_dir = argv[2];
    c.rank = 0;
    const perftrace_i_arg_t arg = {"n", PERFTRACE_I_TYPE_I64};
    site = create(PERFTRACE_I_KIND_INSTANT, "loaded", NULL, "f.py", 1, 1, &arg);
    if (!site || init(&c) != 0) {
        return 1;
    }
    pthread_barrier_init(&used, NULL, 2);
    pthread_barrier_init(&closed, NULL, 2);
    pthread_t t;
    pthread_create(&t, NULL, use_and_outlive, NULL);
    pthread_barrier_wait(&used);
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    const int good = save(-1, 0) == 0 && stats(&s) == 0 && s.written == 1 && stop() == 0;
    dlclose(library);
    pthread_barrier_wait(&closed);
    pthread_join(t, NULL);
    return good ? 0 : 1;
}
