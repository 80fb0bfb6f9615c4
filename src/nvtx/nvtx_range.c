/* nvtx_range.c: ranges and marks into the trace. SPDX-License-Identifier: MIT */
#include "nvtx_range.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH     256u
#define ID_SHIFT  40
#define COUNT_MAX (((uint64_t)1 << ID_SHIFT) - 1)

/* An open range: what is needed to end its scope. A line of its own, found by a shift. */
typedef struct range {
    const nvtx_domain_t *domain; /* NULL: ended before those within it */
    uint64_t value;
    perftrace_i_site_t *site;
    uint64_t start;
    uint32_t live, depth, nargs;
} __attribute__((aligned(64))) range_t;

/* What a thread has. One pointer in its static memory: that needs no call to be found, and there is
 * little room where a library is loaded late. */
typedef struct thread {
    range_t *top; /* behind the innermost range */
    const nvtx_domain_t *usual;
    uint32_t beyond; /* pushed on top of a full stack */
    uint32_t ended;  /* ranges below others that have ended */
    nvtx_cached_t cache[NVTX_CACHE];
    range_t range[DEPTH];
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

static __attribute__((noinline)) thread_t *make_thread(void) {
    pthread_once(&once, make_key);
    thread_t *t = aligned_alloc(_Alignof(thread_t), sizeof *t);
    if (t != NULL) {
        memset(t, 0, sizeof *t);
        t->top = t->range;
        t->usual = nvtx_domain_of(NULL);
        mine = t;
        pthread_setspecific(key, t);
    }
    return t;
}

static inline thread_t *this_thread(void) {
    thread_t *t = mine;
    return __builtin_expect(t != NULL, 1) ? t : make_thread();
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

/* A range of a thread whose stack has room. The scope passes through registers: only what its end
 * needs is stored. */
static int begin_range(thread_t *t, const nvtx_domain_t *domain, perftrace_i_site_t *site,
                       uint32_t nargs, uint64_t value) {
    perftrace_i_scope_t scope;
    range_t *r = t->top;
    perftrace_i_begin(&scope, site, nargs, &r->value);
    r->domain = domain;
    r->value = value;
    r->site = site;
    r->start = scope.start;
    r->live = scope.live;
    r->depth = scope.depth;
    r->nargs = nargs;
    t->top = r + 1;
    return (int)(r - t->range);
}

int nvtx_push(nvtx_domain_t *domain, nvtx_name_t *name, nvtx_value_t as, uint64_t value) {
    thread_t *t = this_thread();
    perftrace_i_site_t *site = name != NULL ? nvtx_name_site(name, NVTX_SITE_SCOPE, as) : NULL;
    if (t == NULL || site == NULL) {
        return -1;
    }
    if (t->top == t->range + DEPTH) {
        t->beyond++;
        return -1;
    }
    return begin_range(t, domain, site, as != NVTX_VALUE_NONE, value);
}

static __attribute__((noinline)) int push_new(const char *text) {
    nvtx_domain_t *domain = nvtx_domain_of(NULL);
    thread_t *t = this_thread();
    if (domain == NULL || t == NULL) {
        return -1;
    }
    text = text != NULL ? text : "(no name)";
    nvtx_name_t *name = nvtx_name_get(domain, text, t->cache);
    nvtx_cached_t *at = nvtx_cached_at(t->cache, domain, text);
    if (name != NULL && at->name == name && at->text == text) {
        at->scope = nvtx_name_site(name, NVTX_SITE_SCOPE, NVTX_VALUE_NONE);
    }
    return nvtx_push(domain, name, NVTX_VALUE_NONE, 0);
}

/* What nvtx_push does for a name that is known, flat and without a call: the steps are those of
 * perftrace_i_begin. Programs feel each store and each register that is saved here: while the clock
 * is read the processor works ahead as far as its queues reach. */
int nvtx_push_text(const char *text) {
    thread_t *t = mine;
    if (__builtin_expect(t == NULL, 0)) {
        return push_new(text);
    }
    const nvtx_cached_t *at = nvtx_cached_at(t->cache, t->usual, text);
    perftrace_i_site_t *site = at->scope;
    perftrace_i_thread_t *own = &perftrace_i_thread;
    range_t *r = t->top;
    if (__builtin_expect(site == NULL || at->text != text || at->domain != t->usual ||
                             !nvtx_same_text(at->copy, at->size, text) || r == t->range + DEPTH,
                         0)) {
        return push_new(text);
    }
    const uint32_t id = __atomic_load_n(&site->word, __ATOMIC_RELAXED);
    const uint64_t word = own->word;
    if (__builtin_expect(id != 0, 1)) {
        if (__builtin_expect(perftrace_i_foreign(own, id) || (uint8_t)word >= PERFTRACE_I_MAX_DEPTH,
                             0)) {
            return push_new(text);
        }
        const uint32_t depth = (uint8_t)word;
        perftrace_i_open_t *open = perftrace_i_open_at(own->slot, depth);
        __builtin_prefetch(perftrace_i_record_at(own->slot, word, own->mask), 1);
        const uint64_t start = perftrace_i_clock();
        perftrace_i_open_set(open, start, PERFTRACE_I_SITE_ID(id), 0);
        perftrace_i_publish(own, word + 1);
        r->start = start;
        r->site = site;
        r->depth = depth;
    }
    r->domain = t->usual;
    r->live = id;
    r->nargs = 0;
    t->top = r + 1;
    return (int)(r - t->range);
}

static void end_range(const range_t *r) {
    if (r->live) {
        const perftrace_i_scope_t scope = {.live = r->live,
                                           .depth = r->depth,
                                           .start = r->start,
                                           .nargs = r->nargs,
                                           .site = r->site,
                                           .values = &r->value};
        if (__builtin_expect(r->nargs != 0, 0)) {
            perftrace_i_end(&scope, 1);
        } else {
            perftrace_i_end(&scope, 0);
        }
    }
}

static int pop_below(thread_t *t, const nvtx_domain_t *domain) {
    range_t *r = t->top;
    while (r > t->range && r[-1].domain != domain) {
        r--;
    }
    if (r == t->range) {
        return -1;
    }
    r--;
    end_range(r);
    r->domain = NULL;
    t->ended++;
    while (t->top > t->range && t->top[-1].domain == NULL) {
        t->top--;
        t->ended--;
    }
    return (int)(r - t->range);
}

int nvtx_pop(const nvtx_domain_t *domain) {
    thread_t *t = mine;
    if (t == NULL || domain == NULL) {
        return -1;
    }
    if (t->beyond > 0) {
        t->beyond--; /* of those that were not taken */
        return -1;
    }
    return pop_below(t, domain);
}

static __attribute__((noinline)) int pop_rare(void) {
    return nvtx_pop(mine != NULL ? mine->usual : NULL);
}

/* What nvtx_pop does for the innermost range without a value, flat and without a call: the steps
 * are those of perftrace_i_end. */
int nvtx_pop_usual(void) {
    thread_t *t = mine;
    if (__builtin_expect(t == NULL, 0)) {
        return pop_rare();
    }
    if (__builtin_expect((t->beyond | t->ended) != 0 || t->top == t->range, 0)) {
        return pop_rare();
    }
    range_t *r = t->top - 1;
    perftrace_i_thread_t *own = &perftrace_i_thread;
    if (__builtin_expect(r->domain != t->usual || r->nargs != 0, 0)) {
        return pop_rare();
    }
    const uint32_t id = r->live;
    if (__builtin_expect(id != 0, 1)) {
        const uint64_t word = own->word;
        const uint64_t next = word + (3u << 8) - 1;
        if (__builtin_expect(__atomic_load_n(&r->site->word, __ATOMIC_RELAXED) != id ||
                                 perftrace_i_foreign(own, id) || (uint8_t)word != r->depth + 1 ||
                                 next > own->limit,
                             0)) {
            return pop_rare();
        }
        const uint64_t end = perftrace_i_clock();
        uint64_t *record = perftrace_i_record_at(own->slot, word, own->mask);
        record[0] = PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_SCOPE, 0, 3, PERFTRACE_I_SITE_ID(id));
        record[1] = r->start;
        record[2] = end;
        perftrace_i_publish(own, next);
    }
    t->top = r;
    return (int)(r - t->range);
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
