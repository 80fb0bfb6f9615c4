/* stacks_input.c. SPDX-License-Identifier: MIT */
#include "stacks_input.h"

#include "message.h"
#include "os.h"

#include <stdlib.h>
#include <string.h>

/* Weights above it are nanoseconds: as counts they would be of more than a quarter of an hour each,
 * at 99 Hz. */
#define LARGEST_COUNT 100000.0

static bool ends_with(const char *name, size_t len, const char *end) {
    size_t n = strlen(end);
    return len > n && memcmp(name + len - n, end, n) == 0;
}

static bool is_wanted(const char *name, void *ctx) {
    static const char *const ends[] = {".json", ".txt", ".folded", ".collapsed", ".pyspy"};
    size_t len = strlen(name);
    (void)ctx;
    len -= ends_with(name, len, ".gz") ? 3 : 0;
    if (strcmp(name, PT_STACKS_SUMMARY_FILE) == 0) {
        return false; /* what batch leaves beside its inputs */
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(ends); i++) {
        if (ends_with(name, len, ends[i])) {
            return true;
        }
    }
    return false;
}

unsigned pt_stacks_threads(const pt_stacks_options_t *o) {
    return o->jobs > 0 ? (unsigned)o->jobs : PT_MIN(perftrace__os_cpu_count(), 16U);
}

static bool writes(const pt_stacks_options_t *o) {
    return o->command == PT_STACKS_CONVERT || o->command == PT_STACKS_MERGE ||
           o->command == PT_STACKS_BATCH;
}

bool pt_stacks_unit_is_auto(const pt_stacks_options_t *o) {
    return o->unit == PT_WEIGHTS_AUTO || (o->unit == PT_WEIGHTS_DEFAULT && writes(o));
}

bool pt_stacks_set_unit(const pt_stacks_options_t *o, pt_profile_t *p,
                        perftrace__strbuf_t *ret_said) {
    static const struct {
        double factor;
        pt_profile_unit_t unit;
    } units[] = {[PT_WEIGHTS_NANOSECONDS] = {1e-9, PT_UNIT_SECONDS},
                 [PT_WEIGHTS_MICROSECONDS] = {1e-6, PT_UNIT_SECONDS},
                 [PT_WEIGHTS_MILLISECONDS] = {1e-3, PT_UNIT_SECONDS},
                 [PT_WEIGHTS_SECONDS] = {1, PT_UNIT_SECONDS},
                 [PT_WEIGHTS_BYTES] = {1, PT_UNIT_BYTES}};
    double median = 0;
    bool plain = false;
    for (size_t i = 0; i < p->threads; i++) {
        plain |= p->thread[i].unit == PT_UNIT_NONE;
    }
    if (!plain) {
        return true;
    }
    if (pt_stacks_unit_is_auto(o)) {
        if (!pt_profile_median(p, &median)) {
            return false;
        }
        bool times = median > LARGEST_COUNT;
        if (ret_said != NULL && times) {
            perftrace__strbuf_printf(
                ret_said, "weights are taken for nanoseconds (their median is %.9g)", median);
        } else if (ret_said != NULL) {
            perftrace__strbuf_printf(
                ret_said,
                "weights are taken for counts of samples at %llu Hz (their median is %.9g)",
                (unsigned long long)o->freq, median);
        }
        pt_profile_scale(p, times ? 1e-9 : 1.0 / (double)o->freq, PT_UNIT_SECONDS);
    } else if (o->unit >= PT_WEIGHTS_NANOSECONDS) {
        pt_profile_scale(p, units[o->unit].factor, units[o->unit].unit);
    } else if (o->has_freq) {
        pt_profile_scale(p, 1.0 / (double)o->freq, PT_UNIT_SECONDS);
    }
    return true;
}

/* Whether nothing but the ends of stacks is looked at. */
static bool only_leaves(const pt_stacks_options_t *o) {
    bool top = o->command == PT_STACKS_TOP || o->command == PT_STACKS_THREADS;
    bool flat =
        o->command == PT_STACKS_FLAT && !o->full && o->callers == NULL && o->call_graph == NULL;
    return (top || flat) && o->inclusive == NULL && o->html == NULL;
}

static bool name_inputs(pt_stacks_input_t *in) {
    in->source = calloc(in->paths.count + 1, sizeof *in->source);
    in->name = calloc(in->paths.count + 1, sizeof *in->name);
    for (size_t i = 0; in->name != NULL && i < in->paths.count; i++) {
        in->name[i] = in->paths.items[i].is_stdin ? "standard input" : in->paths.items[i].name;
    }
    return in->source != NULL && in->name != NULL;
}

pt_exit_t pt_stacks_input_load(const pt_stacks_options_t *o, char *const *operands, size_t count,
                               pt_problems_t *book, pt_stacks_input_t *in) {
    pt_paths_request_t request = {.filter = is_wanted,
                                  .looked_for = "*.json, *.txt, *.folded, *.collapsed or *.pyspy"};
    *in = (pt_stacks_input_t){.paths = PT_PATHS_INIT};
    pt_profile_init(&in->p);
    pt_exit_t status = pt_paths_collect(&request, operands, count, &in->paths);
    if (status == PT_EXIT_INTERNAL || in->paths.count == 0) {
        return status;
    }
    pt_progress_t progress;
    pt_profile_load_t load = {.threads = pt_stacks_threads(o),
                              .leaves_only = only_leaves(o),
                              .keep_order = writes(o) || pt_stacks_unit_is_auto(o),
                              .mend_events = o->mend,
                              .book = book,
                              .progress = &progress};
    pt_exit_t loaded = PT_EXIT_INTERNAL;
    if (name_inputs(in)) {
        pt_progress_begin(&progress, "reading", 0);
        loaded = pt_profile_load_files(&load, &in->paths, &in->p, in->source);
        pt_progress_end(&progress);
    } else {
        pt_error("out of memory");
    }
    if (loaded != PT_EXIT_INTERNAL && !writes(o) && !pt_stacks_set_unit(o, &in->p, NULL)) {
        pt_error("out of memory");
        loaded = PT_EXIT_INTERNAL;
    }
    return PT_MAX(status, loaded);
}

void pt_stacks_input_free(pt_stacks_input_t *in) {
    pt_profile_free(&in->p);
    pt_paths_free(&in->paths);
    free(in->source);
    free(in->name);
}
