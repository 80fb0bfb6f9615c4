/* back_end_self.c: the tracer itself, in more detail within windows. SPDX-License-Identifier: MIT
 */
#include "back_end.h"
#include "core.h"

#include <perftrace/perftrace.h>
#include <perftrace/status.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The window in the trace: two points. */
static const perftrace_i_arg_t window_args[] = {{"role", PERFTRACE_I_TYPE_STR},
                                                {"stage", PERFTRACE_I_TYPE_STR},
                                                {"first_step", PERFTRACE_I_TYPE_I64},
                                                {"mark", PERFTRACE_I_TYPE_STR}};
static perftrace_i_site_t window_begin = {.word = PERFTRACE_I_SITE_FRESH,
                                          .kind = PERFTRACE_I_KIND_INSTANT,
                                          .nargs = 3,
                                          .name = "profiler.window_begin",
                                          .category = "instr",
                                          .file = "",
                                          .args = window_args};
static perftrace_i_site_t window_end = {.word = PERFTRACE_I_SITE_FRESH,
                                        .kind = PERFTRACE_I_KIND_INSTANT,
                                        .nargs = 4,
                                        .name = "profiler.window_end",
                                        .category = "instr",
                                        .file = "",
                                        .args = window_args};

static void tell(perftrace_i_site_t *site, const perftrace_profiler_window_t *w) {
    const uint64_t values[] = {(uint64_t)(uintptr_t)w->role, (uint64_t)(uintptr_t)w->stage,
                               (uint64_t)w->first_step, (uint64_t)(uintptr_t)w->mark};
    perftrace_emit(site, 0, values);
}

typedef struct self {
    char *categories;
    perftrace__core_detail_t *detail;
} self_t;

static void self_close(void *user) {
    self_t *s = user;
    perftrace__core_remove_detail(s->detail);
    free(s->categories);
    free(s);
}

static void *self_open(const perftrace_profiler_options_t *o) {
    self_t *s = calloc(1, sizeof(*s));
    if (!s) {
        return NULL;
    }
    s->categories = strdup(o->detail_categories ? o->detail_categories : "");
    s->detail = s->categories ? perftrace__core_add_detail(s->categories) : NULL;
    if (!s->detail) {
        self_close(s);
        s = NULL;
    }
    return s;
}

static int self_start(void *user, const perftrace_profiler_window_t *w) {
    const self_t *s = user;
    perftrace__core_open_detail(s->detail, true, w->categories);
    tell(&window_begin, w);
    return PERFTRACE_OK;
}

static int self_stop(void *user, const perftrace_profiler_window_t *w) {
    const self_t *s = user;
    tell(&window_end, w);
    perftrace__core_open_detail(s->detail, false, "");
    return PERFTRACE_OK;
}

static int self_describe(void *user, char *ret_text, size_t size) {
    const self_t *s = user;
    return s->categories[0]
               ? snprintf(ret_text, size, "the tracer records %s in windows only", s->categories)
               : snprintf(ret_text, size, "the tracer marks the windows");
}

const perftrace__back_end_t perftrace__back_end_self = {
    .calls = {.struct_size = sizeof(perftrace_profiler_back_end_t),
              .name = "self",
              .start = self_start,
              .stop = self_stop,
              .describe = self_describe},
    .open = self_open,
    .close = self_close,
};
