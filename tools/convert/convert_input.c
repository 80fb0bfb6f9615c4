/* convert_input.c: one input file on its way through the converter. SPDX-License-Identifier: MIT */
#include "convert_input.h"

#include "atomics.h"
#include "event_fast.h"
#include "os.h"
#include "path_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

PT_PRINTF(3, 4)
static void fail(pt_convert_input_t *in, pt_exit_t status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    perftrace__strbuf_vprintf(&in->problem, format, args);
    va_end(args);
    in->opened = status;
}

/* What can be read once only is read from a copy where one pass is not enough. */
static bool make_spool(pt_convert_input_t *in, char *buf) {
    const char *dir = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/perf-trace-convert.XXXXXX",
             dir != NULL && dir[0] != '\0' ? dir : "/tmp");
    in->spool = mkostemp(path, O_CLOEXEC);
    if (in->spool < 0) {
        fail(in, PT_EXIT_INPUT, "cannot make a copy of %s in %s: %s", in->name, path,
             strerror(errno));
        return false;
    }
    unlink(path);
    int64_t n = 0;
    while ((n = pt_input_read(in->handle, buf, PT_CONVERT_CHUNK)) > 0) {
        size_t done = 0;
        int rc = perftrace__os_write_all(in->spool, buf, (size_t)n, &done);
        if (rc != 0) {
            fail(in, PT_EXIT_INPUT, "cannot copy %s to %s: %s", in->name, path, strerror(-rc));
            return false;
        }
    }
    if (n < 0) {
        pt_problems_add(in->book, PT_TRACE_PROBLEM_INPUT_ENDS, in->index, 0,
                        pt_input_offset(in->handle), pt_input_problem(in->handle));
    }
    return true;
}

static bool reopen(pt_convert_input_t *in) {
    /* What it is packed in is known: one read less. */
    pt_input_options_t how = pt_path_parts_input(in->path);
    how.keep_packed = in->path->regular && !in->packed && in->spool < 0;
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    char spool[64];
    const char *path = in->path->name;
    pt_input_close(in->handle);
    in->handle = NULL;
    if (in->spool >= 0) {
        snprintf(spool, sizeof spool, "/proc/self/fd/%d", in->spool);
        path = spool;
    }
    int rc = pt_input_open(path, &how, &in->handle, &problem);
    in->no_memory = rc == -ENOMEM;
    if (rc != 0) {
        pt_error("%s: %s", in->name, perftrace__strbuf_cstr(&problem));
    }
    perftrace__strbuf_free(&problem);
    return rc == 0;
}

/* Holes at the start of a file, as crashes leave them, may be longer than what is looked at. */
static void sniff_behind_hole(pt_convert_input_t *in) {
    char *buf = malloc(PT_SOURCE_PEEK);
    size_t len = 0;
    bool last = buf == NULL;
    while (!last && len < PT_SOURCE_PEEK) {
        int64_t n = pt_input_read(in->handle, buf + len, PT_SOURCE_PEEK - len);
        last = n <= 0;
        len += last ? 0 : (size_t)n;
        size_t blank = pt_source_blank(buf, len);
        len -= blank;
        memmove(buf, buf + blank, len);
    }
    if (len > 0) {
        pt_source_sniff(&in->source, buf, len, len < PT_SOURCE_PEEK);
    }
    free(buf);
}

/* Notes the machine of a file of our writer; whether there are several, as far as is known. */
static bool on_several_machines(pt_convert_input_t *in) {
    const pt_source_t *s = &in->source;
    uint64_t none = 0;
    if (s->has_mono && s->boot_id != NULL) {
        uint64_t mine = pt_clock_name(s->boot_id, strlen(s->boot_id)) | 1;
        if (pt_cas_relaxed(&in->machines->first, &none, mine) || none == mine) {
            return pt_load_relaxed(&in->machines->several) != 0;
        }
    }
    pt_store_relaxed(&in->machines->several, 1U);
    return true;
}

static void take_marks(pt_convert_input_t *in, char *buf);

void pt_convert_input_init(pt_convert_input_t *in, const pt_path_t *path, unsigned index,
                           const pt_convert_options_t *options, pt_problems_t *book,
                           pt_convert_machines_t *machines) {
    *in = (pt_convert_input_t){
        .path = path, .index = index, .options = options, .machines = machines, .spool = -1};
    in->name = pt_path_shown(path);
    in->counts.first_ns = INT64_MAX;
    in->counts.last_ns = INT64_MIN;
    in->book = book;
    pt_source_init(&in->source);
    pt_survey_init(&in->survey);
}

bool pt_convert_input_open(pt_convert_input_t *in, char *buf) {
    const pt_path_t *path = in->path;
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    const char *data;
    pt_input_options_t how = pt_path_parts_input(path);
    int rc = pt_input_open(path->name, &how, &in->handle, &problem);
    if (rc != 0) {
        fail(in, rc == -ENOMEM ? PT_EXIT_INTERNAL : PT_EXIT_INPUT, "%s: %s", in->name,
             perftrace__strbuf_cstr(&problem));
        perftrace__strbuf_free(&problem);
        return true;
    }
    in->packed = pt_input_is_packed(in->handle);
    size_t len = pt_input_peek(in->handle, PT_SOURCE_PEEK, &data);
    pt_source_sniff(&in->source, data, len, len < PT_SOURCE_PEEK);
    if (in->source.ours && len > 0 && !pt_mixed_ranks_begin(data, len, &in->ranks.found)) {
        fail(in, PT_EXIT_INTERNAL, "out of memory");
        return true;
    }
    char byte;
    if (path->regular && !path->is_stdin && len == PT_SOURCE_PEEK &&
        pt_source_blank(data, len) == len) {
        sniff_behind_hole(in);
    }
    if (len == 0 && pt_input_read(in->handle, &byte, 1) < 0) {
        in->source.why = "nothing can be unpacked from its gzip data";
    }
    bool once = path->is_stdin ? !in->source.ours : !path->regular;
    if (once && in->source.shape != PT_SHAPE_NONE && !make_spool(in, buf)) {
        return true;
    }
    if (path->is_stdin) {
        return true;
    }
    if (path->regular && in->source.ours && on_several_machines(in) &&
        pt_input_offset(in->handle) == 0) {
        take_marks(in, buf);
    }
    pt_convert_input_close(in);
    return true;
}

void pt_convert_input_close(pt_convert_input_t *in) {
    pt_input_close(in->handle);
    in->handle = NULL;
}

bool pt_convert_input_reader(pt_convert_input_t *in) {
    in->reader = malloc(sizeof *in->reader);
    if (in->reader != NULL) {
        pt_trace_reader_init(in->reader, in->source.shape);
    }
    return in->reader != NULL;
}

static void reader_free(pt_convert_input_t *in) {
    pt_trace_reader_free(in->reader);
    free(in->reader);
    in->reader = NULL;
}

bool pt_convert_input_count(pt_convert_input_t *in) {
    in->counts.in = calloc(2 * (size_t)PT_PHASES, sizeof *in->counts.in);
    in->counts.out = in->counts.in != NULL ? in->counts.in + PT_PHASES : NULL;
    return in->counts.in != NULL;
}

void pt_convert_input_counted(const pt_convert_input_t *input, uint64_t in[PT_PHASES],
                              uint64_t out[PT_PHASES]) {
    const pt_convert_counts_t *c = &input->counts;
    for (unsigned ph = 0; ph < PT_PHASES; ph++) {
        in[ph] = c->in != NULL ? c->in[ph] : 0;
        out[ph] = c->in != NULL ? c->out[ph] : 0;
    }
    for (unsigned i = 0; i < c->phases; i++) {
        in[(unsigned char)c->phase[i].phase] = c->phase[i].in;
        out[(unsigned char)c->phase[i].phase] = c->phase[i].out;
    }
}

/* Without memory they stay as they are. */
static void pack_counts(pt_convert_counts_t *c) {
    unsigned used = 0;
    if (c->in == NULL) {
        return; /* not begun, or packed already */
    }
    for (unsigned ph = 0; ph < PT_PHASES; ph++) {
        used += c->in[ph] > 0 || c->out[ph] > 0;
    }
    c->phase = used > 0 ? malloc(used * sizeof *c->phase) : NULL;
    for (unsigned ph = 0; ph < PT_PHASES && c->phase != NULL; ph++) {
        if (c->in[ph] > 0 || c->out[ph] > 0) {
            c->phase[c->phases++] = (pt_phase_count_t){(char)ph, c->in[ph], c->out[ph]};
        }
    }
    if (c->phase != NULL) {
        free(c->in);
        c->in = c->out = NULL;
    }
}

/* With thousands of inputs, what is left of each must be little. */
void pt_convert_input_end(pt_convert_input_t *in) {
    pt_convert_input_close(in);
    if (in->spool >= 0) {
        close(in->spool);
        in->spool = -1;
    }
    reader_free(in);
    pack_counts(&in->counts);
    if (!in->ranks.found) {
        pt_mixed_ranks_free(&in->ranks);
    }
    pt_tracks_free(&in->tracks);
    in->tracks = (pt_tracks_t){.process = NULL};
    pt_id_space_free(&in->ids);
    in->ids = (pt_id_space_t){.base = 0};
    pt_live_sessions_free(&in->sessions);
    in->sessions = (pt_live_sessions_t){.phase = NULL};
    pt_clock_out_free(&in->clock); /* its bends; what is told of it stays */
    free(in->role);
    in->role = NULL;
    free(in->held);
    in->held = NULL;
    for (size_t i = 0; i < PT_ARRAY_LEN(in->scratch); i++) {
        perftrace__strbuf_free(&in->scratch[i]);
    }
}

void pt_convert_input_free(pt_convert_input_t *in) {
    pt_convert_input_end(in);
    perftrace__strbuf_free(&in->problem);
    pt_mixed_ranks_free(&in->ranks);
    free(in->counts.phase);
    free(in->counts.in);
    free(in->loss);
    pt_source_free(&in->source);
    pt_survey_free(&in->survey);
}

bool pt_convert_input_rewind(pt_convert_input_t *in) {
    in->read_offset = 0;
    if (in->path->is_stdin && in->spool < 0) {
        return true; /* read once, and not yet */
    }
    return reopen(in);
}

size_t pt_convert_input_read(pt_convert_input_t *in, char *buf, size_t size, bool *ret_last) {
    int64_t n;
    bool ends = false;
    if (pt_input_seekable(in->handle)) {
        /* Up to the size that it had when it was opened: no read just to see the end. Files of
         * the system have a size of 0. */
        uint64_t have = pt_input_size(in->handle);
        uint64_t left = have > in->read_offset ? have - in->read_offset : 0;
        size_t most = left > 0 ? (size_t)PT_MIN((uint64_t)size, left) : size;
        n = pt_input_pread(in->handle, buf, most, in->read_offset);
        ends = n < (int64_t)most || most == left;
    } else {
        n = pt_input_read(in->handle, buf, size);
    }
    if (n < 0) {
        const char *why = pt_input_problem(in->handle);
        if (in->reader != NULL && in->reader->book != NULL) {
            pt_problems_add(in->book, PT_TRACE_PROBLEM_INPUT_ENDS, in->index, 0, in->read_offset,
                            why[0] != '\0' ? why : "cannot be read");
        }
        n = 0;
    }
    *ret_last = ends || n == 0;
    memset(buf + n, 0, PT_EVENT_PAD);
    in->read_offset += (uint64_t)n;
    return (size_t)n;
}

/* ---- passes before the conversion ---- */

static void survey_event(void *ctx, pt_event_t *ev) {
    pt_convert_input_t *in = ctx;
    pt_thread_t *thread = NULL;
    if (pt_survey_metadata(&in->tracks, ev)) {
        in->survey.events++;
        return;
    }
    thread = pt_tracks_thread(&in->tracks, &ev->pid, &ev->tid);
    if (thread == NULL) {
        in->survey.failed = true;
        return;
    }
    pt_survey_event(&in->survey, thread, ev, in->reader->ordinal);
}

static void survey_member(void *ctx, const char *key, size_t key_len, const char *value,
                          size_t len) {
    pt_convert_input_t *in = ctx;
    pt_survey_member(&in->survey, key, key_len, value, len);
}

bool pt_convert_input_survey_begin(pt_convert_input_t *in) {
    if (!pt_convert_input_reader(in)) {
        return false;
    }
    in->reader->event = survey_event; /* no book: problems are told by the conversion */
    in->reader->member = survey_member;
    in->reader->ctx = in;
    return true;
}

bool pt_convert_input_survey_end(pt_convert_input_t *in) {
    reader_free(in);
    return pt_survey_finish(&in->survey, &in->tracks, in->options->keep_outliers);
}

bool pt_convert_input_survey(pt_convert_input_t *in, char *buf) {
    if (!pt_convert_input_survey_begin(in)) {
        return false;
    }
    if (!pt_convert_input_rewind(in)) {
        reader_free(in);
        return false;
    }
    for (bool last = false; !last;) {
        size_t n = pt_convert_input_read(in, buf, PT_CONVERT_CHUNK, &last);
        pt_trace_reader_feed(in->reader, buf, n, last);
    }
    bool ok = pt_convert_input_survey_end(in);
    pt_convert_input_close(in);
    return ok;
}

/* What the lines of a file are read for their marks with. */
typedef struct marks {
    pt_convert_input_t *in;
    pt_event_reader_t parser;
} marks_t;

/* Only lines that begin with this can be of interest. */
static void marks_record(void *ctx, const char *p, size_t len, bool plain) {
    static const char start[] = "{\"name\": \"perftrace_";
    marks_t *m = ctx;
    pt_event_t ev;
    size_t used;
    (void)plain;
    if (len < sizeof start || memcmp(p, start, sizeof start - 1) != 0 ||
        pt_event_read_json(&m->parser, p, len, &ev, &used) != PT_EVENT_FOUND) {
        return;
    }
    (void)pt_clock_notes_take(&m->in->survey.clock, &ev);
}

static void take_marks(pt_convert_input_t *in, char *buf) {
    marks_t marks = {.in = in};
    pt_cutter_t cutter = {.shape = PT_SHAPE_LINES, .record = marks_record, .ctx = &marks};
    in->read_offset = 0;
    for (bool last = false; !last;) {
        size_t n = pt_convert_input_read(in, buf, PT_CONVERT_CHUNK, &last);
        pt_cutter_feed(&cutter, buf, n, last);
    }
    pt_cutter_free(&cutter);
    pt_clock_notes_trim(&in->survey.clock);
    in->has_marks = true;
}

bool pt_convert_input_marks(pt_convert_input_t *in, char *buf) {
    if (in->has_marks) {
        return true;
    }
    if (!pt_convert_input_rewind(in)) {
        return false;
    }
    take_marks(in, buf);
    pt_convert_input_close(in);
    return true;
}
