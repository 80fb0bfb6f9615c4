/* nvtx_name.c: domains, names, and the call sites that stand for them. SPDX-License-Identifier: MIT
 */
#include "nvtx_name.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 16384u

struct nvtx_domain {
    char *name;
    nvtx_domain_t *next;
    nvtx_name_t *other; /* for what comes when there are too many */
};

struct nvtx_name {
    nvtx_domain_t *domain;
    char *text;
    uint32_t number;
    nvtx_name_t *next;                                  /* of its bucket */
    perftrace_i_site_t *sites[NVTX_SITES][NVTX_VALUES]; /* release */
};

static struct {
    pthread_mutex_t lock;
    nvtx_domain_t *domains;
    nvtx_name_t *buckets[BUCKETS];
    nvtx_name_t *numbered[NVTX_NAMES_MAX + 1]; /* release */
    uint32_t count;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- fork: no other thread is here to let the lock go ----
 *
 * Nothing of the tracer is called with it held, so that its place among the locks that a fork takes
 * does not matter. */

static void take_lock(void) {
    pthread_mutex_lock(&all.lock);
}

static void leave_lock(void) {
    pthread_mutex_unlock(&all.lock);
}

__attribute__((constructor)) static void install(void) {
    pthread_atfork(take_lock, leave_lock, leave_lock);
}

/* ---- domains ---- */

static nvtx_domain_t *find_domain(const char *name) {
    nvtx_domain_t *d = all.domains;
    while (d != NULL && strcmp(d->name, name) != 0) {
        d = d->next;
    }
    return d;
}

nvtx_domain_t *nvtx_domain_get(const char *name) {
    const char *category = name != NULL && name[0] != '\0' ? name : "nvtx";
    pthread_mutex_lock(&all.lock);
    nvtx_domain_t *d = find_domain(category);
    if (d == NULL) {
        d = calloc(1, sizeof *d);
        char *copy = strdup(category);
        if (d == NULL || copy == NULL) {
            free(d);
            free(copy);
            d = NULL;
        } else {
            d->name = copy;
            d->next = all.domains;
            all.domains = d;
        }
    }
    pthread_mutex_unlock(&all.lock);
    return d;
}

nvtx_domain_t *nvtx_domain_of(const void *handle) {
    static nvtx_domain_t *usual;
    if (handle != NULL) {
        return (nvtx_domain_t *)(uintptr_t)handle;
    }
    /* Pairs with the release below: the domain is whole. */
    nvtx_domain_t *d = __atomic_load_n(&usual, __ATOMIC_ACQUIRE);
    if (d == NULL) {
        d = nvtx_domain_get(NULL);
        __atomic_store_n(&usual, d, __ATOMIC_RELEASE);
    }
    return d;
}

/* ---- names ---- */

static uint32_t bucket_of(const nvtx_domain_t *domain, const char *text) {
    uint64_t h = 1469598103934665603u ^ (uintptr_t)domain; /* FNV-1a */
    for (; *text != '\0'; text++) {
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    }
    return (uint32_t)(h ^ h >> 32) % BUCKETS;
}

static nvtx_name_t *make_name(nvtx_domain_t *domain, const char *text, uint32_t bucket) {
    nvtx_name_t *n = calloc(1, sizeof *n);
    const size_t len = strlen(text);
    char *copy = calloc(len / 8 + 1, 8); /* see nvtx_same_text */
    if (n == NULL || copy == NULL) {
        free(n);
        free(copy);
        return NULL;
    }
    memcpy(copy, text, len);
    n->domain = domain;
    n->text = copy;
    n->next = all.buckets[bucket];
    n->number = ++all.count;
    all.buckets[bucket] = n;
    /* Pairs with the acquire in nvtx_name_of. */
    __atomic_store_n(&all.numbered[n->number], n, __ATOMIC_RELEASE);
    return n;
}

/* Lock held. */
static nvtx_name_t *find_or_make(nvtx_domain_t *domain, const char *text) {
    uint32_t bucket = bucket_of(domain, text);
    nvtx_name_t *n = all.buckets[bucket];
    while (n != NULL && (n->domain != domain || strcmp(n->text, text) != 0)) {
        n = n->next;
    }
    if (n != NULL) {
        return n;
    }
    /* The last numbers are kept for the names of the rest. */
    if (all.count >= NVTX_NAMES_MAX - 1024) {
        if (domain->other == NULL && all.count < NVTX_NAMES_MAX) {
            domain->other = make_name(domain, "(other)", bucket_of(domain, "(other)"));
        }
        return domain->other;
    }
    return make_name(domain, text, bucket);
}

nvtx_name_t *nvtx_name_get(nvtx_domain_t *domain, const char *text, nvtx_cached_t *cache) {
    nvtx_cached_t *at = cache != NULL ? nvtx_cached_at(cache, domain, text) : NULL;
    /* The text is compared all the same: a buffer may hold another one now. */
    if (at != NULL && at->text == text && at->domain == domain && strcmp(at->copy, text) == 0) {
        return at->name;
    }
    pthread_mutex_lock(&all.lock);
    nvtx_name_t *n = find_or_make(domain, text);
    bool other = n == domain->other;
    pthread_mutex_unlock(&all.lock);
    if (at != NULL && n != NULL && !other) {
        *at = (nvtx_cached_t){domain, text, n->text, strlen(n->text) + 1, n, NULL};
    }
    return n;
}

uint32_t nvtx_name_number(const nvtx_name_t *name) {
    return name->number;
}

nvtx_name_t *nvtx_name_of(uint32_t number) {
    /* Pairs with the release in make_name. */
    return number > 0 && number <= NVTX_NAMES_MAX
               ? __atomic_load_n(&all.numbered[number], __ATOMIC_ACQUIRE)
               : NULL;
}

/* ---- call sites ---- */

static perftrace_i_site_t *make_site(const nvtx_name_t *name, nvtx_site_t kind,
                                     nvtx_value_t value) {
    static const int kinds[NVTX_SITES] = {PERFTRACE_I_KIND_SCOPE, PERFTRACE_I_KIND_INSTANT,
                                          PERFTRACE_I_KIND_ASYNC_BEGIN, PERFTRACE_I_KIND_ASYNC_END};
    static const uint32_t types[NVTX_VALUES] = {0, PERFTRACE_I_TYPE_U64, PERFTRACE_I_TYPE_I64,
                                                PERFTRACE_I_TYPE_F64};
    const perftrace_i_arg_t arg = {"payload", types[value]};
    return perftrace_site_create(kinds[kind], name->text, name->domain->name, "nvtx", 0,
                                 value != NVTX_VALUE_NONE, &arg);
}

perftrace_i_site_t *nvtx_name_site(nvtx_name_t *name, nvtx_site_t kind, nvtx_value_t value) {
    /* Pairs with the release below: the site is whole. */
    perftrace_i_site_t *site = __atomic_load_n(&name->sites[kind][value], __ATOMIC_ACQUIRE);
    if (__builtin_expect(site == NULL, 0)) {
        perftrace_i_site_t *made = make_site(name, kind, value);
        /* Of several threads the first keeps its own; another site of the same name does no harm.
         */
        if (made == NULL || __atomic_compare_exchange_n(&name->sites[kind][value], &site, made, 0,
                                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            site = made;
        }
    }
    return site;
}
