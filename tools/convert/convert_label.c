/* convert_label.c: how processes are named in the output. SPDX-License-Identifier: MIT */
#include "convert_label.h"

#include "json_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* A JSON string's characters without the quotes. */
static void put_inner(perftrace__strbuf_t *out, const char *json) {
    if (json[0] == '"') {
        perftrace__strbuf_append(out, json + 1, strlen(json) - 2);
    } else {
        perftrace__strbuf_puts(out, json);
    }
}

/* Text that is not JSON yet, without quotes. */
static void put_text(perftrace__strbuf_t *out, const char *text) {
    size_t len = strlen(text);
    if (perftrace__strbuf_reserve(out, PERFTRACE__JSON_STRING_ROOM(len))) {
        out->len = (size_t)(perftrace__put_json_chars(out->data + out->len, text, len) - out->data);
        out->data[out->len] = '\0';
    }
}

/* -1: of no rank, in a merged trace. */
static int64_t rank_of(const pt_convert_input_t *in, const pt_process_t *p) {
    return in->survey.several_ranks ? p->rank : in->source.rank;
}

static bool is_named_rank(const pt_convert_input_t *in, const pt_process_t *p) {
    return in->named_rank && rank_of(in, p) >= 0;
}

static bool name_tells_rank(int64_t rank, const char *name) {
    char word[40];
    snprintf(word, sizeof word, "Rank %" PRId64, rank);
    const char *at = strstr(name, word);
    return at != NULL && !(at[strlen(word)] >= '0' && at[strlen(word)] <= '9');
}

static void put_rank(const pt_convert_input_t *in, const pt_process_t *p,
                     perftrace__strbuf_t *out) {
    if (in->source.role != NULL) {
        perftrace__strbuf_putc(out, '[');
        put_text(out, in->source.role);
        perftrace__strbuf_puts(out, "] ");
    }
    perftrace__strbuf_printf(out, "Rank %" PRId64, rank_of(in, p));
}

static void put_start(const pt_convert_input_t *in, perftrace__strbuf_t *out) {
    char text[40];
    struct tm tm;
    time_t t = (time_t)(in->source.epoch_ns / 1000000000);
    if (in->source.has_epoch && gmtime_r(&t, &tm) != NULL &&
        strftime(text, sizeof text, ", started %Y-%m-%d %H:%M:%SZ", &tm) > 0) {
        perftrace__strbuf_puts(out, text);
    }
}

static void put_label(const pt_convert_input_t *in, const pt_process_t *p,
                      perftrace__strbuf_t *out) {
    perftrace__strbuf_putc(out, '"');
    if (p->name != NULL) {
        if (is_named_rank(in, p) && !name_tells_rank(rank_of(in, p), p->name)) {
            put_rank(in, p, out);
            perftrace__strbuf_puts(out, ": ");
        }
        put_inner(out, p->name);
    } else {
        bool text = p->orig != NULL && p->orig[0] == '"';
        bool alone = in->tracks.process_count == 1 && !text;
        if (is_named_rank(in, p)) {
            put_rank(in, p, out);
            perftrace__strbuf_puts(out, alone ? "" : ", ");
        }
        if (text) {
            put_inner(out, p->orig);
        } else if (!alone || !is_named_rank(in, p)) {
            perftrace__strbuf_printf(out, "Process %s", p->orig != NULL ? p->orig : "unknown");
        }
    }
    if (in->show_host && in->source.host != NULL) {
        perftrace__strbuf_puts(out, " on ");
        put_text(out, in->source.host);
    }
    if (in->runs > 1) {
        perftrace__strbuf_printf(out, " (run %u", in->run);
        put_start(in, out);
        perftrace__strbuf_putc(out, ')');
    }
    perftrace__strbuf_putc(out, '"');
}

static int64_t order_of(const pt_convert_input_t *in, const pt_process_t *p) {
    int64_t place = 0;
    for (size_t i = 0; i < in->tracks.process_count && in->tracks.process[i] != p; i++) {
        place += rank_of(in, in->tracks.process[i]) == rank_of(in, p);
    }
    if (!is_named_rank(in, p)) {
        return p->has_sort ? p->sort : place;
    }
    return rank_of(in, p) * in->order_scale + (in->order_scale > 1 ? place : 0);
}

void pt_convert_label_put(pt_convert_input_t *in, pt_process_t *p, perftrace__strbuf_t *out) {
    const pt_source_t *s = &in->source;
    p->written = true;
    perftrace__strbuf_printf(out,
                             "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %" PRIu32
                             ", \"args\": {\"name\": ",
                             p->pid);
    put_label(in, p, out);
    if (is_named_rank(in, p)) {
        perftrace__strbuf_printf(out, ", \"rank\": %" PRId64, rank_of(in, p));
    }
    if (p->orig != NULL) {
        perftrace__strbuf_printf(out, ", \"orig_pid\": %s", p->orig);
    }
    if (s->role != NULL) {
        perftrace__strbuf_puts(out, ", \"role\": ");
        perftrace__strbuf_json_cstr(out, s->role);
    }
    if (s->host != NULL) {
        perftrace__strbuf_puts(out, ", \"host\": ");
        perftrace__strbuf_json_cstr(out, s->host);
    }
    if (s->run_id != NULL) {
        perftrace__strbuf_puts(out, ", \"run_id\": ");
        perftrace__strbuf_json_cstr(out, s->run_id);
    }
    perftrace__strbuf_printf(
        out,
        "}},\n{\"name\": \"process_sort_index\", \"ph\": \"M\", \"pid\": %" PRIu32
        ", \"args\": {\"sort_index\": %" PRId64 "}},\n",
        p->pid, order_of(in, p));
}

void pt_convert_label_input(const pt_convert_input_t *in, perftrace__strbuf_t *out) {
    if (in->source.has_rank && !(in->source.ours && in->source.rank_guessed) &&
        !in->survey.several_ranks) {
        perftrace__strbuf_printf(out, "rank %" PRId64 " (%s)", in->source.rank, in->name);
    } else {
        perftrace__strbuf_puts(out, in->name);
    }
}
