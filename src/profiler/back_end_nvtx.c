/* back_end_nvtx.c: the tracer's scopes as NVTX ranges within windows. SPDX-License-Identifier: MIT
 *
 * A profiler that watches from outside (nsys) shows them beside its kernels. The domain is our own:
 * its order of push and pop is not that of the program's ranges. */
#include "atomics.h"
#include "back_end.h"
#include "core.h"
#include "nvtx_tool.h"

#include <perftrace/status.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CATEGORIES_MAX 64u

/* What the process has found; set before the first range. */
static const perftrace__nvtx_tool_t *tool;

/* ---- categories, numbered from 1 as they come ---- */

static struct {
    pthread_mutex_t lock;
    char *names[CATEGORIES_MAX];
    uint32_t count; /* release */
} categories = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The child of a fork finds it free. */
static void take_categories(void) {
    pthread_mutex_lock(&categories.lock);
}

static void leave_categories(void) {
    pthread_mutex_unlock(&categories.lock);
}

static uint32_t known_category(const char *name, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(categories.names[i], name) == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* 0, which is no category: there are too many, or no memory. */
static uint32_t category_of(const char *name) {
    /* Pairs with the release below: the names up to it are there. */
    uint32_t known = known_category(name, pt_load_acquire(&categories.count));
    if (known) {
        return known;
    }
    pthread_mutex_lock(&categories.lock);
    const uint32_t count = categories.count;
    known = known_category(name, count);
    if (!known && count < CATEGORIES_MAX && (categories.names[count] = strdup(name))) {
        known = count + 1;
        if (tool->name_category) {
            tool->name_category(tool->domain, known, name);
        }
        pt_store_release(&categories.count, known);
    }
    pthread_mutex_unlock(&categories.lock);
    return known;
}

/* ---- ranges ---- */

static void push(const char *name, const char *category) {
    nvtx_attributes_t range = {.version = NVTX_VERSION_NUMBER,
                               .size = sizeof(range),
                               .category = category_of(category),
                               .message_type = NVTX_MESSAGE_ASCII,
                               .message.ascii = name};
    tool->push(tool->domain, &range);
}

static void pop(void) {
    tool->pop(tool->domain);
}

static const perftrace__mirror_t ranges = {push, pop};

/* ---- the back end ---- */

typedef struct nvtx {
    char text[512];
} nvtx_t;

static void *nvtx_open(const perftrace_profiler_options_t *o) {
    nvtx_t *s = calloc(1, sizeof(*s));
    (void)o;
    if (s) {
        snprintf(s->text, sizeof(s->text), "scopes become NVTX ranges");
    }
    return s;
}

static int nvtx_start(void *user, const perftrace_profiler_window_t *w) {
    nvtx_t *s = user;
    (void)w;
    /* One back end's function at a time is called in the process. */
    const perftrace__nvtx_tool_t *found;
    const int status = perftrace__nvtx_tool_find(&found, s->text, sizeof(s->text));
    if (!status) {
        if (!tool) {
            pthread_atfork(take_categories, leave_categories, leave_categories);
            tool = found; /* once: threads still end ranges of an earlier window */
        }
        snprintf(s->text, sizeof(s->text), "scopes become NVTX ranges of %s", tool->from);
        perftrace__core_open_mirror(&ranges);
    }
    return status;
}

static int nvtx_stop(void *user, const perftrace_profiler_window_t *w) {
    (void)user;
    (void)w;
    perftrace__core_close_mirror();
    return PERFTRACE_OK;
}

static int nvtx_describe(void *user, char *ret_text, size_t size) {
    const nvtx_t *s = user;
    return snprintf(ret_text, size, "%s", s->text);
}

const perftrace__back_end_t perftrace__back_end_nvtx = {
    .calls = {.struct_size = sizeof(perftrace_profiler_back_end_t),
              .name = "nvtx",
              .start = nvtx_start,
              .stop = nvtx_stop,
              .describe = nvtx_describe},
    .open = nvtx_open,
    .close = free,
    .activities = PERFTRACE_PROFILER_CPU | PERFTRACE_PROFILER_GPU,
};
