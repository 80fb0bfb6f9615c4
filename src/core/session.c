/* session.c: tasks, sessions and their events, for the calls of perftrace/session.h.
 * SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "core_state.h"

#include <perftrace/perftrace.h>
#include <perftrace/session.h>

#include <stdio.h>
#include <string.h>

/* The library's own call sites. */
#define SITE(var, site_kind, site_name, site_category, ...)                                        \
    static const perftrace_i_arg_t var##_args[] = {__VA_ARGS__};                                   \
    static perftrace_i_site_t var = {.word = PERFTRACE_I_SITE_FRESH,                               \
                                     .kind = PERFTRACE_I_KIND_##site_kind,                         \
                                     .nargs = sizeof(var##_args) / sizeof(var##_args[0]) - 1,      \
                                     .name = site_name,                                            \
                                     .category = site_category,                                    \
                                     .file = "",                                                   \
                                     .args = var##_args}
#define ARG(key, type)                                                                             \
    { key, PERFTRACE_I_TYPE_##type }
#define END_OF_ARGS                                                                                \
    { NULL, 0 }

SITE(session_begin, SESSION_BEGIN, "session", "session", ARG("task_id", I64), END_OF_ARGS);
SITE(session_begin_alone, SESSION_BEGIN, "session", "session", END_OF_ARGS);
SITE(session_end, SESSION_END, "session", "session", ARG("status", STR), ARG("reason", STR),
     END_OF_ARGS);
SITE(task_begin, TASK_BEGIN, "task", "session.task", ARG("parent", I64), END_OF_ARGS);
SITE(task_begin_alone, TASK_BEGIN, "task", "session.task", END_OF_ARGS);
SITE(task_end, TASK_END, "task", "session.task", ARG("status", STR), ARG("reason", STR),
     END_OF_ARGS);
SITE(counter, SESSION_COUNTER, NULL, "session.counter", ARG("value", I64), END_OF_ARGS);
SITE(declaration, SESSION_PHASE, NULL, "session.phase", ARG("allow_multiple", BOOL),
     ARG("ready_on_complete", BOOL), END_OF_ARGS);
SITE(phase_begin, PHASE_BEGIN, NULL, "session", END_OF_ARGS);
/* From where a session was submitted to where it was consumed. */
SITE(flow_start, FLOW_START, "session", "session", END_OF_ARGS);
SITE(flow_end, FLOW_END, "session", "session", END_OF_ARGS);

static int emit(perftrace_i_site_t *site, int64_t id, const uint64_t *values, const char *name) {
    if (!perftrace_i_wanted(site)) {
        return PERFTRACE_ERR_DISABLED;
    }
    perftrace_i_emit_slow(site, (uint64_t)id, values, name ? perftrace_i_name(name) : 0);
    return PERFTRACE_OK;
}

/* The arrow is an event like others: it follows the switch and the filter. It binds to the scope
 * around it; outside of any, viewers would have nothing to draw it from. */
static void emit_flow(perftrace_i_site_t *site, int64_t session) {
    static const uint64_t none[1];
    uint32_t word = perftrace_i_wanted(site);
    if (word && (uint8_t)perftrace_i_thread.word) {
        perftrace_i_emit(site, word, site->kind, 1, (uint64_t)session, none, 0);
    }
}

int perftrace_task_register(int64_t task, int64_t parent) {
    if (task < 0) {
        return PERFTRACE_ERR_INVALID;
    }
    const uint64_t values[] = {(uint64_t)parent};
    return emit(parent >= 0 ? &task_begin : &task_begin_alone, task, values, NULL);
}

int64_t perftrace_session_register(int64_t task) {
    perftrace_i_site_t *site = task >= 0 ? &session_begin : &session_begin_alone;
    if (!perftrace_i_wanted(site)) {
        return PERFTRACE_NO_ID;
    }
    /* The first event of a fork's child starts its tracer, which counts sessions from 0. */
    (void)perftrace__thread_slot();
    int64_t session = pt_add_relaxed(&perftrace__core.next_session, 1);
    const uint64_t values[] = {(uint64_t)task};
    perftrace_i_emit_slow(site, (uint64_t)session, values, 0);
    emit_flow(&flow_start, session);
    return session;
}

static bool may_be(int64_t session) {
    return session >= 0 && session < pt_load_relaxed(&perftrace__core.next_session);
}

static int end(perftrace_i_site_t *site, int64_t id, const char *status, const char *reason) {
    const uint64_t values[] = {(uint64_t)(uintptr_t)status, (uint64_t)(uintptr_t)reason};
    return emit(site, id, values, NULL);
}

int perftrace_session_finalize(int64_t session, const char *status, const char *reason) {
    if (!perftrace_i_wanted(&session_end)) {
        return PERFTRACE_ERR_DISABLED;
    }
    if (!may_be(session)) {
        return PERFTRACE_ERR_INVALID;
    }
    emit_flow(&flow_end, session);
    return end(&session_end, session, status, reason);
}

int perftrace_task_finalize(int64_t task, const char *status, const char *reason) {
    return task < 0 ? PERFTRACE_ERR_INVALID : end(&task_end, task, status, reason);
}

int perftrace_session_counter(int64_t session, const char *name, int64_t delta) {
    if (!perftrace_i_wanted(&counter)) {
        return PERFTRACE_ERR_DISABLED;
    }
    const uint64_t values[] = {(uint64_t)delta};
    return name && may_be(session) ? emit(&counter, session, values, name) : PERFTRACE_ERR_INVALID;
}

int perftrace_session_phase_declare(const char *name, int allow_multiple, int ready_on_complete) {
    const uint64_t values[] = {allow_multiple != 0, ready_on_complete != 0};
    return name ? emit(&declaration, 0, values, name) : PERFTRACE_ERR_INVALID;
}

/* ---- events by name -----------------------------------------------------------------------------
 */

/* Strips a suffix; false when text has none or nothing before it. */
static bool phase_of(const char *text, const char *suffix, char *out, size_t room) {
    size_t len = strlen(text);
    size_t cut = strlen(suffix);
    if (len <= cut || len - cut >= room || strcmp(text + len - cut, suffix) != 0) {
        return false;
    }
    memcpy(out, text, len - cut);
    out[len - cut] = '\0';
    return true;
}

int perftrace_session_event(int64_t session, int64_t task, const char *event, const char *status,
                            const char *reason) {
    char name[256];
    if (!event || (session < 0 && task < 0)) {
        return PERFTRACE_ERR_INVALID;
    }
    event += strncmp(event, "mark_", 5) == 0 ? 5 : 0;
    if (strcmp(event, "finalized") == 0) {
        return session >= 0 ? perftrace_session_finalize(session, status, reason)
                            : perftrace_task_finalize(task, status, reason);
    }
    bool start = phase_of(event, "_start", name, sizeof(name));
    if (session < 0 || (!start && !phase_of(event, "_end", name, sizeof(name)))) {
        return PERFTRACE_ERR_INVALID;
    }
    if (!perftrace_i_wanted(&phase_begin)) {
        return PERFTRACE_ERR_DISABLED;
    }
    if (!may_be(session)) {
        return PERFTRACE_ERR_INVALID;
    }
    static const uint64_t none[1];
    perftrace_phase_t phase = {.session = session};
    if (start) {
        perftrace_i_phase_begin_slow(&phase, &phase_begin, none, perftrace_i_name(name));
    } else {
        perftrace__phase_end_last(session, &phase_begin, perftrace_i_name(name));
    }
    return PERFTRACE_OK;
}

/* ---- context ------------------------------------------------------------------------------------
 */

int64_t perftrace_session_current(void) {
    return perftrace_i_thread.session - 1;
}

void perftrace_session_set_current(int64_t session) {
    perftrace_i_thread.session = session < 0 ? 0 : session + 1;
}

int64_t perftrace_task_current(void) {
    return perftrace_i_thread.task - 1;
}

void perftrace_task_set_current(int64_t task) {
    perftrace_i_thread.task = task < 0 ? 0 : task + 1;
}

perftrace_context_t perftrace_context_get(void) {
    return (perftrace_context_t){.task = perftrace_task_current(),
                                 .session = perftrace_session_current()};
}

void perftrace_context_set(perftrace_context_t context) {
    perftrace_task_set_current(context.task);
    perftrace_session_set_current(context.session);
}

/* ---- twins --------------------------------------------------------------------------------------
 */

void perftrace_session_phase_begin(perftrace_phase_t *phase, int64_t session,
                                   perftrace_i_site_t *site, const uint64_t *values) {
    static const uint64_t none[PERFTRACE_I_MAX_ARGS];
    *phase = (perftrace_phase_t){.session = session < 0 ? perftrace_session_current() : session};
    if (phase->session >= 0 && perftrace_i_wanted(site)) {
        perftrace_i_phase_begin_slow(phase, site, values ? values : none, 0);
    }
}

void perftrace_session_phase_end(perftrace_phase_t *phase, perftrace_i_site_t *site,
                                 const uint64_t *values) {
    static const uint64_t none[PERFTRACE_I_MAX_ARGS];
    if (!phase->live) {
        return;
    }
    if (site) {
        perftrace_i_phase_end_slow(phase, site, values ? values : none);
    } else {
        perftrace_i_phase_end(phase);
    }
}
