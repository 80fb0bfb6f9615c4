/* collect_tally.c: what went by in the lines of a file. SPDX-License-Identifier: MIT */
#include "collect_tally.h"

#include "json_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef perftrace__json_slice_t slice_t;

/* How far back from the end of the bytes a step is looked for. */
#define STEP_REACH 65536

static const char begin[] = "{\"name\": \"";
static const char meta_mark[] = "\", \"ph\": \"M\", ";
static const char step_key[] = "\"global_step\": ";
#define STEP_RARE 7 /* its '_' */
static const char counter_mark[] = "\", \"ph\": \"C\", ";
static const char rank_key[] = "\"rank\": ";
#define RANK_RARE 4 /* its 'k' */
static const char ts_key[] = "\"ts\": ";
#define LEN(text) (sizeof(text) - 1)

static uint64_t find_u64(const slice_t *object, const char *path) {
    slice_t v;
    uint64_t n = 0;
    return perftrace__json_find(object, path, &v) && perftrace__json_to_u64(&v, &n) ? n : 0;
}

static int64_t find_i64(const slice_t *object, const char *path) {
    slice_t v;
    int64_t n = -1;
    return perftrace__json_find(object, path, &v) && v.type == PERFTRACE__JSON_NUMBER &&
                   perftrace__json_to_i64(&v, &n)
               ? n
               : -1;
}

static void take_header(pt_collect_tally_t *t, const slice_t *args) {
    slice_t host;
    t->rank = find_i64(args, "rank");
    t->world_size = find_i64(args, "world_size");
    t->pid = find_i64(args, "pid");
    t->epoch_ns = find_u64(args, "epoch_ns");
    if (perftrace__json_find(args, "host", &host) && host.type == PERFTRACE__JSON_STRING &&
        host.len < sizeof t->host) {
        t->host[perftrace__json_decode(&host, t->host)] = '\0';
    }
}

static void take_footer(pt_collect_tally_t *t, const slice_t *args) {
    slice_t v, key, dropped;
    perftrace__json_cursor_t c;
    t->footer = true;
    t->emitted = find_u64(args, "emitted");
    t->written = find_u64(args, "written");
    t->unfinished = find_u64(args, "unfinished");
    t->recovered = perftrace__json_find(args, "recovered", &v) && v.type == PERFTRACE__JSON_TRUE;
    t->left_out = 0;
    if (perftrace__json_find(args, "dropped", &dropped)) {
        perftrace__json_cursor_init(&c, dropped.p, dropped.len);
        bool more = perftrace__json_enter_object(&c);
        while (more && perftrace__json_next_member(&c, &key, &v) > 0) {
            uint64_t n = 0;
            t->left_out += perftrace__json_to_u64(&v, &n) ? n : 0;
        }
    }
}

static bool is(const char *name, size_t len, const char *text) {
    return strlen(text) == len && memcmp(name, text, len) == 0;
}

/* at: where the line begins in what was given. */
static void take_meta(pt_collect_tally_t *t, size_t at, const char *line, size_t len,
                      const char *name, size_t name_len) {
    const slice_t object = {.p = line, .len = len, .type = PERFTRACE__JSON_OBJECT};
    slice_t args;
    bool header = is(name, name_len, "perftrace_header");
    bool footer = is(name, name_len, "perftrace_footer");
    bool drop = is(name, name_len, "perftrace_drop");
    if (t->names != NULL && !footer && !drop && !is(name, name_len, "perftrace_clock")) {
        perftrace__strbuf_append(t->names, line, len);
        perftrace__strbuf_putc(t->names, '\n');
    }
    if (!(header || footer || drop) || !perftrace__json_find(&object, "args", &args)) {
        return;
    }
    if (header) {
        take_header(t, &args);
        t->header_at = at;
        t->header_len = len + 1;
    } else if (footer) {
        take_footer(t, &args);
    } else {
        t->dropped += find_u64(&args, "count");
    }
}

/* The name's end, or NULL for a line of metadata's other writer. */
static const char *name_end(const char *p, const char *end) {
    for (; p < end; p++) {
        p = memchr(p, '"', (size_t)(end - p));
        if (p == NULL || p[-1] != '\\') {
            return p;
        }
        const char *q = p - 1;
        while (*q == '\\') {
            q--; /* the opening quote ends it */
        }
        if ((p - q) % 2 == 1) {
            return p;
        }
    }
    return NULL;
}

/* The end of the line's name, where a mark of that length stands behind it; else NULL. */
static const char *find_mark(const char *line, size_t len, const char *mark, size_t mark_len) {
    const char *end = line + len;
    if (len < LEN(begin) || memcmp(line, begin, LEN(begin)) != 0) {
        return NULL;
    }
    const char *quote = name_end(line + LEN(begin), end);
    return quote != NULL && (size_t)(end - quote) >= mark_len && memcmp(quote, mark, mark_len) == 0
               ? quote
               : NULL;
}

/* Whether the line is no metadata. */
static bool take_line(pt_collect_tally_t *t, size_t at, const char *line, size_t len) {
    const char *quote = find_mark(line, len, meta_mark, LEN(meta_mark));
    if (quote == NULL) {
        return true;
    }
    const char *name = line + LEN(begin);
    take_meta(t, at, line, len, name, (size_t)(quote - name));
    return false;
}

/* The last of a text in the bytes, or NULL. It is looked for by its byte at `rare`: quotes, say,
 * are everywhere. */
static const char *find_last(const char *data, size_t len, const char *text, size_t text_len,
                             size_t rare) {
    const char *p = data + len;
    while (p > data && (p = memrchr(data, text[rare], (size_t)(p - data))) != NULL) {
        if ((size_t)(p - data) < rare) {
            break;
        }
        const char *from = p - rare;
        if ((size_t)(data + len - from) >= text_len && memcmp(from, text, text_len) == 0) {
            return from;
        }
    }
    return NULL;
}

static void take_last_event(pt_collect_tally_t *t, const char *line, size_t len) {
    const char *at = memmem(line, len, ts_key, LEN(ts_key));
    if (at != NULL) {
        const char *number = at + LEN(ts_key);
        slice_t v = {.p = number,
                     .len = perftrace__json_number_length(number, (size_t)(line + len - number)),
                     .type = PERFTRACE__JSON_NUMBER};
        int64_t ns;
        if (v.len > 0 && perftrace__json_to_ns(&v, &ns) && ns >= 0) {
            t->last_ns = PT_MAX(t->last_ns, (uint64_t)ns);
        }
    }
}

static void take_step(pt_collect_tally_t *t, const char *data, size_t len) {
    size_t reach = PT_MIN(len, (size_t)STEP_REACH);
    const char *from = data + len - reach;
    const char *at = find_last(from, reach, step_key, LEN(step_key), STEP_RARE);
    if (at != NULL) {
        slice_t v = {.p = at + LEN(step_key), .type = PERFTRACE__JSON_NUMBER};
        v.len = perftrace__json_number_length(v.p, (size_t)(data + len - v.p));
        int64_t step;
        if (v.len > 0 && perftrace__json_to_i64(&v, &step)) {
            t->step = step;
        }
    }
}

void pt_collect_tally_add(pt_collect_tally_t *t, const char *data, size_t len) {
    const char *end = data + len;
    const char *event = NULL;
    size_t event_len = 0;
    t->header_at = t->header_len = 0;
    for (const char *line = data; line < end;) {
        const char *eol = memchr(line, '\n', (size_t)(end - line));
        size_t line_len = (size_t)((eol != NULL ? eol : end) - line);
        t->lines++;
        if (take_line(t, (size_t)(line - data), line, line_len)) {
            t->events++;
            event = line;
            event_len = line_len;
        }
        line += line_len + 1;
    }
    if (event != NULL) {
        take_last_event(t, event, event_len);
        take_step(t, data, len);
    }
}

/* The writer's own stands behind what the program gave. */
int64_t pt_collect_tally_line_rank(const char *line, size_t len) {
    int64_t rank = -1;
    const char *at = find_mark(line, len, counter_mark, LEN(counter_mark)) == NULL
                         ? find_last(line, len, rank_key, LEN(rank_key), RANK_RARE)
                         : NULL;
    if (at != NULL) {
        slice_t v = {.p = at + LEN(rank_key), .type = PERFTRACE__JSON_NUMBER};
        v.len = perftrace__json_number_length(v.p, (size_t)(line + len - v.p));
        rank = v.len > 0 && perftrace__json_to_i64(&v, &rank) ? rank : -1;
    }
    return rank;
}

int64_t pt_collect_tally_session_rank(const char *line, size_t len) {
    const slice_t record = {.p = line, .len = len, .type = PERFTRACE__JSON_OBJECT};
    return find_i64(&record, "rank");
}

void pt_collect_tally_judge(const pt_collect_tally_t *t, perftrace__strbuf_t *out) {
    if (!t->footer) {
        return;
    }
    if (t->emitted != t->written + t->left_out) {
        perftrace__strbuf_printf(out,
                                 "its footer says %" PRIu64 " emitted, but %" PRIu64
                                 " written and %" PRIu64 " dropped",
                                 t->emitted, t->written, t->left_out);
    } else if (t->written + t->unfinished != t->events) {
        perftrace__strbuf_printf(out,
                                 "its footer says %" PRIu64 " written and %" PRIu64
                                 " unfinished, but %" PRIu64 " events are in it",
                                 t->written, t->unfinished, t->events);
    }
}
