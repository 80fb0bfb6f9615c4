/* bindings.c: call sites by number, scopes kept by the library, packed arguments.
 * SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "core_state.h"
#include "record_decode.h"

#include <perftrace/bindings.h>
#include <perftrace/status.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- sites by number ----------------------------------------------------------------------------
 */

#define CHUNK  1024u
#define CHUNKS 256u

/* Chunks never move, so that a number is looked up without a lock. */
static perftrace_i_site_t **chunks[CHUNKS];
static uint32_t site_count; /* release: the sites below it are in their places */

/* NULL for a number that was not given out. */
static perftrace_i_site_t *site_of(int number) {
    /* Pairs with the release in keep_site. */
    if (PT_UNLIKELY((uint32_t)number >= pt_load_acquire(&site_count))) {
        return NULL;
    }
    return chunks[(uint32_t)number / CHUNK][(uint32_t)number % CHUNK];
}

static int keep_site(perftrace_i_site_t *site) {
    uint32_t number = site_count;
    if (number >= CHUNK * CHUNKS) {
        return PERFTRACE_ERR_NOMEM;
    }
    perftrace_i_site_t ***chunk = &chunks[number / CHUNK];
    if (!*chunk) {
        *chunk = calloc(CHUNK, sizeof(perftrace_i_site_t *));
    }
    if (!*chunk) {
        return PERFTRACE_ERR_NOMEM;
    }
    (*chunk)[number % CHUNK] = site;
    pt_store_release(&site_count, number + 1);
    return (int)number;
}

int perftrace_bound_site(int kind, const char *name, const char *category, uint32_t nargs,
                         const perftrace_i_arg_t *args) {
    if (!perftrace__site_can_be(kind, nargs, args)) {
        return PERFTRACE_ERR_INVALID;
    }
    perftrace_i_site_t *site = perftrace_site_create(kind, name, category, NULL, 0, nargs, args);
    if (!site) {
        return PERFTRACE_ERR_NOMEM;
    }
    /* The one that a fork takes, so that the child finds it free. */
    pthread_mutex_lock(&perftrace__core.lock);
    int number = keep_site(site);
    pthread_mutex_unlock(&perftrace__core.lock);
    return number;
}

/* ---- packed arguments ---------------------------------------------------------------------------
 */

/* The words that a site's arguments are, texts as addresses in the block. */
static bool unpack(const perftrace_i_site_t *site, const void *packed, uint32_t len,
                   uint64_t values[PERFTRACE_I_MAX_ARGS]) {
    const char *p = packed;
    const char *end = p ? p + len : p;
    for (uint32_t i = 0; i < site->nargs; i++) {
        uint64_t word;
        if (end - p < 8) {
            return false;
        }
        memcpy(&word, p, 8);
        p += 8;
        if (PERFTRACE_I_TYPE_HAS_BYTES(site->args[i].type)) {
            if (word == UINT64_MAX) {
                word = 0;
            } else {
                uint64_t room = word < UINT32_MAX ? word / 8 * 8 + 8 : UINT64_MAX;
                if (room > (uint64_t)(end - p) || p[word] != '\0') {
                    return false;
                }
                word = (uint64_t)(uintptr_t)p;
                p += room;
            }
        }
        values[i] = word;
    }
    return p == end;
}

/* ---- the scopes that are open on a thread
 * ------------------------------------------------------- */

typedef struct bound_scope {
    perftrace_i_scope_t scope;
    int site;
} bound_scope_t;

typedef struct bound_stack {
    bound_scope_t *items;
    uint32_t depth;
    uint32_t cap;
} bound_stack_t;

#define FIRST 16u

static __thread bound_stack_t mine __attribute__((tls_model("initial-exec")));
static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static bool stack_key_made;

static void free_stack(void *items) {
    mine = (bound_stack_t){NULL, 0, 0};
    free(items);
}

static void make_key(void) {
    stack_key_made = pthread_key_create(&stack_key, free_stack) == 0;
}

static PT_COLD bool grow(bound_stack_t *s) {
    uint32_t cap = s->cap ? 2 * s->cap : FIRST;
    pthread_once(&stack_once, make_key);
    /* Not without the hook that frees it. */
    if (!stack_key_made || cap > UINT32_MAX / 2 / sizeof(bound_scope_t)) {
        return false;
    }
    bound_scope_t *items = malloc(cap * sizeof(bound_scope_t));
    if (!items || pthread_setspecific(stack_key, items) != 0) {
        free(items);
        return false;
    }
    if (s->depth) {
        memcpy(items, s->items, s->depth * sizeof(bound_scope_t));
    }
    free(s->items);
    s->items = items;
    s->cap = cap;
    return true;
}

static bound_scope_t *push(int number) {
    bound_stack_t *s = &mine;
    if (PT_UNLIKELY(s->depth == s->cap) && !grow(s)) {
        return NULL;
    }
    bound_scope_t *b = &s->items[s->depth++];
    b->site = number;
    return b;
}

/* The innermost scope of the site, and nothing else, comes off the stack. */
static bool pop(int number, perftrace_i_scope_t *ret_scope) {
    bound_stack_t *s = &mine;
    uint32_t i = s->depth;
    while (i > 0 && s->items[i - 1].site != number) {
        i--;
    }
    if (PT_UNLIKELY(i == 0)) {
        return false;
    }
    *ret_scope = s->items[i - 1].scope;
    if (PT_UNLIKELY(i < s->depth)) {
        memmove(&s->items[i - 1], &s->items[i], (s->depth - i) * sizeof(bound_scope_t));
    }
    s->depth--;
    return true;
}

uint32_t perftrace_bound_depth(void) {
    return mine.depth;
}

static bool is_scope(const perftrace_i_site_t *site, bool named) {
    return site && site->kind == PERFTRACE_I_KIND_SCOPE && !site->name == named;
}

int perftrace_bound_begin(int number) {
    perftrace_i_site_t *site = site_of(number);
    if (PT_UNLIKELY(!is_scope(site, false))) {
        return PERFTRACE_ERR_INVALID;
    }
    bound_scope_t *b = push(number);
    if (PT_UNLIKELY(!b)) {
        return PERFTRACE_ERR_NOMEM;
    }
    /* Arguments come with the end. */
    return perftrace_i_begin(&b->scope, site, PERFTRACE_I_SCOPE_SPAN, NULL) != 0;
}

int perftrace_bound_begin_named(int number, const char *name) {
    perftrace_i_site_t *site = site_of(number);
    if (!is_scope(site, true) || !name) {
        return PERFTRACE_ERR_INVALID;
    }
    bound_scope_t *b = push(number);
    if (!b) {
        return PERFTRACE_ERR_NOMEM;
    }
    b->scope.live = 0;
    return perftrace_i_wanted(site) &&
           perftrace_i_begin_named(&b->scope, site, PERFTRACE_I_SCOPE_SPAN, NULL, name) != 0;
}

/* A record of another site than the one the scope was begun at, or with strings. */
static void end_by_hand(const perftrace_i_scope_t *s, const perftrace_i_site_t *as, uint32_t live,
                        const uint64_t *values) {
    uint64_t end = perftrace_i_clock();
    perftrace_i_end_slow(as, live | (uint64_t)s->depth << 32, s->start, end, values,
                         (uint64_t)s->name << 32 | PERFTRACE_I_SCOPE_SPAN);
}

static void end_bare(perftrace_i_scope_t *s) {
    static const uint64_t none[PERFTRACE_I_MAX_ARGS];
    if (!s->live) {
        return;
    }
    if (PT_UNLIKELY(s->site->nargs || s->name)) {
        end_by_hand(s, s->site, s->live, none);
    } else {
        s->values = none;
        perftrace_i_end(s, 0);
    }
}

int perftrace_bound_end(int number) {
    perftrace_i_scope_t s;
    if (PT_UNLIKELY(!pop(number, &s))) {
        return PERFTRACE_ERR_NOT_FOUND;
    }
    end_bare(&s);
    return PERFTRACE_OK;
}

int perftrace_bound_end_packed(int number, int as_number, const void *packed, uint32_t len) {
    perftrace_i_scope_t s;
    if (!pop(number, &s)) {
        return PERFTRACE_ERR_NOT_FOUND;
    }
    perftrace_i_site_t *as = site_of(as_number);
    uint64_t values[PERFTRACE_I_MAX_ARGS];
    if (!as || as->kind != PERFTRACE_I_KIND_SCOPE || !unpack(as, packed, len, values)) {
        end_bare(&s);
        return PERFTRACE_ERR_INVALID;
    }
    if (s.live) {
        uint32_t live = as == s.site ? s.live : perftrace_i_wanted(as);
        if (live) {
            end_by_hand(&s, as, live, values);
        } else {
            end_bare(&s); /* switched off meanwhile: as the scope that began */
        }
    }
    return PERFTRACE_OK;
}

/* ---- points and phases --------------------------------------------------------------------------
 */

static bool is_point(const perftrace_i_site_t *site, bool named) {
    return site && site->kind > PERFTRACE_I_KIND_SCOPE && !perftrace__kind_is_session(site->kind) &&
           !site->name == named;
}

static int emit(int number, uint64_t id, const void *packed, uint32_t len, const char *name) {
    perftrace_i_site_t *site = site_of(number);
    uint64_t values[PERFTRACE_I_MAX_ARGS];
    if (!is_point(site, name != NULL) || !unpack(site, packed, len, values)) {
        return PERFTRACE_ERR_INVALID;
    }
    if (perftrace_i_wanted(site)) {
        perftrace_i_emit_slow(site, id, values, name ? perftrace_i_name(name) : 0);
    }
    return PERFTRACE_OK;
}

int perftrace_bound_emit(int number, uint64_t id, const void *packed, uint32_t len) {
    return emit(number, id, packed, len, NULL);
}

int perftrace_bound_emit_named(int number, uint64_t id, const void *packed, uint32_t len,
                               const char *name) {
    return name ? emit(number, id, packed, len, name) : PERFTRACE_ERR_INVALID;
}

int perftrace_bound_phase_begin(perftrace_phase_t *phase, int64_t session, int number,
                                const void *packed, uint32_t len) {
    perftrace_i_site_t *site = site_of(number);
    uint64_t values[PERFTRACE_I_MAX_ARGS];
    *phase = (perftrace_phase_t){.session = PERFTRACE_NO_ID};
    if (!site || site->kind != PERFTRACE_I_KIND_PHASE_BEGIN || !site->name ||
        !unpack(site, packed, len, values)) {
        return PERFTRACE_ERR_INVALID;
    }
    perftrace_session_phase_begin(phase, session, site, values);
    return PERFTRACE_OK;
}

int perftrace_bound_phase_end(perftrace_phase_t *phase, int number, const void *packed,
                              uint32_t len) {
    perftrace_i_site_t *site = number < 0 ? NULL : site_of(number);
    uint64_t values[PERFTRACE_I_MAX_ARGS];
    if (number >= 0 &&
        (!site || site->kind != PERFTRACE_I_KIND_PHASE_END || !unpack(site, packed, len, values))) {
        perftrace_session_phase_end(phase, NULL, NULL);
        return PERFTRACE_ERR_INVALID;
    }
    perftrace_session_phase_end(phase, site, values);
    return PERFTRACE_OK;
}
