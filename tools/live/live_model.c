/* live_model.c. SPDX-License-Identifier: MIT */
#include "live_model.h"

#include "grow.h"

#include <string.h>

const char *pt_live_state_word(pt_live_state_t state) {
    static const char *const words[] = {
#define X(name, word, text) word,
        PT_LIVE_STATE_LIST(X)
#undef X
    };
    return words[state];
}

static void free_process(pt_live_process_t *p) {
    for (uint32_t t = 0; t < p->threads; t++) {
        for (uint32_t i = 0; i < p->thread[t].scopes; i++) {
            free(p->thread[t].scope[i].name);
            free(p->thread[t].scope[i].category);
        }
        free(p->thread[t].scope);
    }
    free(p->thread);
    free(p->ring);
    free(p->trace);
    free(p->run);
    free(p->role);
    free(p->host);
    free(p->run_id);
}

pt_live_process_t *pt_live_model_add(pt_live_model_t *m) {
    if (!pt_grow((void **)&m->process, sizeof *m->process, m->processes, 1, &m->process_cap)) {
        m->failed = true;
        return NULL;
    }
    pt_live_process_t *p = &m->process[m->processes++];
    memset(p, 0, sizeof *p);
    return p;
}

void pt_live_model_drop(pt_live_model_t *m) {
    free_process(&m->process[--m->processes]);
}

void pt_live_model_problem(pt_live_model_t *m, const char *ring, const char *text) {
    char *name = strdup(ring);
    if (name == NULL ||
        !pt_grow((void **)&m->problem, sizeof *m->problem, m->problems, 1, &m->problem_cap)) {
        free(name);
        m->failed = true;
        return;
    }
    m->problem[m->problems++] = (pt_live_problem_t){name, text};
}

static int compare(const void *a, const void *b) {
    const pt_live_process_t *p = a, *q = b;
    int order = strcmp(p->run, q->run);
    if (order == 0) {
        order = (p->rank > q->rank) - (p->rank < q->rank);
    }
    if (order == 0) {
        order = (p->pid > q->pid) - (p->pid < q->pid);
    }
    return order != 0 ? order : strcmp(p->ring, q->ring);
}

void pt_live_model_sort(pt_live_model_t *m) {
    if (m->processes > 1) {
        qsort(m->process, m->processes, sizeof *m->process, compare);
    }
}

void pt_live_model_free(pt_live_model_t *m) {
    if (m == NULL) {
        return;
    }
    for (size_t i = 0; i < m->processes; i++) {
        free_process(&m->process[i]);
    }
    for (size_t i = 0; i < m->problems; i++) {
        free(m->problem[i].ring);
    }
    free(m->process);
    free(m->problem);
    *m = (pt_live_model_t){0};
}

const pt_live_scope_t *pt_live_thread_inner(const pt_live_thread_t *t) {
    return t->scopes > 0 ? &t->scope[t->scopes - 1] : NULL;
}

const pt_live_thread_t *pt_live_process_front(const pt_live_process_t *p) {
    const pt_live_thread_t *best = NULL;
    for (uint32_t i = 0; i < p->threads; i++) {
        const pt_live_thread_t *t = &p->thread[i];
        if (t->scopes == 0) {
            continue;
        }
        if (t->tid == p->pid) {
            return t;
        }
        if (best == NULL || pt_live_thread_inner(t)->age_ns > pt_live_thread_inner(best)->age_ns) {
            best = t;
        }
    }
    return best;
}
