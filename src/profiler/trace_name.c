/* trace_name.c: building names that say what is in a file. SPDX-License-Identifier: MIT */
#include "trace_name.h"

#include "local_time.h"
#include "name_cut.h"
#include "utf8.h"

#include <perftrace/status.h>

#include <ctype.h>
#include <inttypes.h>

#define HOST_MAX    40 /* bytes that are kept of labels which are not cut first */
#define SUFFIX_MAX  24
#define TIME_MAX_MS ((int64_t)253402214400000) /* the last day of the year 9999 */
#define LABEL_MIN   (PERFTRACE__NAME_HASH + 1)

bool perftrace__trace_name_whole(const perftrace_trace_name_t *name, perftrace_trace_name_t *ret) {
    const perftrace_trace_name_t unset = PERFTRACE_TRACE_NAME_INIT;
    *ret = unset;
    if (!name || name->struct_size < sizeof(name->struct_size)) {
        return false;
    }
    memcpy(ret, name, PT_MIN(name->struct_size, sizeof(*ret)));
    ret->struct_size = sizeof(*ret);
    return true;
}

/* ---- labels -------------------------------------------------------------------------------------
 */

/* Characters beyond ASCII that end a line or turn the direction of what follows: U+0080 to U+009F,
 * U+2028 to U+202E, U+2066 to U+2069. */
static bool is_control(const unsigned char *p, unsigned len) {
    if (len == 2) {
        return p[0] == 0xC2 && p[1] < 0xA0;
    }
    return len == 3 && p[0] == 0xE2 &&
           ((p[1] == 0x80 && p[2] >= 0xA8 && p[2] <= 0xAE) ||
            (p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9));
}

/* Length of the character at p when it stays in a label, else 0. */
static unsigned kept(const char *p, size_t left, bool dots) {
    const unsigned char *u = (const unsigned char *)p;
    unsigned len = perftrace__utf8_sequence(u, left);
    if (len == 1) {
        return isalnum(*u) || *u == '=' || *u == '+' || *u == '-' || (dots && *u == '.');
    }
    return len > 1 && !is_control(u, len) ? len : 0;
}

/* Appends a label, sanitised and cut to `room` bytes. A label of which nothing stays is its hash.
 */
static void put_label(perftrace__strbuf_t *b, const char *label, bool dots, size_t room) {
    const size_t start = b->len;
    const size_t len = strlen(label);
    bool in_run = false;
    for (size_t i = 0; i < len;) {
        unsigned n = kept(label + i, len - i, dots);
        if (n) {
            perftrace__strbuf_append(b, label + i, n);
        } else if (!in_run) {
            perftrace__strbuf_putc(b, '-');
        }
        in_run = n == 0;
        i += n ? n : 1;
    }
    if (b->failed) {
        return;
    }
    size_t skip = strspn(b->data + start, "-");
    memmove(b->data + start, b->data + start + skip, b->len - start - skip);
    b->len -= skip;
    while (b->len > start && b->data[b->len - 1] == '-') {
        b->len--;
    }
    if (b->len == start) {
        char hash[PERFTRACE__NAME_HASH + 1];
        perftrace__name_hash(label, len, hash);
        perftrace__strbuf_puts(b, hash);
    }
    perftrace__name_cut(b, start, room, label, len);
}

static bool given(const char *label) {
    return label && label[0];
}

/* ---- fields -------------------------------------------------------------------------------------
 */

static void put_range(perftrace__strbuf_t *b, const char *word, int64_t first, int64_t last) {
    perftrace__strbuf_printf(b, "_%s%" PRId64, word, first);
    if (last > first) {
        perftrace__strbuf_printf(b, "-%" PRId64, last);
    }
}

static void put_parallel(perftrace__strbuf_t *b, const perftrace_trace_name_t *n) {
    const struct {
        const char *word;
        int rank;
    } dims[] = {{"tp", n->tp}, {"pp", n->pp}, {"dp", n->dp}, {"cp", n->cp}, {"ep", n->ep}};
    char before = '_';
    for (size_t i = 0; i < PT_ARRAY_LEN(dims); i++) {
        if (dims[i].rank >= 0) {
            perftrace__strbuf_printf(b, "%c%s%d", before, dims[i].word, dims[i].rank);
            before = '-';
        }
    }
}

static void put_time(perftrace__strbuf_t *b, int64_t ms) {
    struct tm t;
    perftrace__strbuf_puts(b, "_");
    if (perftrace__local_time((time_t)(ms / 1000), &t)) {
        /* Not by strftime, which may take the C library's lock of the time zone. */
        perftrace__strbuf_printf(b, "%04d%02d%02d%02d%02d%02d", t.tm_year + 1900, t.tm_mon + 1,
                                 t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
    }
    perftrace__strbuf_printf(b, "%03d", (int)(ms % 1000));
}

/* Everything from the rank on up to the suffix, each field with '_' before it. */
static void put_fields(perftrace__strbuf_t *b, const perftrace_trace_name_t *n, size_t host_max) {
    if (n->first_step >= 0) {
        put_range(b, "step", n->first_step, n->last_step);
    }
    if (n->rank >= 0) {
        perftrace__strbuf_printf(b, "_rank%d", n->rank);
    } else {
        perftrace__strbuf_puts(b, "_ranku");
    }
    if (n->world_size > 0) {
        perftrace__strbuf_printf(b, "-of-%d", n->world_size);
    }
    put_parallel(b, n);
    if (given(n->host)) {
        perftrace__strbuf_puts(b, "_@");
        put_label(b, n->host, true, host_max);
    }
    perftrace__strbuf_printf(b, "_pid%" PRId64, n->pid);
    put_time(b, n->time_ms);
    if (n->number >= 0) {
        perftrace__strbuf_printf(b, ".%" PRId64, n->number);
    }
    if (n->mb_first >= 0) {
        put_range(b, "mb", n->mb_first, n->mb_last);
    }
    if (n->cycle >= 0) {
        perftrace__strbuf_printf(b, "_cycle%" PRId64, n->cycle);
    }
    if (n->part >= 0) {
        perftrace__strbuf_printf(b, "_part%" PRId64, n->part);
    }
    if (n->steps_done >= 0) {
        perftrace__strbuf_printf(b, "_%s%" PRId64, n->aborted ? "aborted" : "partial",
                                 n->steps_done);
        if (n->steps_wanted >= 0) {
            perftrace__strbuf_printf(b, "-of-%" PRId64, n->steps_wanted);
        }
    }
    if (given(n->suffix)) {
        perftrace__strbuf_putc(b, '_');
        size_t start = b->len;
        put_label(b, n->suffix, false, SUFFIX_MAX);
        if (!b->failed && perftrace__trace_field_after(b->data + start, b->len - start)) {
            perftrace__strbuf_putc(b, '-'); /* tells the label from the field it looks like */
        }
    }
}

/* Puts prefix and role, each with '_' behind it, into `room` bytes: a short one leaves its share to
 * the other. */
static void put_labels(perftrace__strbuf_t *b, const perftrace_trace_name_t *n, size_t room) {
    const char *labels[2];
    size_t want[2] = {0, 0};
    size_t count = 0;
    if (given(n->prefix)) {
        labels[count++] = n->prefix;
    }
    if (given(n->role)) {
        labels[count++] = n->role;
    }
    for (size_t i = 0; i < count && !b->failed; i++) {
        put_label(b, labels[i], true, SIZE_MAX);
        want[i] = b->len;
        b->len = 0;
    }
    const size_t all = room - 2 * count; /* each has its '_' and perhaps the mark below */
    for (size_t i = 0; i < count; i++) {
        const size_t start = b->len;
        const size_t share = count == 2 ? all / 2 : all;
        const size_t left = count == 2 ? all - PT_MIN(all, want[1 - i]) : all;
        put_label(b, labels[i], true, PT_MAX(share, left));
        if (i + 1 == count && n->first_step < 0 && !b->failed &&
            perftrace__trace_field_step(b->data + start, b->len - start)) {
            perftrace__strbuf_putc(b, '-');
        }
        perftrace__strbuf_putc(b, '_');
    }
}

/* Nothing that reads as a number of the name. */
static bool is_extension(const char *text, size_t len) {
    return len == 0 || (len <= PERFTRACE__EXTENSION_MAX && len > 1 && text[0] == '.' &&
                        !isdigit((unsigned char)text[1]) && !strpbrk(text, "/_"));
}

int perftrace_trace_basename(const perftrace_trace_name_t *name, const char *extension, char *ret,
                             size_t size) {
    perftrace_trace_name_t n;
    const size_t extension_len = extension ? strlen(extension) : 0;
    if (!perftrace__trace_name_whole(name, &n) || n.pid < 0 || n.time_ms < 0 ||
        n.time_ms > TIME_MAX_MS || !ret || !is_extension(extension, extension_len)) {
        return PERFTRACE_ERR_INVALID;
    }
    const size_t labels = (size_t)given(n.prefix) + given(n.role);
    perftrace__strbuf_t fields = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    /* With the longest of all numbers there would be no room for the labels: the host goes first.
     */
    size_t room = 0;
    for (size_t host_max = HOST_MAX; host_max >= LABEL_MIN; host_max -= HOST_MAX - LABEL_MIN) {
        perftrace__strbuf_clear(&fields);
        put_fields(&fields, &n, host_max);
        /* The '_' before the fields is not there without a label. */
        size_t used = fields.len - 1 + extension_len;
        room = used < PERFTRACE_TRACE_NAME_MAX ? PERFTRACE_TRACE_NAME_MAX - used : 0;
        if (room >= labels * (LABEL_MIN + 2) || host_max == LABEL_MIN) {
            break;
        }
    }
    int result = PERFTRACE_ERR_TOO_LONG;
    if (room >= labels * (LABEL_MIN + 2)) {
        put_labels(&b, &n, room);
        if (!fields.failed) {
            perftrace__strbuf_append(&b, fields.data + 1, fields.len - 1);
        }
        perftrace__strbuf_puts(&b, extension ? extension : "");
        if (fields.failed || b.failed) {
            result = PERFTRACE_ERR_NOMEM;
        } else if (b.len < size) {
            memcpy(ret, b.data, b.len + 1);
            result = (int)b.len;
        }
    }
    perftrace__strbuf_free(&fields);
    perftrace__strbuf_free(&b);
    return result;
}
