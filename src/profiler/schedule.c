/* schedule.c: when windows open. SPDX-License-Identifier: MIT */
#include "schedule.h"

#include <perftrace/status.h>

#include <string.h>

/* ---- reading ------------------------------------------------------------------------------------
 */

static const char *fault_of_numbers(const perftrace_schedule_t *g) {
    const int64_t numbers[] = {g->skip_first,    g->wait,   g->warmup,
                               g->active,        g->repeat, g->delay_iterations,
                               g->max_iterations};
    for (size_t i = 0; i < PT_ARRAY_LEN(numbers); i++) {
        if (numbers[i] < 0) {
            return "a number of a schedule is negative";
        }
    }
    int64_t sum = g->skip_first;
    const int64_t cycle[] = {g->wait, g->warmup, g->active};
    for (size_t i = 0; i < PT_ARRAY_LEN(cycle); i++) {
        if (__builtin_add_overflow(sum, cycle[i], &sum)) {
            return "the steps of a cycle are too many";
        }
    }
    /* One less than possible, for the iteration that vLLM's count adds. */
    if (__builtin_add_overflow(g->delay_iterations, g->max_iterations, &sum) || sum == INT64_MAX) {
        return "the iterations are too many";
    }
    return NULL;
}

static const char *fault_of_forms(const perftrace_schedule_t *g) {
    bool cycles = g->active > 0;
    bool iterations = g->delay_iterations > 0 || g->max_iterations > 0;
    if ((cycles && g->steps) || (cycles && iterations) || (g->steps && iterations)) {
        return "only one of active, steps and iterations can be given";
    }
    return NULL;
}

static perftrace__schedule_form_t form_of(const perftrace_schedule_t *g) {
    return g->active > 0                                      ? PERFTRACE__SCHEDULE_CYCLES
           : g->steps                                         ? PERFTRACE__SCHEDULE_STEPS
           : g->delay_iterations > 0 || g->max_iterations > 0 ? PERFTRACE__SCHEDULE_ITERATIONS
                                                              : PERFTRACE__SCHEDULE_ALWAYS;
}

int perftrace__schedule_read(const perftrace_schedule_t *schedule, perftrace__schedule_t *ret,
                             const char **ret_reason) {
    *ret = (perftrace__schedule_t){0};
    const char *ignored;
    const char **reason = ret_reason ? ret_reason : &ignored;
    *reason = "there is no schedule";
    if (!schedule || schedule->struct_size < sizeof(schedule->struct_size)) {
        return PERFTRACE_ERR_INVALID;
    }
    perftrace_schedule_t g = PERFTRACE_SCHEDULE_INIT;
    memcpy(&g, schedule, PT_MIN(schedule->struct_size, sizeof(g)));
    *reason = fault_of_numbers(&g);
    if (!*reason) {
        *reason = fault_of_forms(&g);
    }
    if (*reason) {
        return PERFTRACE_ERR_INVALID;
    }
    ret->form = form_of(&g);
    if (g.steps && g.steps[strspn(g.steps, " \t")]) {
        const char *bad = NULL;
        if (!perftrace__number_list_parse(&ret->list, g.steps, &bad)) {
            *reason = bad ? "steps is no list such as 1,3,5-7" : "out of memory";
            return bad ? PERFTRACE_ERR_INVALID : PERFTRACE_ERR_NOMEM;
        }
        perftrace__number_list_merge(&ret->list);
    }
    g.steps = NULL;
    ret->given = g;
    return PERFTRACE_OK;
}

void perftrace__schedule_free(perftrace__schedule_t *s) {
    if (s) {
        perftrace__number_list_free(&s->list);
    }
}

/* ---- asking -------------------------------------------------------------------------------------
 */

static perftrace_profiler_action_t in_window(int64_t index, int64_t first, int64_t last,
                                             int64_t step, perftrace_schedule_window_t *ret) {
    *ret = (perftrace_schedule_window_t){index, first, last};
    return step == last ? PERFTRACE_PROFILER_RECORD_AND_SAVE : PERFTRACE_PROFILER_RECORD;
}

static perftrace_profiler_action_t cycles_action(const perftrace_schedule_t *g, int64_t step,
                                                 perftrace_schedule_window_t *ret) {
    if (step < g->skip_first) {
        return PERFTRACE_PROFILER_NONE;
    }
    const int64_t shift = g->skip_first_wait ? g->wait : 0;
    const int64_t length = g->wait + g->warmup + g->active;
    /* Steps since the first cycle began, or would have begun; unsigned, for the last of all. */
    const uint64_t since = (uint64_t)(step - g->skip_first) + (uint64_t)shift;
    const int64_t cycle = (int64_t)(since / (uint64_t)length);
    const int64_t at = (int64_t)(since % (uint64_t)length);
    if ((g->repeat > 0 && cycle >= g->repeat) || at < g->wait) {
        return PERFTRACE_PROFILER_NONE;
    }
    if (at < g->wait + g->warmup) {
        return PERFTRACE_PROFILER_WARMUP;
    }
    const int64_t first = step - (at - g->wait - g->warmup);
    int64_t last;
    if (__builtin_add_overflow(first, g->active - 1, &last)) {
        last = -1; /* no step of that number will come */
    }
    return in_window(cycle, first, last, step, ret);
}

static perftrace_profiler_action_t steps_action(const perftrace__schedule_t *s, int64_t step,
                                                perftrace_schedule_window_t *ret) {
    int64_t before = 0; /* windows */
    for (size_t i = 0; i < s->list.count; i++) {
        const perftrace__number_range_t *r = &s->list.item[i];
        if (step >= r->first && step <= r->last) {
            return s->given.steps_apart
                       ? in_window(before + (step - r->first), step, step, step, ret)
                       : in_window(before, r->first, r->last, step, ret);
        }
        before += s->given.steps_apart ? r->last - r->first + 1 : 1;
    }
    return PERFTRACE_PROFILER_NONE;
}

/* The first iteration behind the window; -1: it has no end. */
static int64_t iterations_end(const perftrace_schedule_t *g) {
    if (g->max_iterations == 0) {
        return -1;
    }
    bool one_more = g->max_iterations_exceeded && g->delay_iterations == 0;
    return g->delay_iterations + g->max_iterations + one_more;
}

static perftrace_profiler_action_t iterations_action(const perftrace_schedule_t *g, int64_t step,
                                                     perftrace_schedule_window_t *ret) {
    const int64_t end = iterations_end(g);
    if (step < g->delay_iterations || (end >= 0 && step >= end)) {
        return PERFTRACE_PROFILER_NONE;
    }
    return in_window(0, g->delay_iterations, end < 0 ? -1 : end - 1, step, ret);
}

perftrace_profiler_action_t perftrace__schedule_action(const perftrace__schedule_t *s, int64_t step,
                                                       perftrace_schedule_window_t *ret_window) {
    perftrace_schedule_window_t ignored;
    perftrace_schedule_window_t *window = ret_window ? ret_window : &ignored;
    *window = (perftrace_schedule_window_t){-1, -1, -1};
    switch (s->form) {
    case PERFTRACE__SCHEDULE_CYCLES:
        return cycles_action(&s->given, step, window);
    case PERFTRACE__SCHEDULE_STEPS:
        return steps_action(s, step, window);
    case PERFTRACE__SCHEDULE_ITERATIONS:
        return iterations_action(&s->given, step, window);
    case PERFTRACE__SCHEDULE_ALWAYS:
        break;
    }
    return in_window(0, 0, -1, step, window);
}

int64_t perftrace__schedule_windows(const perftrace__schedule_t *s, int64_t *ret_first) {
    const perftrace_schedule_t *g = &s->given;
    int64_t first = 0;
    int64_t count = 1;
    if (s->form == PERFTRACE__SCHEDULE_CYCLES) {
        first = g->skip_first + (g->skip_first_wait ? 0 : g->wait) + g->warmup;
        count = g->repeat > 0 ? g->repeat : -1;
    } else if (s->form == PERFTRACE__SCHEDULE_ITERATIONS) {
        first = g->delay_iterations;
    } else if (s->form == PERFTRACE__SCHEDULE_STEPS) {
        first = s->list.count ? s->list.item[0].first : -1;
        count = 0;
        for (size_t i = 0; i < s->list.count; i++) {
            const perftrace__number_range_t *r = &s->list.item[i];
            /* All numbers there are would be one more than int64_t holds. */
            count += g->steps_apart ? r->last - r->first + (r->last < INT64_MAX) : 1;
        }
    }
    if (ret_first) {
        *ret_first = first;
    }
    return count;
}

/* ---- public -------------------------------------------------------------------------------------
 */

int perftrace_schedule_check(const perftrace_schedule_t *schedule, const char **ret_reason) {
    perftrace__schedule_t s;
    int status = perftrace__schedule_read(schedule, &s, ret_reason);
    perftrace__schedule_free(&s);
    return status;
}

int perftrace_schedule_action(const perftrace_schedule_t *schedule, int64_t step,
                              perftrace_schedule_window_t *ret_window) {
    perftrace__schedule_t s;
    int result = perftrace__schedule_read(schedule, &s, NULL);
    if (!result) {
        result = step < 0 ? (int)PERFTRACE_ERR_INVALID
                          : (int)perftrace__schedule_action(&s, step, ret_window);
    }
    perftrace__schedule_free(&s);
    return result;
}

int64_t perftrace_schedule_windows(const perftrace_schedule_t *schedule, int64_t *ret_first) {
    perftrace__schedule_t s;
    int64_t count = 0;
    if (ret_first) {
        *ret_first = -1;
    }
    if (!perftrace__schedule_read(schedule, &s, NULL)) {
        count = perftrace__schedule_windows(&s, ret_first);
    }
    perftrace__schedule_free(&s);
    return count;
}

int perftrace_schedule_set_tokens(perftrace_schedule_t *schedule, int64_t first, int64_t end) {
    if (!schedule || schedule->struct_size < sizeof(*schedule) || first < -1 || end < -1) {
        return PERFTRACE_ERR_INVALID;
    }
    const int64_t delay = PT_MAX(first, 0);
    if (end >= 0 && end <= delay) {
        return PERFTRACE_ERR_INVALID;
    }
    const size_t size = schedule->struct_size;
    *schedule = (perftrace_schedule_t)PERFTRACE_SCHEDULE_INIT;
    schedule->struct_size = size;
    schedule->delay_iterations = delay;
    schedule->max_iterations = end < 0 ? 0 : end - delay;
    return PERFTRACE_OK;
}
