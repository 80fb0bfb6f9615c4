/* nvtx_range.c: ranges and marks into the trace. SPDX-License-Identifier: MIT */
#include "nvtx_range.h"

#include <pthread.h>
#include <stdlib.h>

#define DEPTH     256u
#define ID_SHIFT  40
#define COUNT_MAX (((uint64_t)1 << ID_SHIFT) - 1)

typedef struct range {
    perftrace_i_scope_t scope; /* points to value */
    uint64_t value;
    const nvtx_domain_t *domain; /* NULL: ended before those within it */
} range_t;

/* What a thread has. One pointer in its static memory: that needs no call to be found, and there is
 * little room where a library is loaded late. */
typedef struct thread {
    uint32_t depth;
    uint32_t beyond; /* pushed on top of a full stack */
    range_t range[DEPTH];
    nvtx_cached_t cache[NVTX_CACHE];
} thread_t;

static __thread __attribute__((tls_model("initial-exec"))) thread_t *mine;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What the thread leaves open the tracer tells of by itself. */
static void free_thread(void *thread) {
    mine = NULL;
    free(thread);
}

static void make_key(void) {
    pthread_key_create(&key, free_thread);
}

static thread_t *this_thread(void) {
    if (__builtin_expect(mine == NULL, 0)) {
        pthread_once(&once, make_key);
        mine = calloc(1, sizeof *mine);
        if (mine != NULL) {
            pthread_setspecific(key, mine);
        }
    }
    return mine;
}

nvtx_cached_t *nvtx_thread_cache(void) {
    thread_t *t = this_thread();
    return t != NULL ? t->cache : NULL;
}

void nvtx_mark(nvtx_name_t *name, nvtx_value_t as, uint64_t value) {
    perftrace_i_site_t *site = name != NULL ? nvtx_name_site(name, NVTX_SITE_MARK, as) : NULL;
    uint32_t word = site != NULL ? perftrace_i_wanted(site) : 0;
    if (word != 0) {
        perftrace_i_emit(site, word, PERFTRACE_I_KIND_INSTANT, 0, 0, &value, as != NVTX_VALUE_NONE);
    }
}

int nvtx_push(nvtx_domain_t *domain, nvtx_name_t *name, nvtx_value_t as, uint64_t value) {
    thread_t *s = this_thread();
    perftrace_i_site_t *site = name != NULL ? nvtx_name_site(name, NVTX_SITE_SCOPE, as) : NULL;
    if (s == NULL || site == NULL) {
        return -1;
    }
    if (s->depth == DEPTH) {
        s->beyond++;
        return -1;
    }
    range_t *r = &s->range[s->depth];
    r->domain = domain;
    r->value = value;
    perftrace_i_begin(&r->scope, site, as != NVTX_VALUE_NONE, &r->value);
    return (int)s->depth++;
}

static void end_range(range_t *r) {
    if (r->scope.live) {
        if (r->scope.nargs != 0) {
            perftrace_i_end(&r->scope, 1);
        } else {
            perftrace_i_end(&r->scope, 0);
        }
    }
    r->domain = NULL;
}

int nvtx_pop(nvtx_domain_t *domain) {
    thread_t *s = mine;
    if (s == NULL) {
        return -1;
    }
    if (s->beyond > 0) {
        s->beyond--; /* of those that were not taken */
        return -1;
    }
    for (uint32_t i = s->depth; i > 0; i--) {
        if (s->range[i - 1].domain == domain) {
            end_range(&s->range[i - 1]);
            while (s->depth > 0 && s->range[s->depth - 1].domain == NULL) {
                s->depth--;
            }
            return (int)i - 1;
        }
    }
    return -1;
}

uint64_t nvtx_start(nvtx_name_t *name, nvtx_value_t as, uint64_t value) {
    static uint64_t count;
    perftrace_i_site_t *site = name != NULL ? nvtx_name_site(name, NVTX_SITE_BEGIN, as) : NULL;
    if (site == NULL) {
        return 0;
    }
    uint64_t id = (__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) & COUNT_MAX) |
                  (uint64_t)nvtx_name_number(name) << ID_SHIFT;
    uint32_t word = perftrace_i_wanted(site);
    if (word != 0) {
        perftrace_i_emit(site, word, PERFTRACE_I_KIND_ASYNC_BEGIN, 1, id, &value,
                         as != NVTX_VALUE_NONE);
    }
    return id;
}

void nvtx_end(uint64_t id) {
    nvtx_name_t *name = nvtx_name_of((uint32_t)(id >> ID_SHIFT));
    perftrace_i_site_t *site =
        name != NULL ? nvtx_name_site(name, NVTX_SITE_END, NVTX_VALUE_NONE) : NULL;
    uint32_t word = site != NULL ? perftrace_i_wanted(site) : 0;
    if (word != 0) {
        perftrace_i_emit(site, word, PERFTRACE_I_KIND_ASYNC_END, 1, id, NULL, 0);
    }
}
