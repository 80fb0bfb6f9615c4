/* describe_report.c. SPDX-License-Identifier: MIT */
#include "describe_report.h"

#include <inttypes.h>
#include <time.h>

typedef perftrace__strbuf_t text_t;

/* "3 to 5", "7". */
static void put_range(text_t *out, int64_t first, int64_t last) {
    if (first >= 0) {
        perftrace__strbuf_printf(out, "%" PRId64, first);
    }
    if (first >= 0 && last > first) {
        perftrace__strbuf_printf(out, " to %" PRId64, last);
    }
}

/* ---- what people are shown ---- */

static void put_rank(text_t *out, const pt_described_t *d) {
    if (d->all.rank >= 0) {
        perftrace__strbuf_printf(out, "%d", d->all.rank);
    }
    if (d->all.rank >= 0 && d->all.world_size >= 0) {
        perftrace__strbuf_printf(out, " of %d", d->all.world_size);
    }
}

static void put_role(text_t *out, const pt_described_t *d) {
    perftrace__strbuf_puts(out, d->all.role ? d->all.role : "");
}

static void put_prefix(text_t *out, const pt_described_t *d) {
    perftrace__strbuf_puts(out, d->all.prefix ? d->all.prefix : "");
}

static void put_steps(text_t *out, const pt_described_t *d) {
    put_range(out, d->all.first_step, d->all.last_step);
}

static void put_parallel(text_t *out, const pt_described_t *d) {
    const perftrace_trace_name_t *n = &d->all;
    const struct {
        const char *name;
        int rank;
    } dims[] = {{"tp", n->tp}, {"pp", n->pp}, {"dp", n->dp}, {"cp", n->cp}, {"ep", n->ep}};
    for (size_t i = 0; i < PT_ARRAY_LEN(dims); i++) {
        if (dims[i].rank >= 0) {
            perftrace__strbuf_printf(out, "%s%s%d", out->len ? " " : "", dims[i].name,
                                     dims[i].rank);
        }
    }
}

static void put_host(text_t *out, const pt_described_t *d) {
    perftrace__strbuf_puts(out, d->all.host ? d->all.host : "");
}

static void put_pid(text_t *out, const pt_described_t *d) {
    put_range(out, d->all.pid, -1);
}

static void put_start(text_t *out, const pt_described_t *d) {
    const time_t seconds = (time_t)(d->start_ns / 1000000000);
    struct tm tm;
    char text[32];
    if (d->start_ns >= 0 && gmtime_r(&seconds, &tm) &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm)) {
        perftrace__strbuf_printf(out, "%s.%03dZ", text, (int)(d->start_ns / 1000000 % 1000));
    }
}

/* Which window it is, and what became of it. */
static void put_window(text_t *out, const pt_described_t *d) {
    const perftrace_trace_name_t *n = &d->all;
    if (n->mb_first >= 0) {
        perftrace__strbuf_puts(out, "mini-batch ");
        put_range(out, n->mb_first, n->mb_last);
    }
    if (n->cycle >= 0) {
        perftrace__strbuf_printf(out, "%scycle %" PRId64, out->len ? ", " : "", n->cycle);
    }
    if (n->part >= 0) {
        perftrace__strbuf_printf(out, "%spart %" PRId64, out->len ? ", " : "", n->part);
    }
    if (n->aborted || n->steps_done >= 0) {
        perftrace__strbuf_printf(out, "%s%s", out->len ? ", " : "",
                                 n->aborted ? "aborted" : "partial");
    }
    if (n->steps_done >= 0) {
        perftrace__strbuf_printf(out, " %" PRId64, n->steps_done);
    }
    if (n->steps_done >= 0 && n->steps_wanted >= 0) {
        perftrace__strbuf_printf(out, "/%" PRId64, n->steps_wanted);
    }
}

static void put_suffix(text_t *out, const pt_described_t *d) {
    perftrace__strbuf_puts(out, d->all.suffix ? d->all.suffix : "");
}

static void put_size(text_t *out, const pt_described_t *d) {
    if (d->size >= 0) {
        pt_table_format(out, PT_COLUMN_COUNT, (double)d->size);
    }
}

static const char *known_by(const pt_described_t *d) {
    return d->by_name && d->by_header ? "name, header"
           : d->by_name               ? "name"
           : d->by_header             ? "header"
                                      : "nothing";
}

static void put_known(text_t *out, const pt_described_t *d) {
    perftrace__strbuf_puts(out, known_by(d));
}

static void put_run(text_t *out, const pt_described_t *d) {
    perftrace__strbuf_puts(out, d->run_id ? d->run_id : "");
}

static const struct {
    const char *title;
    void (*put)(text_t *out, const pt_described_t *d);
} lines[] = {{"rank", put_rank},     {"role", put_role},         {"prefix", put_prefix},
             {"steps", put_steps},   {"parallel", put_parallel}, {"host", put_host},
             {"process", put_pid},   {"start", put_start},       {"window", put_window},
             {"label", put_suffix},  {"run", put_run},           {"bytes", put_size},
             {"known by", put_known}};

/* ---- what programs get ---- */

static const char *const numbers[] = {"rank",     "world_size", "tp",           "pp",        "dp",
                                      "cp",       "ep",         "first_step",   "last_step", "pid",
                                      "start_ms", "mb_first",   "mb_last",      "cycle",     "part",
                                      "number",   "steps_done", "steps_wanted", "size"};
static const char *const texts[] = {"role", "prefix", "host", "suffix", "run_id"};

static void add_number(pt_table_t *t, int64_t value) {
    if (value >= 0) {
        pt_table_number(t, (double)value);
    } else {
        pt_table_cstr(t, NULL);
    }
}

static void add_details(pt_table_t *t, const pt_described_t *d) {
    const perftrace_trace_name_t *n = &d->all;
    const int64_t values[] = {n->rank, n->world_size, n->tp,         n->pp,        n->dp,
                              n->cp,   n->ep,         n->first_step, n->last_step, n->pid};
    for (size_t i = 0; i < PT_ARRAY_LEN(values); i++) {
        add_number(t, values[i]);
    }
    add_number(t, d->start_ns >= 0 ? d->start_ns / 1000000 : -1);
    const int64_t more[] = {n->mb_first, n->mb_last,    n->cycle,        n->part,
                            n->number,   n->steps_done, n->steps_wanted, d->size};
    for (size_t i = 0; i < PT_ARRAY_LEN(more); i++) {
        add_number(t, more[i]);
    }
    const char *const labels[] = {n->role, n->prefix, n->host, n->suffix, d->run_id};
    for (size_t i = 0; i < PT_ARRAY_LEN(labels); i++) {
        pt_table_cstr(t, labels[i]);
    }
    pt_table_number(t, n->aborted ? 1 : 0);
}

void pt_describe_report(const pt_described_t *files, size_t count, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "files", "Files", false);
    pt_table_column(t, "file", "file", PT_COLUMN_TEXT);
    pt_table_detail(t, "known_by", PT_COLUMN_TEXT);
    for (size_t i = 0; i < PT_ARRAY_LEN(numbers); i++) {
        pt_table_detail(t, numbers[i], PT_COLUMN_COUNT);
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(texts); i++) {
        pt_table_detail(t, texts[i], PT_COLUMN_TEXT);
    }
    pt_table_detail(t, "aborted", PT_COLUMN_COUNT);
    for (size_t f = 0; f < count; f++) {
        pt_table_cstr(t, files[f].path);
        pt_table_cstr(t, known_by(&files[f]));
        add_details(t, &files[f]);
    }
}

void pt_describe_text(const pt_described_t *files, size_t count, perftrace__strbuf_t *out) {
    for (size_t f = 0; f < count; f++) {
        pt_table_visible(out, files[f].path, 0);
        perftrace__strbuf_putc(out, '\n');
        for (size_t i = 0; i < PT_ARRAY_LEN(lines); i++) {
            text_t text = PERFTRACE__STRBUF_INIT;
            lines[i].put(&text, &files[f]);
            if (text.len) {
                perftrace__strbuf_printf(out, "  %-10s", lines[i].title);
                pt_table_visible(out, perftrace__strbuf_cstr(&text), 0);
                perftrace__strbuf_putc(out, '\n');
            }
            out->failed = out->failed || text.failed;
            perftrace__strbuf_free(&text);
        }
    }
}
