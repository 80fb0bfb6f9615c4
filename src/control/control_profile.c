/* control_profile.c: profiling windows on request. SPDX-License-Identifier: MIT */
#include "control_profile.h"

#include "control_hold.h"
#include "control_task.h"
#include "json_writer.h"
#include "output_dir.h"
#include "profile_request.h"
#include "runtime_view.h"

#include <perftrace/perftrace.h>
#include <stdlib.h>

#define SETTING     "PERFTRACE_PROFILER (perf_tracer.profiler.back_ends)"
#define SETTING_DIR "PERFTRACE_PROFILER_DIR (perf_tracer.profiler.dir)"

static const char *const states[] = {"idle", "waiting", "starting", "recording", "saving"};

static perftrace_profiler_status_t status_now(void) {
    perftrace_profiler_status_t s = {.struct_size = sizeof s};
    perftrace_profiler_get_status(&s);
    return s;
}

static const char *state_word(const perftrace_profiler_status_t *s) {
    return s->state >= 0 && (size_t)s->state < PT_ARRAY_LEN(states) ? states[s->state] : "?";
}

/* ---- as text ---- */

static void put_number(perftrace__strbuf_t *out, const char *key, int64_t number) {
    if (number >= 0) {
        perftrace__strbuf_printf(out, ", \"%s\": %lld", key, (long long)number);
    }
}

static void put_text(perftrace__strbuf_t *out, const char *key, const char *text) {
    if (text[0] != '\0') {
        perftrace__strbuf_printf(out, ", \"%s\": ", key);
        perftrace__strbuf_json_cstr(out, text);
    }
}

/* "recording step 5 to 7 of update, 3 of 4 steps". */
static void put_window(perftrace__strbuf_t *out, const perftrace_profiler_status_t *s) {
    perftrace__strbuf_puts(out, state_word(s));
    if (s->state == PERFTRACE_PROFILER_WAITING) {
        perftrace__strbuf_puts(out, " for its steps");
    }
    if (s->first_step >= 0) {
        perftrace__strbuf_printf(out, " from step %lld", (long long)s->first_step);
    }
    if (s->role[0] != '\0') {
        perftrace__strbuf_printf(out, " of %s", s->role);
    }
    if (s->stage[0] != '\0') {
        perftrace__strbuf_printf(out, " (%s)", s->stage);
    }
    if (s->steps_wanted > 0) {
        perftrace__strbuf_printf(out, ", %lld of %lld steps", (long long)s->steps_done,
                                 (long long)s->steps_wanted);
    }
}

void perftrace__control_put_profiler(perftrace__strbuf_t *out) {
    perftrace_profiler_status_t s = status_now();
    if (perftrace_profiler_main() == NULL && s.state == PERFTRACE_PROFILER_IDLE) {
        perftrace__strbuf_puts(out, "null");
        return;
    }
    perftrace__strbuf_printf(out, "{\"state\": \"%s\"", state_word(&s));
    if (s.state != PERFTRACE_PROFILER_IDLE) {
        perftrace__strbuf_t window = PERFTRACE__STRBUF_INIT;
        put_window(&window, &s);
        put_text(out, "window", perftrace__strbuf_cstr(&window));
        perftrace__strbuf_free(&window);
        put_number(out, "first_step", s.first_step);
        put_number(out, "steps_done", s.steps_done);
        put_number(out, "steps_wanted", s.steps_wanted);
    }
    perftrace__strbuf_printf(out, ", \"saved\": %lld", (long long)s.saved);
    put_text(out, "last_path", s.last_path);
    put_text(out, "last_mark", s.last_mark);
    put_text(out, "problem", s.problem);
    perftrace__strbuf_puts(out, "}");
}

/* ---- start ---- */

static void free_request(void *input) {
    perftrace__profile_request_t *r = input;
    if (r != NULL) {
        perftrace__strbuf_free(&r->ignored);
        free(r);
    }
}

static void refuse_running(perftrace__control_answer_t *answer) {
    perftrace_profiler_status_t s = status_now();
    perftrace__strbuf_t window = PERFTRACE__STRBUF_INIT;
    put_window(&window, &s);
    perftrace__control_refuse(answer, 409, NULL, "a window is open: %s",
                              perftrace__strbuf_cstr(&window));
    perftrace__strbuf_free(&window);
}

/* The directory that was asked for, if any, into ret. False: refused. make: where it is absent. */
static bool find_dir(const perftrace__profile_request_t *r, bool make,
                     perftrace__control_answer_t *answer, perftrace__strbuf_t *ret) {
    const perftrace__profiler_traits_t traits =
        perftrace__profiler_get_traits(perftrace_profiler_main());
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    perftrace__output_dir_result_t found = PERFTRACE__OUTPUT_DIR_OK;
    if (r->output_dir[0] != '\0') {
        found = perftrace__output_dir_find(traits.dir, r->output_dir, make && traits.files, ret,
                                           &problem);
    }
    if (found != PERFTRACE__OUTPUT_DIR_OK) {
        perftrace__control_refuse(answer, found == PERFTRACE__OUTPUT_DIR_OUTSIDE ? 403 : 503,
                                  SETTING_DIR, "%s", perftrace__strbuf_cstr(&problem));
    }
    perftrace__strbuf_free(&problem);
    return found == PERFTRACE__OUTPUT_DIR_OK;
}

/* What the status says of the window that did not open. */
static void refuse_start(perftrace__control_answer_t *answer, int status) {
    const perftrace_profiler_status_t s = status_now();
    const bool dir = status != PERFTRACE_ERR_UNSUPPORTED;
    perftrace__control_refuse(answer, 503, dir ? SETTING_DIR : SETTING,
                              "the profiler does not start: %s",
                              s.problem[0] != '\0' ? s.problem : perftrace_status_text(status));
}

static void start_work(void *ctx) {
    perftrace__control_task_t *task = ctx;
    perftrace__profile_request_t *r = task->input;
    perftrace__strbuf_t *out = &task->answer.body;
    perftrace__strbuf_t dir = PERFTRACE__STRBUF_INIT;
    /* No directory is made for a start that is refused. */
    const bool idle = status_now().state == PERFTRACE_PROFILER_IDLE;
    if (!find_dir(r, idle, &task->answer, &dir)) {
        goto done;
    }
    r->request.dir = perftrace__strbuf_cstr(&dir);
    int status = idle ? perftrace_profiler_start(perftrace_profiler_main(), &r->request)
                      : PERFTRACE_ERR_STATE;
    if (status == PERFTRACE_ERR_STATE) {
        refuse_running(&task->answer);
    } else if (status == PERFTRACE_ERR_INVALID) {
        perftrace__control_refuse(&task->answer, 422, NULL, "the schedule cannot be followed");
    } else if (status != PERFTRACE_OK) {
        refuse_start(&task->answer, status);
    } else {
        unsigned freed = perftrace__hold_set(false);
        perftrace__strbuf_puts(out, "{\"started\": true, \"profiler\": ");
        perftrace__control_put_profiler(out);
        perftrace__strbuf_printf(out, ", \"resumed\": %u, \"ignored\": ", freed);
        perftrace__strbuf_append(out, r->ignored.data, r->ignored.len);
        perftrace__strbuf_puts(out, "}\n");
    }
done:
    perftrace__strbuf_free(&dir);
    free_request(r);
}

bool perftrace__control_start_profile(perftrace__net_loop_t *loop,
                                      const perftrace__json_node_t *body,
                                      perftrace__http_exchange_t *exchange,
                                      perftrace__control_answer_t *answer) {
    if (perftrace_profiler_main() == NULL) {
        perftrace__control_refuse(answer, 409, SETTING, "this process has no profiler");
        return false;
    }
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    perftrace__profile_request_t *r = malloc(sizeof *r);
    perftrace__runtime_view_t *view = malloc(sizeof *view);
    bool good = false;
    if (r == NULL || view == NULL) {
        perftrace__control_refuse(answer, 503, NULL, "no memory");
        free(r);
    } else {
        perftrace__runtime_look(view);
        const perftrace__profiler_traits_t traits =
            perftrace__profiler_get_traits(perftrace_profiler_main());
        good =
            perftrace__profile_request_read(body, &traits, view->has_step, view->step, r, &problem);
        if (good && r->absent != 0) {
            perftrace__control_refuse(answer, 409, SETTING, "no back end records the %s",
                                      r->absent == PERFTRACE_PROFILER_CPU   ? "CPU"
                                      : r->absent == PERFTRACE_PROFILER_GPU ? "GPU"
                                                                            : "CPU or GPU");
            free_request(r);
            good = false;
        } else if (good) {
            perftrace__control_task_start(loop, exchange, start_work, r, free_request);
        } else {
            perftrace__control_refuse(answer, 422, NULL, "%s", perftrace__strbuf_cstr(&problem));
            free_request(r);
        }
    }
    free(view);
    perftrace__strbuf_free(&problem);
    return good;
}

/* ---- stop ---- */

static void stop_work(void *ctx) {
    perftrace__control_task_t *task = ctx;
    perftrace__strbuf_t *out = &task->answer.body;
    perftrace_profiler_status_t before = status_now();
    bool idle = before.state == PERFTRACE_PROFILER_IDLE;
    int status = perftrace_profiler_stop(perftrace_profiler_main());
    perftrace_profiler_status_t after = status_now();
    if (status != PERFTRACE_OK) {
        perftrace__control_refuse(&task->answer, 503, NULL, "%s", perftrace_status_text(status));
        return;
    }
    /* Another thread saves, or must: it is not over yet. */
    bool going_on = after.state != PERFTRACE_PROFILER_IDLE && after.saved == before.saved;
    task->answer.status = going_on ? 202 : 200;
    perftrace__strbuf_printf(out, "{\"stopped\": %s, \"profiler\": ", idle ? "false" : "true");
    perftrace__control_put_profiler(out);
    perftrace__strbuf_puts(out, "}\n");
}

bool perftrace__control_stop_profile(perftrace__net_loop_t *loop,
                                     perftrace__http_exchange_t *exchange,
                                     perftrace__control_answer_t *answer) {
    if (perftrace_profiler_main() == NULL) {
        perftrace__control_refuse(answer, 409, SETTING, "this process has no profiler");
        return false;
    }
    perftrace__control_task_start(loop, exchange, stop_work, NULL, NULL);
    return true;
}
