/* speedscope_read.c. SPDX-License-Identifier: MIT */
#include "speedscope_read.h"

#include "json_close.h"
#include "json_repair.h"
#include "speedscope_profile.h"

#include <stdlib.h>

/* The members of the document that count; type NONE where there is none. */
typedef struct document {
    perftrace__json_slice_t frames, profiles;
    bool shared, trace;
} document_t;

/* Of equal keys the last one counts, as in other readers. */
static bool find_members(const char *text, size_t len, document_t *d,
                         perftrace__json_error_t *ret_error) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    *d = (document_t){.shared = false};
    perftrace__json_cursor_init(&c, text, len);
    if (!perftrace__json_enter_object(&c)) {
        bool list = c.error.code == PERFTRACE__JSON_E_NOT_OBJECT;
        perftrace__json_cursor_init(&c, text, len);
        d->trace = list && perftrace__json_next_value(&c, &value) > 0 &&
                   value.type == PERFTRACE__JSON_ARRAY &&
                   perftrace__json_find(&value, "0.ph", &key);
        *ret_error = c.error;
        return list && c.error.code == PERFTRACE__JSON_E_OK;
    }
    int got;
    while ((got = perftrace__json_next_member(&c, &key, &value)) > 0) {
        if (perftrace__json_is(&key, "shared")) {
            d->shared = value.type == PERFTRACE__JSON_OBJECT &&
                        perftrace__json_find(&value, "frames", &d->frames) &&
                        d->frames.type == PERFTRACE__JSON_ARRAY;
        } else if (perftrace__json_is(&key, "profiles")) {
            d->profiles = value;
        } else if (perftrace__json_is(&key, "traceEvents")) {
            d->trace = true;
        }
    }
    *ret_error = c.error;
    return got == 0;
}

/* ---- frames ---- */

/* A text decoded into the scratch buffer, behind what is there. */
static void decode(const perftrace__json_slice_t *s, perftrace__strbuf_t *out) {
    if (perftrace__strbuf_reserve(out, s->len)) {
        out->len += perftrace__json_decode(s, out->data + out->len);
    }
}

typedef struct frame_text {
    perftrace__json_slice_t name, file, line;
} frame_text_t;

static void read_frame(const perftrace__json_cursor_t *list, const perftrace__json_slice_t *object,
                       frame_text_t *f) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    *f = (frame_text_t){.name = {.type = PERFTRACE__JSON_NONE}};
    perftrace__json_cursor_nested(&c, list, object);
    if (object->type != PERFTRACE__JSON_OBJECT || !perftrace__json_enter_object(&c)) {
        return;
    }
    while (perftrace__json_next_member(&c, &key, &value) > 0) {
        if (perftrace__json_is(&key, "name")) {
            f->name = value;
        } else if (perftrace__json_is(&key, "file")) {
            f->file = value;
        } else if (perftrace__json_is(&key, "line")) {
            f->line = value;
        }
    }
}

/* *ret_nul: whether its texts hold one. */
static uint32_t add_frame(pt_profile_t *p, const frame_text_t *f, perftrace__strbuf_t *scratch,
                          bool *ret_nul) {
    static const char unnamed[] = "(unnamed)";
    int64_t line = -1;
    perftrace__strbuf_clear(scratch);
    if (f->name.type == PERFTRACE__JSON_STRING) {
        decode(&f->name, scratch);
    } else {
        perftrace__strbuf_puts(scratch, unnamed);
    }
    size_t name_len = scratch->len;
    if (f->file.type == PERFTRACE__JSON_STRING) {
        decode(&f->file, scratch);
    }
    if (f->line.type == PERFTRACE__JSON_NUMBER &&
        (!perftrace__json_to_i64(&f->line, &line) || line < 0)) {
        line = -1;
    }
    const char *text = perftrace__strbuf_cstr(scratch);
    p->failed |= scratch->failed;
    *ret_nul = scratch->len > 0 && memchr(text, '\0', scratch->len) != NULL;
    return pt_profile_frame_at(p, text, name_len, text + name_len, scratch->len - name_len, line);
}

/* The number in the model of each frame of the file. */
static bool read_frames(pt_profile_t *p, const char *text, size_t len, const document_t *d,
                        pt_profile_notes_t *notes, pt_speedscope_frames_t *frames) {
    perftrace__json_cursor_t whole, c;
    perftrace__json_slice_t value;
    perftrace__strbuf_t scratch = PERFTRACE__STRBUF_INIT;
    perftrace__json_cursor_init(&whole, text, len);
    perftrace__json_cursor_nested(&c, &whole, &d->frames);
    bool ok = perftrace__json_enter_array(&c);
    while (ok && perftrace__json_next_element(&c, &value) > 0) {
        frame_text_t f;
        read_frame(&c, &value, &f);
        if (f.name.type != PERFTRACE__JSON_STRING) {
            pt_profile_notef(notes, PT_PROFILE_PROBLEM_BAD_FRAME, 0, (uint64_t)(value.p - text),
                             "frame %zu", frames->count);
        }
        bool nul;
        ok = pt_speedscope_frames_add(frames, add_frame(p, &f, &scratch, &nul));
        if (nul) {
            pt_profile_notef(notes, PT_PROFILE_PROBLEM_NUL, 0, (uint64_t)(value.p - text),
                             "frame %zu", frames->count - 1);
        }
    }
    perftrace__strbuf_free(&scratch);
    return ok && !p->failed;
}

/* ---- the document ---- */

static pt_speedscope_result_t read_document(pt_profile_t *p, const char *text, size_t len,
                                            const document_t *d, bool mend_events,
                                            pt_profile_notes_t *notes, size_t *ret_taken) {
    pt_speedscope_frames_t frames = {NULL, 0, 0};
    pt_speedscope_reader_t reader = {
        .p = p, .text = text, .frames = &frames, .notes = notes, .mend_events = mend_events};
    perftrace__json_cursor_t whole, c;
    perftrace__json_slice_t value;
    size_t count = 0;
    if (!read_frames(p, text, len, d, notes, &frames)) {
        free(frames.model);
        return PT_SPEEDSCOPE_NO_MEMORY;
    }
    perftrace__json_cursor_init(&whole, text, len);
    perftrace__json_cursor_nested(&c, &whole, &d->profiles);
    (void)perftrace__json_enter_array(&c);
    while (perftrace__json_next_element(&c, &value) > 0 && !p->failed) {
        *ret_taken += pt_speedscope_profile(&reader, &c, &value, count++) ? 1 : 0;
    }
    pt_speedscope_reader_free(&reader);
    free(frames.model);
    return p->failed   ? PT_SPEEDSCOPE_NO_MEMORY
           : count > 0 ? PT_SPEEDSCOPE_OK
                       : PT_SPEEDSCOPE_NO_PROFILES;
}

static pt_speedscope_result_t judge(const document_t *d) {
    if (d->trace) {
        return PT_SPEEDSCOPE_TRACE;
    }
    return d->shared && d->profiles.type == PERFTRACE__JSON_ARRAY ? PT_SPEEDSCOPE_OK
                                                                  : PT_SPEEDSCOPE_OTHER;
}

/* A text that is no JSON: closed where it is cut off, or mended. The text that can be read, in out;
 * false when it cannot be helped. */
static bool mend(const char *text, size_t len, const perftrace__json_error_t *error,
                 pt_profile_notes_t *notes, perftrace__strbuf_t *out) {
    unsigned repairs;
    if (perftrace__json_error_is_short(error->code)) {
        pt_profile_note(notes, PT_PROFILE_PROBLEM_CUT_JSON, 0, len, NULL, 0);
        return pt_json_close(text, len, out);
    }
    if (!perftrace__json_repair(text, len, out, &repairs, NULL, NULL)) {
        return false;
    }
    const char *what = perftrace__json_error_text(error->code);
    pt_profile_note(notes, PT_PROFILE_PROBLEM_MENDED_JSON, 0, error->offset, what, strlen(what));
    return true;
}

pt_speedscope_result_t pt_speedscope_read(pt_profile_t *p, const char *text, size_t len,
                                          bool mend_events, pt_profile_notes_t *notes,
                                          size_t *ret_taken, perftrace__json_error_t *ret_error) {
    document_t d;
    perftrace__strbuf_t mended = PERFTRACE__STRBUF_INIT;
    perftrace__json_error_t error;
    *ret_taken = 0;
    bool good = find_members(text, len, &d, ret_error);
    if (!good) {
        good = mend(text, len, ret_error, notes, &mended) && !mended.failed &&
               find_members(mended.data, mended.len, &d, &error);
        text = mended.data;
        len = mended.len;
    }
    pt_speedscope_result_t result = good ? judge(&d)
                                    : ret_error->code == PERFTRACE__JSON_E_OK
                                        ? PT_SPEEDSCOPE_OTHER /* no object */
                                        : PT_SPEEDSCOPE_NOT_JSON;
    if (result == PT_SPEEDSCOPE_OK) {
        result = read_document(p, text, len, &d, mend_events, notes, ret_taken);
    }
    result = mended.failed ? PT_SPEEDSCOPE_NO_MEMORY : result;
    perftrace__strbuf_free(&mended);
    return result;
}
