/* runtime_profiler.c: the profiler that the options ask for. SPDX-License-Identifier: MIT
 *
 * It is made once and never freed: other threads may be in its step while a run ends. What is open
 * then is ended by shutdown, and by exit(). */
#include "atomics.h"
#include "runtime_state.h"

#include <perftrace/profiler.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    perftrace_profiler_t *main; /* what requests start; release */
    perftrace_profiler_t *made; /* by the options; perftrace_step drives it; release */
    char *options;              /* it was made with */
} profiler;

perftrace_profiler_t *perftrace_profiler_main(void) {
    /* Pairs with the release in perftrace_profiler_set_main and open_with. */
    return pt_load_acquire(&profiler.main);
}

void perftrace_profiler_set_main(perftrace_profiler_t *p) {
    pt_store_release(&profiler.main, p);
}

void perftrace__runtime_profiler_step(int64_t step) {
    perftrace_profiler_t *p = pt_load_acquire(&profiler.made);
    if (p != NULL && step >= 0) {
        perftrace_profiler_step(p, step);
    }
}

static void log_message(int level, const char *message, void *user) {
    (void)user;
    perftrace__runtime_log((perftrace_log_level_t)level, "%s", message);
}

/* ---- the schedule's text: "wait=1,warmup=1,active=3,repeat=2" ---- */

static int64_t *schedule_field(perftrace_schedule_t *s, const char *key, size_t len) {
    const struct {
        const char *key;
        int64_t *field;
    } fields[] = {{"skip_first", &s->skip_first},
                  {"wait", &s->wait},
                  {"warmup", &s->warmup},
                  {"active", &s->active},
                  {"repeat", &s->repeat}};
    for (size_t i = 0; i < PT_ARRAY_LEN(fields); i++) {
        if (strlen(fields[i].key) == len && memcmp(key, fields[i].key, len) == 0) {
            return fields[i].field;
        }
    }
    return NULL;
}

static bool parse_schedule(const char *text, perftrace_schedule_t *ret) {
    while (*(text += strspn(text, ", \t")) != '\0') {
        size_t len = strcspn(text, "=, \t");
        int64_t *field = schedule_field(ret, text, len);
        char *end;
        if (field == NULL || text[len] != '=' || text[len + 1] < '0' || text[len + 1] > '9') {
            return false;
        }
        *field = strtoll(text + len + 1, &end, 10);
        text = end;
        if (*text != '\0' && *text != ',' && *text != ' ' && *text != '\t') {
            return false;
        }
    }
    return true;
}

/* ---- making it ---- */

static void name_profiles(perftrace_trace_name_t *n, const perftrace_config_t *o) {
    n->role = o->role;
    n->rank = o->rank;
    n->world_size = o->world_size;
    n->tp = o->tp;
    n->pp = o->pp;
    n->dp = o->dp;
    n->cp = o->cp;
    n->ep = o->ep;
}

static void open_with(const perftrace_config_t *o, const char *dir) {
    perftrace_profiler_options_t p = PERFTRACE_PROFILER_OPTIONS_INIT;
    perftrace_profiler_t *made = NULL;
    p.back_ends = o->profiler;
    p.dir = dir;
    p.all_ranks = 1;
    p.steps = o->profile_steps[0] != '\0' ? o->profile_steps : NULL;
    p.detail_categories = o->profiler_categories;
    p.perf_control = o->profiler_perf_control;
    p.log = log_message;
    name_profiles(&p.name, o);
    if (strcmp(o->profiler_ranks, "all") != 0) {
        p.all_ranks = 0;
        p.enable = strcmp(o->profiler_ranks, "none") != 0;
        p.ranks = o->profiler_ranks;
    }
    if (!parse_schedule(o->profiler_schedule, &p.schedule)) {
        perftrace__runtime_log(PERFTRACE_LOG_ERROR,
                               "no profiler: profiler_schedule is no list such as "
                               "skip_first=1,wait=1,warmup=1,active=3,repeat=2: %s",
                               o->profiler_schedule);
    } else if (perftrace_profiler_open(&p, &made) == PERFTRACE_OK) {
        pt_store_release(&profiler.made, made);
        pt_store_release(&profiler.main, made);
    }
}

void perftrace__runtime_profiler_start(void) {
    const perftrace__config_t *config = &perftrace__runtime.config;
    const perftrace_config_t *o = &config->opt;
    perftrace__strbuf_t dir = PERFTRACE__STRBUF_INIT, all = PERFTRACE__STRBUF_INIT;
    if (o->profiler[0] == '\0') {
        return;
    }
    if (o->profiler_dir[0] != '\0') {
        perftrace__strbuf_puts(&dir, o->profiler_dir);
    } else {
        perftrace__strbuf_printf(&dir, "%s/profiles", config->trace_dir);
    }
    perftrace__strbuf_printf(&all, "%s\n%s\n%s\n%s\n%s\n%s\n%s", o->profiler,
                             perftrace__strbuf_cstr(&dir), o->profile_steps, o->profiler_ranks,
                             o->profiler_categories, o->profiler_schedule,
                             o->profiler_perf_control);
    /* A later run with the same options goes on with what is there. */
    if (!dir.failed && !all.failed &&
        (profiler.options == NULL || strcmp(profiler.options, all.data) != 0)) {
        open_with(o, dir.data);
        free(profiler.options);
        profiler.options = all.data;
        all.data = NULL;
    }
    perftrace__strbuf_free(&dir);
    free(all.data);
}

void perftrace__runtime_profiler_stop(void) {
    perftrace_profiler_t *p = pt_load_acquire(&profiler.made);
    perftrace_profiler_status_t s = {.struct_size = sizeof s};
    if (p != NULL && perftrace_profiler_get_status(&s) == PERFTRACE_OK &&
        s.state != PERFTRACE_PROFILER_IDLE) {
        perftrace_profiler_stop(p);
    }
}
