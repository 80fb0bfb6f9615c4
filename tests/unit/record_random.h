/* record_random.h: random sites, names and records, and what decoding them must give.
 * SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TESTS_RECORD_RANDOM_H
#define PERFTRACE_TESTS_RECORD_RANDOM_H

#include "base_random.h"
#include "record_decode.h"

#include <stdio.h>
#include <string.h>

#define RECORD_SITES 40
#define RECORD_NAMES 10
#define RECORD_WORDS 600 /* more than the longest that record_random_put makes */

typedef struct record_set {
    perftrace_i_site_t sites[RECORD_SITES];
    perftrace_i_arg_t args[RECORD_SITES][PERFTRACE_I_MAX_ARGS];
    char texts[RECORD_SITES][3][16]; /* name, category, file */
    char keys[RECORD_SITES][PERFTRACE_I_MAX_ARGS][16];
    char names[RECORD_NAMES][32];
    size_t name_lens[RECORD_NAMES];
} record_set_t;

/* Sites of every kind with up to twelve arguments of every type, and run-time names. */
static inline void record_random_set(record_set_t *set, uint64_t *seed) {
    memset(set, 0, sizeof(*set));
    for (uint32_t i = 0; i < RECORD_SITES; i++) {
        perftrace_i_site_t *s = &set->sites[i];
        snprintf(set->texts[i][0], 16, "name-%u", i);
        snprintf(set->texts[i][1], 16, "cat%u", base_random_below(seed, 5));
        snprintf(set->texts[i][2], 16, "file%u.c", i % 3);
        s->kind = (uint16_t)(1 + i % 9);
        s->nargs = (uint16_t)base_random_below(seed, PERFTRACE_I_MAX_ARGS + 1);
        s->name = i % 7 == 6 ? NULL : set->texts[i][0];
        s->category = set->texts[i][1];
        s->file = i % 5 == 4 ? NULL : set->texts[i][2];
        s->line = base_random_below(seed, 100000);
        s->args = set->args[i];
        for (uint32_t k = 0; k < s->nargs; k++) {
            snprintf(set->keys[i][k], 16, "key%u", k);
            set->args[i][k].name = set->keys[i][k];
            set->args[i][k].type = 1 + base_random_below(seed, 5);
        }
    }
    for (uint32_t i = 0; i < RECORD_NAMES; i++) {
        set->name_lens[i] = base_random_below(seed, sizeof(set->names[i]));
        for (size_t k = 0; k < set->name_lens[i]; k++) {
            set->names[i][k] = (char)('A' + base_random_below(seed, 26));
        }
    }
}

/* The log of the set, sites and names mixed. */
static inline void record_random_log(const record_set_t *set, perftrace__strbuf_t *log) {
    for (uint32_t i = 0; i < RECORD_SITES; i++) {
        perftrace__log_site(log, i + 1, &set->sites[i], set->sites[i].category);
        if (i < RECORD_NAMES) {
            perftrace__log_name(log, i + 1, set->names[i], set->name_lens[i]);
        }
    }
}

typedef struct record_model {
    uint32_t site; /* index */
    uint32_t name; /* id, 0 none */
    uint64_t start;
    uint64_t end;
    uint64_t id;
    uint64_t values[PERFTRACE_I_MAX_ARGS]; /* numbers */
    uint64_t lens[PERFTRACE_I_MAX_ARGS];   /* strings; PERFTRACE__STR_NULL */
    char strings[PERFTRACE_I_MAX_ARGS][64];
} record_model_t;

/* Makes a record of words[0..RECORD_WORDS) and what it says; returns its length. */
static inline uint32_t record_random_put(const record_set_t *set, uint64_t *seed, uint64_t *words,
                                         record_model_t *m) {
    memset(m, 0, sizeof(*m));
    m->site = base_random_below(seed, RECORD_SITES);
    const perftrace_i_site_t *s = &set->sites[m->site];
    bool scope = s->kind == PERFTRACE_I_KIND_SCOPE;
    m->name = s->name ? 0 : 1 + base_random_below(seed, RECORD_NAMES);
    m->start = base_random(seed) >> 16;
    m->end = scope ? m->start + base_random_below(seed, 100000) : m->start;
    uint32_t n = 1;
    words[n++] = m->start;
    if (scope) {
        words[n++] = m->end;
    }
    if (m->name) {
        words[n++] = m->name;
    }
    if (s->kind >= PERFTRACE_I_KIND_FLOW_START) {
        m->id = base_random(seed);
        words[n++] = m->id;
    }
    for (uint32_t i = 0; i < s->nargs; i++) {
        if (s->args[i].type != PERFTRACE_I_TYPE_STR) {
            m->values[i] = base_random(seed);
            words[n++] = m->values[i];
            continue;
        }
        m->lens[i] = base_random_below(seed, 5) ? base_random_below(seed, 64) : PERFTRACE__STR_NULL;
        words[n++] = m->lens[i];
        if (m->lens[i] != PERFTRACE__STR_NULL && m->lens[i]) {
            for (uint64_t k = 0; k < m->lens[i]; k++) {
                m->strings[i][k] = (char)base_random(seed);
            }
            uint32_t more = (uint32_t)(m->lens[i] + 7) / 8;
            words[n + more - 1] = 0;
            memcpy(&words[n], m->strings[i], (size_t)m->lens[i]);
            n += more;
        }
    }
    words[0] =
        PERFTRACE_I_RECORD_HEAD(s->kind, m->name ? PERFTRACE_I_RECORD_NAMED : 0, n, m->site + 1);
    return n;
}

#endif
