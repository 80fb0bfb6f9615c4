/* convert_input.c: one input file on its way through the converter. SPDX-License-Identifier: MIT */
#include "convert_input.h"

#include "event_fast.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What can be read once only is read from a copy where one pass is not enough. */
static bool make_spool(pt_convert_input_t *in) {
    const char *dir = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/perf-trace-convert.XXXXXX",
             dir != NULL && dir[0] != '\0' ? dir : "/tmp");
    in->spool = mkostemp(path, O_CLOEXEC);
    if (in->spool < 0) {
        pt_error("cannot make a copy of %s in %s: %s", in->name, path, strerror(errno));
        return false;
    }
    unlink(path);
    char *buf = malloc(PT_CONVERT_CHUNK);
    bool ok = buf != NULL;
    if (!ok) {
        pt_error("%s: out of memory", in->name);
    }
    int64_t n = 0;
    while (ok && (n = pt_input_read(in->handle, buf, PT_CONVERT_CHUNK)) > 0) {
        size_t done = 0;
        int rc = perftrace__os_write_all(in->spool, buf, (size_t)n, &done);
        if (rc != 0) {
            pt_error("cannot copy %s to %s: %s", in->name, path, strerror(-rc));
            ok = false;
        }
    }
    if (ok && n < 0) {
        pt_problems_add(in->reader.book, PT_TRACE_PROBLEM_INPUT_ENDS, in->index, 0,
                        pt_input_offset(in->handle), pt_input_problem(in->handle));
    }
    free(buf);
    return ok;
}

static bool reopen(pt_convert_input_t *in) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    char spool[64];
    const char *path = in->path->name;
    pt_input_close(in->handle);
    in->handle = NULL;
    if (in->spool >= 0) {
        snprintf(spool, sizeof spool, "/proc/self/fd/%d", in->spool);
        path = spool;
    }
    int rc = pt_input_open(path, NULL, &in->handle, &problem);
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

pt_exit_t pt_convert_input_open(pt_convert_input_t *in, const pt_path_t *path, unsigned index,
                                const pt_convert_options_t *options, pt_problems_t *book) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    const char *data;
    *in = (pt_convert_input_t){.path = path, .index = index, .options = options, .spool = -1};
    in->name = path->is_stdin ? "standard input" : path->name;
    in->counts.first_ns = INT64_MAX;
    in->counts.last_ns = INT64_MIN;
    pt_source_init(&in->source);
    pt_survey_init(&in->survey);
    int rc = pt_input_open(path->name, NULL, &in->handle, &problem);
    if (rc != 0) {
        pt_error("%s: %s", in->name, perftrace__strbuf_cstr(&problem));
        perftrace__strbuf_free(&problem);
        return rc == -ENOMEM ? PT_EXIT_INTERNAL : PT_EXIT_INPUT;
    }
    size_t len = pt_input_peek(in->handle, PT_SOURCE_PEEK, &data);
    pt_source_sniff(&in->source, data, len, len < PT_SOURCE_PEEK);
    char byte;
    if (path->regular && !path->is_stdin && len == PT_SOURCE_PEEK &&
        pt_source_blank(data, len) == len) {
        sniff_behind_hole(in);
    }
    if (len == 0 && pt_input_read(in->handle, &byte, 1) < 0) {
        in->source.why = "nothing can be unpacked from its gzip data";
    }
    in->reader.book = book;
    bool once = path->is_stdin ? !in->source.ours : !path->regular;
    if (once && in->source.shape != PT_SHAPE_NONE && !make_spool(in)) {
        return PT_EXIT_INPUT;
    }
    if (!path->is_stdin) {
        pt_convert_input_close(in);
    }
    return PT_EXIT_OK;
}

void pt_convert_input_close(pt_convert_input_t *in) {
    pt_input_close(in->handle);
    in->handle = NULL;
}

/* With thousands of inputs, what is left of each must be little. */
void pt_convert_input_end(pt_convert_input_t *in) {
    pt_convert_input_close(in);
    if (in->spool >= 0) {
        close(in->spool);
        in->spool = -1;
    }
    pt_trace_reader_free(&in->reader);
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
    if (pt_input_seekable(in->handle) && !pt_input_is_packed(in->handle)) {
        n = pt_input_pread(in->handle, buf, size, in->read_offset);
        ends = n < (int64_t)size;
    } else {
        n = pt_input_read(in->handle, buf, size);
    }
    if (n < 0) {
        const char *why = pt_input_problem(in->handle);
        if (in->reader.book != NULL) {
            pt_problems_add(in->reader.book, PT_TRACE_PROBLEM_INPUT_ENDS, in->index, 0,
                            in->read_offset, why[0] != '\0' ? why : "cannot be read");
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
    pt_survey_event(&in->survey, thread, ev, in->reader.ordinal);
}

static void survey_member(void *ctx, const char *key, size_t key_len, const char *value,
                          size_t len) {
    pt_convert_input_t *in = ctx;
    pt_survey_member(&in->survey, key, key_len, value, len);
}

void pt_convert_input_survey_begin(pt_convert_input_t *in) {
    pt_trace_reader_init(&in->reader, in->source.shape);
    in->reader.event = survey_event;
    in->reader.member = survey_member;
    in->reader.ctx = in;
}

bool pt_convert_input_survey_end(pt_convert_input_t *in) {
    pt_trace_reader_free(&in->reader);
    return pt_survey_finish(&in->survey, &in->tracks, in->options->keep_outliers);
}

/* The reader of this pass has no book: problems are told by the conversion. */
bool pt_convert_input_survey(pt_convert_input_t *in, char *buf) {
    pt_problems_t *book = in->reader.book;
    if (!pt_convert_input_rewind(in)) {
        return false;
    }
    pt_convert_input_survey_begin(in);
    for (bool last = false; !last;) {
        size_t n = pt_convert_input_read(in, buf, PT_CONVERT_CHUNK, &last);
        pt_trace_reader_feed(&in->reader, buf, n, last);
    }
    bool ok = pt_convert_input_survey_end(in);
    in->reader.book = book;
    pt_convert_input_close(in);
    return ok;
}

/* Only lines that begin with this can be of interest. */
static void marks_record(void *ctx, const char *p, size_t len, bool plain) {
    static const char start[] = "{\"name\": \"perftrace_";
    pt_convert_input_t *in = ctx;
    pt_event_t ev;
    size_t used;
    (void)plain;
    if (len < sizeof start || memcmp(p, start, sizeof start - 1) != 0 ||
        pt_event_read_json(&in->reader.parser, p, len, &ev, &used) != PT_EVENT_FOUND) {
        return;
    }
    (void)pt_clock_notes_take(&in->survey.clock, &ev);
}

bool pt_convert_input_marks(pt_convert_input_t *in, char *buf) {
    pt_cutter_t cutter = {.shape = PT_SHAPE_LINES, .record = marks_record, .ctx = in};
    bool ok = pt_convert_input_rewind(in);
    for (bool last = !ok; !last;) {
        size_t n = pt_convert_input_read(in, buf, PT_CONVERT_CHUNK, &last);
        pt_cutter_feed(&cutter, buf, n, last);
    }
    pt_cutter_free(&cutter);
    pt_convert_input_close(in);
    return ok;
}
