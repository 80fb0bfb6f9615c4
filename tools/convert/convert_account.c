/* convert_account.c: what was read, written, lost and mended. SPDX-License-Identifier: MIT */
#include "convert_account.h"

#include "convert_label.h"
#include "human.h"
#include "json_writer.h"
#include "message.h"
#include "peak_memory.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t loss_count(const pt_convert_loss_t *loss, bool has_footer) {
    return has_footer ? loss->footer : loss->records;
}

static uint64_t lost_of(const pt_convert_input_t *in) {
    uint64_t n = 0;
    for (unsigned i = 0; i < in->loss_count; i++) {
        n += loss_count(&in->loss[i], in->has_footer);
    }
    return n;
}

void pt_convert_account_make(pt_convert_account_t *a, const pt_convert_plan_t *plan,
                             const pt_problems_t *book) {
    *a = (pt_convert_account_t){
        .plan = plan, .book = book, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
    for (size_t i = 0; i < plan->count; i++) {
        const pt_convert_input_t *in = plan->order[i];
        const pt_convert_counts_t *c = &in->counts;
        uint64_t read[PT_PHASES], written[PT_PHASES];
        pt_convert_input_counted(in, read, written);
        for (unsigned ph = 0; ph < PT_PHASES; ph++) {
            a->in[ph] += read[ph];
            a->out[ph] += written[ph];
            a->read += ph == 'M' ? 0 : read[ph];
            a->written += ph == 'M' ? 0 : written[ph];
        }
        a->filtered += c->filtered;
        a->unfinished += c->unfinished;
        a->moved += c->moved;
        a->unsure += c->unsure;
        a->nonfinite += c->nonfinite;
        for (unsigned end = 0; end < PT_SESSION_END_COUNT; end++) {
            a->sessions[end] += c->sessions[end];
        }
        a->lost += lost_of(in);
        a->first_ns = PT_MIN(a->first_ns, c->first_ns);
        a->last_ns = PT_MAX(a->last_ns, c->last_ns);
        a->incomplete += in->source.ours && !in->has_footer;
        a->bytes_in += in->read_offset;
    }
}

/* ---- JSON ---- */

static void json_phases(perftrace__strbuf_t *out, const char *key, const uint64_t *count) {
    const char *comma = "";
    perftrace__strbuf_printf(out, "\"%s\": {", key);
    for (unsigned ph = 33; ph < 127; ph++) {
        if (count[ph] > 0 && ph != 'M' && ph != '"' && ph != '\\') {
            perftrace__strbuf_printf(out, "%s\"%c\": %" PRIu64, comma, (char)ph, count[ph]);
            comma = ", ";
        }
    }
    perftrace__strbuf_puts(out, "}");
}

static const char *const session_ends[] = {PT_SESSION_END_LIST(PT_I_SESSION_END_TEXT)};

/* Nothing for traces without sessions. */
static void json_sessions(perftrace__strbuf_t *out, const uint64_t *sessions) {
    const char *before = ", \"sessions\": {";
    for (unsigned end = 0; end < PT_SESSION_END_COUNT; end++) {
        if (sessions[end] > 0) {
            perftrace__strbuf_printf(out, "%s\"%s\": %" PRIu64, before, session_ends[end],
                                     sessions[end]);
            before = ", ";
        }
    }
    perftrace__strbuf_puts(out, before[2] == '\0' ? "}" : "");
}

static void json_text(perftrace__strbuf_t *out, const char *key, const char *text) {
    if (text != NULL) {
        perftrace__strbuf_printf(out, ", \"%s\": ", key);
        perftrace__strbuf_json_cstr(out, text);
    }
}

static void json_losses(perftrace__strbuf_t *out, const pt_convert_input_t *in) {
    const char *comma = "";
    perftrace__strbuf_puts(out, ", \"lost\": {");
    for (unsigned i = 0; i < in->loss_count; i++) {
        perftrace__strbuf_puts(out, comma);
        perftrace__strbuf_json_cstr(out, in->loss[i].cause);
        perftrace__strbuf_printf(out, ": %" PRIu64, loss_count(&in->loss[i], in->has_footer));
        comma = ", ";
    }
    perftrace__strbuf_puts(out, "}");
}

static void json_clock(perftrace__strbuf_t *out, const pt_clock_out_t *c) {
    char drift[PERFTRACE__DOUBLE_MAX + 1];
    /* A thousandth of a ppm is far below what any fit gives. */
    double rounded =
        (double)(int64_t)(c->drift_ppm * 1000 + (c->drift_ppm < 0 ? -0.5 : 0.5)) / 1000;
    *perftrace__put_double(drift, rounded, true) = '\0';
    json_text(out, "alignment", pt_clock_method_text(c->method));
    perftrace__strbuf_printf(out,
                             ", \"shift_ns\": %" PRId64 ", \"offset_ns\": %" PRId64
                             ", \"drift_ppm\": %s, \"error_bound_ns\": ",
                             c->shift_ns, c->offset_ns, drift);
    if (c->bound_ns >= 0) {
        perftrace__strbuf_printf(out, "%" PRId64, c->bound_ns);
    } else {
        perftrace__strbuf_puts(out, "null");
    }
    if (c->marks > 0) {
        perftrace__strbuf_printf(out, ", \"markers\": %u", c->marks);
    }
    if (c->readings > 0) {
        perftrace__strbuf_printf(out, ", \"readings\": %u", c->readings);
    }
    if (c->refused > 0) {
        perftrace__strbuf_printf(out, ", \"readings_refused\": %u", c->refused);
    }
    if (c->wall_steps > 0) {
        perftrace__strbuf_printf(out, ", \"wall_clock_set\": %u, \"wall_clock_set_ns\": %" PRId64,
                                 c->wall_steps, c->wall_step_ns);
    }
}

static void json_input(perftrace__strbuf_t *out, const pt_convert_input_t *in) {
    const pt_source_t *s = &in->source;
    perftrace__strbuf_puts(out, "{\"file\": ");
    perftrace__strbuf_json_cstr(out, in->name);
    if (in->survey.several_ranks) {
        perftrace__strbuf_puts(out, ", \"rank\": null");
    } else {
        perftrace__strbuf_printf(out, ", \"rank\": %" PRId64, s->rank);
    }
    if (s->rank_guessed) {
        perftrace__strbuf_puts(out, ", \"rank_guessed\": true");
    }
#define PT_I_ACCOUNT_INT(name)                                                                     \
    if (s->name >= 0) {                                                                            \
        perftrace__strbuf_printf(out, ", \"%s\": %" PRId64, #name, s->name);                       \
    }
    PT_SOURCE_INT_LIST(PT_I_ACCOUNT_INT)
#undef PT_I_ACCOUNT_INT
#define PT_I_ACCOUNT_TEXT(name) json_text(out, #name, s->name);
    PT_SOURCE_TEXT_LIST(PT_I_ACCOUNT_TEXT)
#undef PT_I_ACCOUNT_TEXT
    if (in->runs > 1) {
        perftrace__strbuf_printf(out, ", \"run\": %u, \"runs\": %u", in->run, in->runs);
    }
    json_clock(out, &in->clock);
    perftrace__strbuf_puts(out, ", ");
    uint64_t read[PT_PHASES], written[PT_PHASES];
    pt_convert_input_counted(in, read, written);
    json_phases(out, "events", read);
    if (s->ours) {
        perftrace__strbuf_printf(out, ", \"complete\": %s", in->has_footer ? "true" : "false");
    }
    json_losses(out, in);
    perftrace__strbuf_puts(out, "}");
}

void pt_convert_account_json(const pt_convert_account_t *a, bool timing, perftrace__strbuf_t *out) {
    const pt_convert_plan_t *plan = a->plan;
    perftrace__strbuf_puts(out, "\"perftrace_convert\": {\"version\": \"" PERFTRACE_TOOL_VERSION
                                "\", \"base_epoch_ns\": ");
    if (plan->knows_base) {
        perftrace__strbuf_printf(out, "\"%" PRId64 "\"", plan->base_epoch_ns);
    } else {
        perftrace__strbuf_puts(out, "null");
    }
    if (plan->world_size > 0) {
        perftrace__strbuf_printf(out, ", \"world_size\": %" PRId64, plan->world_size);
    }
    perftrace__strbuf_puts(out, ", \"missing_ranks\": [");
    for (size_t i = 0; i < plan->missing_count; i++) {
        perftrace__strbuf_printf(out, "%s%" PRId64, i > 0 ? ", " : "", plan->missing[i]);
    }
    perftrace__strbuf_puts(out, "], ");
    json_phases(out, "events_read", a->in);
    perftrace__strbuf_puts(out, ", ");
    json_phases(out, "events_written", a->out);
    perftrace__strbuf_printf(out,
                             ", \"filtered\": %" PRIu64 ", \"unfinished\": %" PRIu64
                             ", \"overlaps_moved\": %" PRIu64 ", \"lost\": %" PRIu64
                             ", \"nonfinite\": %" PRIu64 ", \"duration_ns\": %" PRId64,
                             a->filtered, a->unfinished, a->moved, a->lost, a->nonfinite,
                             a->last_ns >= a->first_ns ? a->last_ns - a->first_ns : 0);
    json_sessions(out, a->sessions);
    if (timing) {
        perftrace__strbuf_printf(out, ", \"bytes_read\": %" PRIu64 ", \"elapsed_ns\": %" PRIu64,
                                 a->bytes_in, a->elapsed_ns);
        const long kib = pt_peak_memory_kib();
        if (kib >= 0) {
            perftrace__strbuf_printf(out, ", \"peak_memory_kib\": %ld", kib);
        }
    }
    perftrace__strbuf_puts(out, ", \"inputs\": [");
    for (size_t i = 0; i < plan->count; i++) {
        perftrace__strbuf_puts(out, i > 0 ? ",\n" : "\n");
        json_input(out, plan->order[i]);
    }
    perftrace__strbuf_puts(out, "], \"problems\": ");
    pt_problems_json(a->book, out);
    perftrace__strbuf_puts(out, "}");
}

/* ---- text ---- */

static void print_phases(const pt_convert_account_t *a) {
    static const struct {
        char phase;
        const char *name;
    } known[] = {{'X', "scopes"},         {'B', "begins"},         {'E', "ends"},
                 {'i', "instants"},       {'C', "counter values"}, {'s', "flow starts"},
                 {'t', "flow steps"},     {'f', "flow ends"},      {'b', "async begins"},
                 {'n', "async instants"}, {'e', "async ends"}};
    perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
    char number[PT_HUMAN_MAX];
    uint64_t rest = a->written;
    for (size_t i = 0; i < PT_ARRAY_LEN(known); i++) {
        uint64_t n = a->out[(unsigned char)known[i].phase];
        rest -= n;
        if (n > 0) {
            perftrace__strbuf_printf(&line, "%s%s %s", line.len > 0 ? ", " : "",
                                     pt_human_exact(number, n), known[i].name);
        }
    }
    if (rest > 0) {
        perftrace__strbuf_printf(&line, "%s%s others", line.len > 0 ? ", " : "",
                                 pt_human_exact(number, rest));
    }
    pt_note("%s", line.len > 0 ? line.data : "no events");
    perftrace__strbuf_free(&line);
}

static void print_sessions(const uint64_t *sessions) {
    perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
    char number[PT_HUMAN_MAX];
    uint64_t all = 0;
    for (unsigned end = 0; end < PT_SESSION_END_COUNT; end++) {
        all += sessions[end];
        if (sessions[end] > 0) {
            perftrace__strbuf_printf(&line, "%s%s %s", line.len > 0 ? ", " : "",
                                     pt_human_exact(number, sessions[end]), session_ends[end]);
        }
    }
    if (all > 0) {
        pt_note("%s session%s: %s", pt_human_exact(number, all), all == 1 ? "" : "s",
                perftrace__strbuf_cstr(&line));
    }
    perftrace__strbuf_free(&line);
}

static void print_clock(const pt_convert_input_t *in) {
    perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
    char bound[PT_HUMAN_MAX];
    const pt_clock_out_t *c = &in->clock;
    pt_convert_label_input(in, &line);
    perftrace__strbuf_printf(&line, ": %s", pt_clock_method_text(c->method));
    if (c->offset_ns != 0 || c->rate < 0 || c->rate > 0) {
        perftrace__strbuf_printf(&line, ", clock %+.3f ms, drift %+.3f ppm",
                                 (double)c->offset_ns / 1e6, c->drift_ppm);
    }
    if (c->bound_ns > 0) {
        perftrace__strbuf_printf(&line, ", within %s",
                                 pt_human_duration(bound, (uint64_t)c->bound_ns));
    }
    pt_note("  %s", perftrace__strbuf_cstr(&line));
    perftrace__strbuf_free(&line);
}

static void warn_steps(const pt_convert_plan_t *plan) {
    size_t told = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const pt_clock_out_t *c = &plan->order[i]->clock;
        if (c->wall_steps > 0) {
            pt_warn_some(&told,
                         "%s: the wall clock was set while it was recorded, by %+.3f s; its times "
                         "do not follow that",
                         plan->order[i]->name, (double)c->wall_step_ns / 1e9);
        }
    }
    pt_warn_more(told, "files whose wall clock was set");
}

static void print_clocks(const pt_convert_plan_t *plan) {
    size_t shown = 0;
    warn_steps(plan);
    if (plan->count < 2) {
        return;
    }
    pt_note("alignment:");
    for (size_t i = 0; i < plan->count; i++) {
        if (shown < 16 || pt_message_verbosity() >= PT_VERBOSE) {
            print_clock(plan->order[i]);
            shown++;
        }
    }
    if (shown < plan->count) {
        pt_note("  ... and %zu more (in the metadata of the output)", plan->count - shown);
    }
}

static void print_losses(const pt_convert_account_t *a) {
    char number[PT_HUMAN_MAX];
    size_t lossy = 0, open = 0;
    for (size_t i = 0; i < a->plan->count; i++) {
        const pt_convert_input_t *in = a->plan->order[i];
        perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
        for (unsigned k = 0; k < in->loss_count; k++) {
            uint64_t n = loss_count(&in->loss[k], in->has_footer);
            if (n > 0) {
                perftrace__strbuf_printf(&line, "%s%s %s", line.len > 0 ? ", " : "",
                                         pt_human_exact(number, n), in->loss[k].cause);
            }
        }
        if (line.len > 0) {
            pt_warn_some(&lossy, "%s: the traced program lost events: %s", in->name, line.data);
        }
        if (in->source.ours && !in->has_footer) {
            pt_warn_some(
                &open,
                "%s: has no footer: the program still runs, or it ended without closing its "
                "trace",
                in->name);
        }
        perftrace__strbuf_free(&line);
    }
    pt_warn_more(lossy, "files whose program lost events");
    pt_warn_more(open, "files without a footer");
}

void pt_convert_account_print(const pt_convert_account_t *a, const pt_convert_doc_t *doc) {
    char number[4][PT_HUMAN_MAX];
    uint64_t span = a->last_ns >= a->first_ns ? (uint64_t)(a->last_ns - a->first_ns) : 0;
    char files[PT_HUMAN_COUNTED_MAX];
    char events[PT_HUMAN_COUNTED_MAX];
    pt_note("%s, %s read, %s written, %s of trace",
            pt_human_counted(files, a->plan->count, "file", "files"),
            pt_human_counted(events, a->read, "event", "events"),
            pt_human_exact(number[1], a->written), pt_human_duration(number[2], span));
    print_phases(a);
    print_sessions(a->sessions);
    if (a->moved > 0) {
        pt_note("%s overlap%s moved to %s", pt_human_exact(number[0], a->moved),
                a->moved == 1 ? "" : "s",
                a->plan->order[0]->options->overlap == PT_OVERLAP_ASYNC ? "async events"
                : a->moved == 1                                         ? "lane"
                                                                        : "lanes");
    }
    if (a->unfinished > 0) {
        pt_note("%s",
                pt_human_counted(events, a->unfinished, "unfinished scope", "unfinished scopes"));
    }
    if (a->nonfinite > 0) {
        pt_note("counter values left out: nonfinite=%" PRIu64, a->nonfinite);
    }
    if (a->filtered > 0) {
        pt_note("%s left out by the options",
                pt_human_counted(events, a->filtered, "event", "events"));
    }
    print_clocks(a->plan);
    print_losses(a);
    if (doc != NULL && doc->target != NULL && a->elapsed_ns > 0) {
        double rate = (double)a->bytes_in / ((double)a->elapsed_ns / 1e9);
        char parts[48] = "";
        if (doc->options->split > 0) {
            snprintf(parts, sizeof parts, " in %zu part%s", doc->parts, doc->parts == 1 ? "" : "s");
        }
        pt_note("wrote %s%s: %s from %s in %s (%s/s)", doc->target, parts,
                pt_human_bytes(number[0], doc->written), pt_human_bytes(number[1], a->bytes_in),
                pt_human_duration(number[2], a->elapsed_ns),
                pt_human_bytes(number[3], (uint64_t)rate));
    }
}
