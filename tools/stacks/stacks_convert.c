/* stacks_convert.c: convert and merge. SPDX-License-Identifier: MIT */
#include "stacks_convert.h"

#include "human.h"
#include "last_part.h"
#include "message.h"
#include "output.h"
#include "profile_stacks.h"
#include "stack_view.h"

#include <string.h>

/* Frames of all stacks together. Collapsed stacks are held in memory, by their names. */
#define MOST_SAMPLED   ((uint64_t)1 << 30)
#define MOST_COLLAPSED ((uint64_t)1 << 28)

static bool ends_with(const char *text, size_t len, const char *end) {
    size_t n = strlen(end);
    return len > n && memcmp(text + len - n, end, n) == 0;
}

/* Without .gz, and without the first of the usual ends that fits. */
void pt_stacks_output_name(const char *path, bool collapsed, perftrace__strbuf_t *out) {
    static const char *const ends[][4] = {
        {".collapsed.txt", "_collapsed.txt", ".txt", NULL},
        {".speedscope.json", ".json", NULL, NULL},
    };
    size_t len = strlen(path);
    len -= ends_with(path, len, ".gz") ? 3 : 0;
    for (const char *const *end = ends[collapsed ? 1 : 0]; *end != NULL; end++) {
        if (ends_with(path, len, *end)) {
            len -= strlen(*end);
            break;
        }
    }
    perftrace__strbuf_append(out, path, len);
    perftrace__strbuf_puts(out, collapsed ? ".collapsed.txt" : ".speedscope.json");
}

void pt_stacks_profile_name(const char *path, perftrace__strbuf_t *out) {
    const char *base = pt_last_part(path);
    size_t len = strlen(base);
    len -= ends_with(base, len, ".gz") ? 3 : 0;
    const char *dot = memrchr(base, '.', len);
    perftrace__strbuf_append(out, base, dot != NULL && dot > base ? (size_t)(dot - base) : len);
}

/* ---- weights ---- */

pt_profile_unit_t pt_stacks_unit(const pt_profile_t *p, bool *ret_mixed) {
    *ret_mixed = false;
    for (size_t i = 1; i < p->threads; i++) {
        *ret_mixed |= p->thread[i].unit != p->thread[0].unit;
    }
    return p->threads > 0 ? p->thread[0].unit : PT_UNIT_NONE;
}

/* Times as whole nanoseconds, which those who guess a unit by its size take for that. */
pt_collapsed_weights_t pt_stacks_collapsed_weights(const pt_stacks_options_t *o,
                                                   pt_profile_unit_t unit) {
    static const double factor[] = {[PT_WEIGHTS_NANOSECONDS] = 1e9,
                                    [PT_WEIGHTS_MICROSECONDS] = 1e6,
                                    [PT_WEIGHTS_MILLISECONDS] = 1e3,
                                    [PT_WEIGHTS_SECONDS] = 1};
    if (unit != PT_UNIT_SECONDS) {
        return (pt_collapsed_weights_t){1, false};
    }
    if (o->has_freq) {
        return (pt_collapsed_weights_t){(double)o->freq, true};
    }
    return o->unit >= PT_WEIGHTS_MICROSECONDS && o->unit <= PT_WEIGHTS_SECONDS
               ? (pt_collapsed_weights_t){factor[o->unit], false}
               : (pt_collapsed_weights_t){1e9, true};
}

/* ---- the target ---- */

static bool is_collapsed(const pt_stacks_options_t *o, const pt_stacks_input_t *in) {
    const char *name = o->output != NULL ? o->output : "";
    size_t len = strlen(name);
    if (o->to != PT_TO_DEFAULT) {
        return o->to == PT_TO_COLLAPSED;
    }
    if (ends_with(name, len, ".json")) {
        return false;
    }
    if (ends_with(name, len, ".txt") || ends_with(name, len, ".folded") ||
        ends_with(name, len, ".collapsed")) {
        return true;
    }
    bool collapsed = o->command == PT_STACKS_CONVERT; /* merge keeps what came first */
    return (in->source[0].format == PT_PROFILE_JSON) == collapsed;
}

static bool flush(void *ctx, perftrace__strbuf_t *text) {
    int status = pt_output_write(ctx, text->data, text->len);
    perftrace__strbuf_clear(text);
    return status == 0;
}

/* Leaves out the threads whose name does not hold the filter. False without memory. */
static bool choose_threads(const char *filter, pt_profile_t *p, size_t *ret_matching) {
    pt_stack_view_t view;
    bool ok = pt_stack_view_make(p, filter, &view);
    for (size_t i = 0; ok && i < p->threads; i++) {
        if (!view.wanted[i]) {
            pt_profile_empty_thread(p, i);
        }
    }
    *ret_matching = view.matching;
    pt_stack_view_free(&view);
    return ok;
}

bool pt_stacks_can_write(const pt_profile_t *p, bool collapsed, const char *name) {
    uint64_t frames = collapsed ? pt_profile_frames_of_stacks(p) : pt_profile_frames_of_samples(p);
    uint64_t most = collapsed ? MOST_COLLAPSED : MOST_SAMPLED;
    if (frames > most) {
        pt_error("%s%sthe stacks are too deep to be written one by one: they have %llu frames "
                 "together, more than %llu",
                 name != NULL ? name : "", name != NULL ? ": " : "", (unsigned long long)frames,
                 (unsigned long long)most);
        pt_note("--thread takes some of the threads; top, inclusive and --html read such stacks");
    }
    return frames <= most;
}

static bool write_model(const pt_stacks_options_t *o, const pt_stacks_input_t *in, bool collapsed,
                        pt_profile_sink_t *sink) {
    bool mixed;
    if (collapsed) {
        pt_collapsed_weights_t how = pt_stacks_collapsed_weights(o, pt_stacks_unit(&in->p, &mixed));
        return pt_collapsed_write(&in->p, NULL, &how, sink);
    }
    perftrace__strbuf_t name = PERFTRACE__STRBUF_INIT;
    pt_stacks_profile_name(in->name[0], &name);
    bool ok = pt_speedscope_write(&in->p, o->name != NULL ? o->name : perftrace__strbuf_cstr(&name),
                                  "perf-trace-stacks " PERFTRACE_TOOL_VERSION, sink);
    ok = ok && !name.failed;
    perftrace__strbuf_free(&name);
    return ok;
}

static pt_exit_t write_to(const pt_stacks_options_t *o, const pt_stacks_input_t *in, bool collapsed,
                          const char *path) {
    pt_output_options_t how = {.inputs = &in->paths};
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_output_t *output;
    int status = pt_output_open(path, &how, &output, &problem);
    if (status == 0) {
        pt_profile_sink_t sink = {.text = PERFTRACE__STRBUF_INIT, .flush = flush, .ctx = output};
        bool ok = write_model(o, in, collapsed, &sink) && flush(output, &sink.text);
        bool written = ok || *pt_output_problem(output) != '\0';
        perftrace__strbuf_free(&sink.text);
        if (!written) {
            pt_output_abort(output);
            pt_error("out of memory");
            perftrace__strbuf_free(&problem);
            return PT_EXIT_INTERNAL;
        }
        status = pt_output_commit(output, &problem); /* tells what a write could not do, too */
    }
    if (status != 0) {
        pt_error("%s: %s", strcmp(path, "-") == 0 ? "standard output" : path,
                 perftrace__strbuf_cstr(&problem));
    }
    perftrace__strbuf_free(&problem);
    return status == 0 ? PT_EXIT_OK : PT_EXIT_OUTPUT;
}

static void tell_counts(const pt_profile_t *p, const char *path) {
    char samples[PT_HUMAN_COUNTED_MAX], threads[PT_HUMAN_COUNTED_MAX], frames[PT_HUMAN_COUNTED_MAX];
    size_t empty = 0;
    for (size_t i = 0; i < p->threads; i++) {
        empty += p->thread[i].samples == 0;
    }
    if (empty > 0) {
        pt_note("%zu thread%s without samples left out", empty, PT_PLURAL(empty));
    }
    pt_note("%s: %s, %s, %s", strcmp(path, "-") == 0 ? "standard output" : path,
            pt_human_counted(samples, p->samples, "sample", "samples"),
            pt_human_counted(threads, p->threads - empty, "thread", "threads"),
            pt_human_counted(frames, p->frames, "frame", "frames"));
}

pt_exit_t pt_stacks_convert(const pt_stacks_options_t *o, pt_stacks_input_t *in) {
    bool collapsed = is_collapsed(o, in), mixed;
    perftrace__strbuf_t name = PERFTRACE__STRBUF_INIT, said = PERFTRACE__STRBUF_INIT;
    const char *path = o->output;
    pt_stacks_options_t how = *o;
    /* Weights that are written as numbers again stay as they are, unless they are to change. */
    if (collapsed && o->unit == PT_WEIGHTS_DEFAULT) {
        how.unit = PT_WEIGHTS_NONE;
        how.has_freq = false;
    }
    if (path == NULL && o->command == PT_STACKS_CONVERT && !in->paths.items[0].is_stdin) {
        pt_stacks_output_name(in->name[0], collapsed, &name);
        path = perftrace__strbuf_cstr(&name);
    }
    path = path != NULL ? path : "-";
    pt_exit_t status = PT_EXIT_INTERNAL;
    size_t matching = in->p.threads;
    bool chosen = o->thread == NULL || choose_threads(o->thread, &in->p, &matching);
    if (chosen && matching == 0) {
        pt_error("no thread's name holds '%s'", o->thread);
        status = PT_EXIT_PROBLEMS;
    } else if (chosen && in->p.samples == 0) {
        pt_error("there are no samples to write");
        status = PT_EXIT_INPUT;
    } else if (!chosen || !pt_stacks_set_unit(&how, &in->p, &said) || name.failed || said.failed) {
        pt_error("out of memory");
    } else if (pt_stacks_unit(&in->p, &mixed) != PT_UNIT_NONE && collapsed && mixed) {
        pt_error("collapsed stacks have one unit, but the threads have several: write speedscope's "
                 "JSON, or choose with --unit");
        status = PT_EXIT_INPUT;
    } else if (!pt_stacks_can_write(&in->p, collapsed, NULL)) {
        status = PT_EXIT_PROBLEMS;
    } else {
        if (said.len > 0) {
            pt_note("%s", said.data);
        }
        status = write_to(o, in, collapsed, path);
    }
    if (status == PT_EXIT_OK) {
        tell_counts(&in->p, path);
    }
    perftrace__strbuf_free(&name);
    perftrace__strbuf_free(&said);
    return status;
}
