/* profile_request.c: what a body of POST /start_profile asks for. SPDX-License-Identifier: MIT */
#include "profile_request.h"

#include "json_writer.h"

#include <perftrace/status.h>

#include <strings.h>

typedef struct reading {
    const perftrace__profiler_traits_t *traits;
    perftrace_schedule_t *schedule;
    int64_t num_steps, start_step;
} reading_t;

/* The member's place, and the least value it may have; NULL: another member. */
static int64_t *place_of(reading_t *r, const char *key, int64_t *ret_least) {
    const struct {
        const char *key;
        int64_t *place;
        int64_t least;
    } members[] = {{"num_steps", &r->num_steps, 1},
                   {"start_step", &r->start_step, 0},
                   {"skip_first", &r->schedule->skip_first, 0},
                   {"wait", &r->schedule->wait, 0},
                   {"warmup", &r->schedule->warmup, 0},
                   {"repeat", &r->schedule->repeat, 0},
                   {"delay_iterations", &r->schedule->delay_iterations, 0},
                   {"max_iterations", &r->schedule->max_iterations, 0}};
    for (size_t i = 0; i < PT_ARRAY_LEN(members); i++) {
        if (strcmp(key, members[i].key) == 0) {
            *ret_least = members[i].least;
            return members[i].place;
        }
    }
    return NULL;
}

static void ignore(perftrace__profile_request_t *ret, const char *key) {
    perftrace__strbuf_puts(&ret->ignored, ret->ignored.len > 1 ? ", " : "");
    perftrace__strbuf_json_cstr(&ret->ignored, key);
}

/* ---- texts ---- */

static bool take_text(const perftrace__json_node_t *node, const char *key, char *ret, size_t size,
                      perftrace__strbuf_t *problem) {
    const char *text = NULL;
    if (!perftrace__json_get_string(node, "", &text) || strlen(text) >= size) {
        perftrace__strbuf_printf(problem, "%s is a text of at most %zu bytes", key, size - 1);
        return false;
    }
    memcpy(ret, text, strlen(text) + 1);
    return true;
}

/* "io,comm", or ["io", "comm"]. */
static bool take_categories(const perftrace__json_node_t *node, perftrace__profile_request_t *ret,
                            perftrace__strbuf_t *problem) {
    if (perftrace__json_node_type(node) != PERFTRACE__JSON_ARRAY) {
        return take_text(node, "categories", ret->categories, sizeof ret->categories, problem);
    }
    size_t used = 0;
    for (const perftrace__json_node_t *n = perftrace__json_node_first(node); n != NULL;
         n = perftrace__json_node_next(n)) {
        const char *text = NULL;
        const bool is_text = perftrace__json_get_string(n, "", &text) && text[0] != '\0' &&
                             strchr(text, ',') == NULL;
        const size_t len = is_text ? strlen(text) : 0;
        if (!is_text || used + len + 2 > sizeof ret->categories) {
            perftrace__strbuf_printf(problem,
                                     "categories is a list of names, at most %zu bytes in all",
                                     sizeof ret->categories - 1);
            return false;
        }
        if (used > 0) {
            ret->categories[used++] = ',';
        }
        memcpy(ret->categories + used, text, len + 1);
        used += len;
    }
    return true;
}

static void ignore_item(perftrace__profile_request_t *ret, const char *key, const char *item) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&text, "%s: %s", key, item);
    ignore(ret, perftrace__strbuf_cstr(&text));
    perftrace__strbuf_free(&text);
}

static unsigned activity_of(const char *text) {
    return strcasecmp(text, "CPU") == 0                                    ? PERFTRACE_PROFILER_CPU
           : strcasecmp(text, "GPU") == 0 || strcasecmp(text, "CUDA") == 0 ? PERFTRACE_PROFILER_GPU
                                                                           : 0;
}

/* Those that no back end is for are left out, unless nothing else is asked for. */
static bool take_activities(const perftrace__json_node_t *node,
                            const perftrace__profiler_traits_t *traits,
                            perftrace__profile_request_t *ret, perftrace__strbuf_t *problem) {
    unsigned asked = 0;
    if (perftrace__json_node_type(node) != PERFTRACE__JSON_ARRAY) {
        perftrace__strbuf_puts(problem, "activities is a list of texts, CPU and GPU");
        return false;
    }
    for (const perftrace__json_node_t *n = perftrace__json_node_first(node); n != NULL;
         n = perftrace__json_node_next(n)) {
        const char *text = NULL;
        if (!perftrace__json_get_string(n, "", &text)) {
            perftrace__strbuf_puts(problem, "activities is a list of texts, CPU and GPU");
            return false;
        }
        const unsigned one = activity_of(text);
        asked |= one;
        if (one == 0 || !(one & traits->activities)) {
            ignore_item(ret, "activities", text);
        }
    }
    ret->request.activities = asked & traits->activities;
    ret->absent = ret->request.activities == 0 ? asked : 0;
    return true;
}

/* The members that are neither numbers nor unknown. *ret_known: it is one of them. */
static bool take_other(const perftrace__json_node_t *node, const char *key, reading_t *r,
                       perftrace__profile_request_t *ret, perftrace__strbuf_t *problem,
                       bool *ret_known) {
    *ret_known = true;
    if (strcmp(key, "label") == 0) {
        return take_text(node, key, ret->label, sizeof ret->label, problem);
    }
    if (strcmp(key, "output_dir") == 0) {
        if (!r->traits->files) {
            ignore(ret, key);
        }
        return take_text(node, key, ret->output_dir, sizeof ret->output_dir, problem);
    }
    if (strcmp(key, "activities") == 0) {
        return take_activities(node, r->traits, ret, problem);
    }
    if (strcmp(key, "categories") == 0) {
        if (!r->traits->details) {
            ignore(ret, key);
        }
        return take_categories(node, ret, problem);
    }
    if (strcmp(key, "profile_by_stage") == 0) {
        bool by_stage = false;
        if (!perftrace__json_get_bool(node, "", &by_stage)) {
            perftrace__strbuf_puts(problem, "profile_by_stage is true or false");
            return false;
        }
        ret->request.by_stage = by_stage;
        return true;
    }
    *ret_known = false;
    return true;
}

/* One member; false with a problem. null is as if it were absent. */
static bool take(const perftrace__json_node_t *node, reading_t *r,
                 perftrace__profile_request_t *ret, perftrace__strbuf_t *problem) {
    const char *key = perftrace__json_node_key(node);
    bool known = false;
    int64_t least = 0, value = 0;
    int64_t *place = place_of(r, key, &least);
    if (perftrace__json_node_type(node) == PERFTRACE__JSON_NULL) {
        return true;
    }
    if (place != NULL) {
        if (!perftrace__json_get_i64(node, "", &value) || value < least) {
            perftrace__strbuf_printf(problem, "%s is a whole number from %lld on", key,
                                     (long long)least);
            return false;
        }
        *place = value;
        return true;
    }
    const bool good = take_other(node, key, r, ret, problem, &known);
    if (!known) {
        ignore(ret, key);
    }
    return good;
}

/* num_steps makes it a cycle of so many steps, which begins at start_step. */
static bool put_steps(reading_t *r, bool has_step, int64_t step, perftrace__strbuf_t *problem) {
    perftrace_schedule_t *s = r->schedule;
    bool iterations = s->delay_iterations > 0 || s->max_iterations > 0;
    bool cycles = s->skip_first > 0 || s->wait > 0 || s->warmup > 0 || s->repeat > 0;
    if (iterations && (r->num_steps > 0 || r->start_step >= 0 || cycles)) {
        perftrace__strbuf_puts(problem, "iterations and steps do not go together");
        return false;
    }
    if (r->num_steps < 0 && (cycles || r->start_step >= 0)) {
        perftrace__strbuf_puts(problem, "num_steps is missing");
        return false;
    }
    if (r->start_step >= 0 && has_step && r->start_step <= step) {
        perftrace__strbuf_printf(problem, "start_step %lld is over: the run is at step %lld",
                                 (long long)r->start_step, (long long)step);
        return false;
    }
    if (r->num_steps > 0) {
        s->active = r->num_steps;
        s->repeat = s->repeat > 0 ? s->repeat : 1;
        /* Steps from the next one on; that is the one behind the present. */
        const int64_t ahead = r->start_step < 0 ? 0
                              : has_step        ? r->start_step - step - 1
                                                : r->start_step;
        if (__builtin_add_overflow(s->skip_first, ahead, &s->skip_first)) {
            perftrace__strbuf_puts(problem, "start_step and skip_first are too large together");
            return false;
        }
    }
    return true;
}

bool perftrace__profile_request_read(const perftrace__json_node_t *root,
                                     const perftrace__profiler_traits_t *traits, bool has_step,
                                     int64_t step, perftrace__profile_request_t *ret,
                                     perftrace__strbuf_t *ret_problem) {
    *ret = (perftrace__profile_request_t){.request = PERFTRACE_PROFILER_REQUEST_INIT,
                                          .ignored = PERFTRACE__STRBUF_INIT};
    reading_t r = {traits, &ret->request.schedule, -1, -1};
    bool good = true;
    perftrace__strbuf_putc(&ret->ignored, '[');
    for (const perftrace__json_node_t *n = perftrace__json_node_first(root); n != NULL && good;
         n = perftrace__json_node_next(n)) {
        good = take(n, &r, ret, ret_problem);
    }
    perftrace__strbuf_putc(&ret->ignored, ']');
    good = good && put_steps(&r, has_step, step, ret_problem);
    if (good) {
        const char *reason = "";
        ret->request.label = ret->label[0] != '\0' ? ret->label : NULL;
        ret->request.categories = ret->categories;
        /* Steps are counted from their beginnings; what is asked now is asked in the middle of one.
         */
        ret->request.at_next_step = r.num_steps > 0;
        good = perftrace_schedule_check(&ret->request.schedule, &reason) == PERFTRACE_OK;
        if (!good) {
            perftrace__strbuf_puts(ret_problem, reason);
        }
    }
    return good;
}
