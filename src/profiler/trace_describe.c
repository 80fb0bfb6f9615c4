/* trace_describe.c: reading names that say what is in a file. SPDX-License-Identifier: MIT
 *
 * A name is parted at '_', which labels do not hold, and the fields are tried in their order.
 * Before the rank at most two labels stand; they cannot be taken for the fields they may look like,
 * since those are followed by others. */
#include "local_time.h"
#include "trace_name.h"

#include <perftrace/status.h>

#include <limits.h>
#include <string.h>

#define PARTS_MAX   16
#define TIME_DIGITS 17

typedef struct part {
    const char *text;
    size_t len;
} part_t;

/* ---- pieces of a part ---------------------------------------------------------------------------
 */

static bool take_word(part_t *p, const char *word) {
    size_t n = strlen(word);
    if (p->len < n || memcmp(p->text, word, n) != 0) {
        return false;
    }
    p->text += n;
    p->len -= n;
    return true;
}

static bool take_number(part_t *p, int64_t *ret) {
    size_t n = 0;
    int64_t v = 0;
    for (; n < p->len && p->text[n] >= '0' && p->text[n] <= '9'; n++) {
        int digit = p->text[n] - '0';
        if (v > (INT64_MAX - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }
    if (n == 0) {
        return false;
    }
    p->text += n;
    p->len -= n;
    *ret = v;
    return true;
}

static bool take_int(part_t *p, int *ret) {
    int64_t v;
    if (!take_number(p, &v) || v > INT_MAX) {
        return false;
    }
    *ret = (int)v;
    return true;
}

/* <word><first>[-<last>] and nothing else. */
static bool is_range(part_t p, const char *word, int64_t *ret_first, int64_t *ret_last) {
    int64_t first;
    int64_t last;
    if (!take_word(&p, word) || !take_number(&p, &first)) {
        return false;
    }
    last = first;
    if ((p.len && !(take_word(&p, "-") && take_number(&p, &last) && last > first)) || p.len) {
        return false;
    }
    *ret_first = first;
    *ret_last = last;
    return true;
}

static bool is_count(part_t p, const char *word, int64_t *ret) {
    int64_t v;
    if (!take_word(&p, word) || !take_number(&p, &v) || p.len) {
        return false;
    }
    *ret = v;
    return true;
}

static bool is_outcome(part_t p, perftrace_trace_name_t *n) {
    int64_t done;
    int64_t wanted = -1;
    const bool aborted = take_word(&p, "aborted");
    if ((!aborted && !take_word(&p, "partial")) || !take_number(&p, &done) ||
        (p.len && !(take_word(&p, "-of-") && take_number(&p, &wanted))) || p.len) {
        return false;
    }
    n->aborted = aborted;
    n->steps_done = done;
    n->steps_wanted = wanted;
    return true;
}

static bool is_rank(part_t p, perftrace_trace_name_t *n) {
    if (!take_word(&p, "rank")) {
        return false;
    }
    n->rank = -1;
    n->world_size = -1;
    if (!take_word(&p, "u") && !take_int(&p, &n->rank)) {
        return false;
    }
    return p.len == 0 || (take_word(&p, "-of-") && take_int(&p, &n->world_size) && p.len == 0);
}

static bool is_parallel(part_t p, perftrace_trace_name_t *n) {
    const struct {
        const char *word;
        int *rank;
    } dims[] = {{"tp", &n->tp}, {"pp", &n->pp}, {"dp", &n->dp}, {"cp", &n->cp}, {"ep", &n->ep}};
    bool any = false;
    for (size_t i = 0; i < PT_ARRAY_LEN(dims); i++) {
        part_t q = p;
        if ((!any || take_word(&q, "-")) && take_word(&q, dims[i].word)) {
            if (!take_int(&q, dims[i].rank)) {
                return false;
            }
            any = true;
            p = q;
        }
    }
    return any && p.len == 0;
}

/* Local time, as the name has it. */
static bool read_time(const char *digits, int64_t *ret_ms) {
    int v[7];
    static const unsigned char widths[] = {4, 2, 2, 2, 2, 2, 3};
    for (size_t i = 0; i < PT_ARRAY_LEN(widths); digits += widths[i++]) {
        part_t field = {digits, widths[i]};
        if (!take_int(&field, &v[i]) || field.len) {
            return false;
        }
    }
    struct tm tm = {.tm_year = v[0] - 1900,
                    .tm_mon = v[1] - 1,
                    .tm_mday = v[2],
                    .tm_hour = v[3],
                    .tm_min = v[4],
                    .tm_sec = v[5],
                    .tm_isdst = -1};
    const struct tm asked = tm;
    const time_t seconds = perftrace__local_seconds(&tm);
    /* No 30th of February, no 25 o'clock; an hour that a clock skips is shifted by it. */
    if (seconds < 0 || tm.tm_mon != asked.tm_mon || tm.tm_mday != asked.tm_mday) {
        return false;
    }
    *ret_ms = (int64_t)seconds * 1000 + v[6];
    return true;
}

/* <digits>[.<n>]; what follows a '.' otherwise is an extension, which ends the name. */
static bool is_time(part_t p, perftrace_trace_name_t *n, bool *ret_ends) {
    if (p.len < TIME_DIGITS || !read_time(p.text, &n->time_ms)) {
        return false;
    }
    p.text += TIME_DIGITS;
    p.len -= TIME_DIGITS;
    part_t q = p;
    if (take_word(&q, ".") && take_number(&q, &n->number)) {
        p = q;
    }
    *ret_ends = p.len > 0;
    return p.len == 0 || p.text[0] == '.';
}

/* ---- the name ---- */

static bool is_after(part_t p, perftrace_trace_name_t *n, unsigned *order) {
    /* Each field once, in their order. */
    const unsigned at = is_range(p, "mb", &n->mb_first, &n->mb_last) ? 1
                        : is_count(p, "cycle", &n->cycle)            ? 2
                        : is_count(p, "part", &n->part)              ? 3
                        : is_outcome(p, n)                           ? 4
                                                                     : 0;
    if (at <= *order) {
        return false;
    }
    *order = at;
    return true;
}

bool perftrace__trace_field_step(const char *text, size_t len) {
    int64_t ignored;
    return is_range((part_t){text, len}, "step", &ignored, &ignored);
}

bool perftrace__trace_field_after(const char *text, size_t len) {
    perftrace_trace_name_t ignored = PERFTRACE_TRACE_NAME_INIT;
    unsigned order = 0;
    return is_after((part_t){text, len}, &ignored, &order);
}

static size_t split(const char *text, part_t parts[PARTS_MAX]) {
    size_t count = 0;
    for (const char *p = text; count < PARTS_MAX; p++) {
        size_t len = strcspn(p, "_");
        parts[count++] = (part_t){p, len};
        p += len;
        if (*p == '\0') {
            return count;
        }
    }
    return 0; /* no name has as many */
}

/* A label, without the mark that tells it from a field, with a NUL of its own. */
static const char *label(part_t p) {
    char *text = (char *)p.text;
    size_t len = p.len > 1 && text[p.len - 1] == '-' ? p.len - 1 : p.len;
    text[len] = '\0';
    return text;
}

/* Reads the parts, of which the first `labels` are labels. Nothing is written into the text. */
static bool read_parts(const part_t *parts, size_t count, size_t labels, perftrace_trace_name_t *n,
                       part_t *ret_host, part_t *ret_suffix) {
    size_t i = labels;
    bool ends = false;
    i += i < count && is_range(parts[i], "step", &n->first_step, &n->last_step);
    if (i >= count || !is_rank(parts[i++], n)) {
        return false;
    }
    i += i < count && is_parallel(parts[i], n);
    if (i < count && parts[i].text[0] == '@') {
        *ret_host = (part_t){parts[i].text + 1, parts[i].len - 1};
        i++;
    }
    if (i >= count || !is_count(parts[i++], "pid", &n->pid) || i >= count ||
        !is_time(parts[i++], n, &ends)) {
        return false;
    }
    unsigned order = 0;
    for (; !ends && i < count; i++) {
        part_t p = parts[i];
        const char *dot = memchr(p.text, '.', p.len); /* the extension's */
        ends = dot != NULL;
        p.len = dot ? (size_t)(dot - p.text) : p.len;
        if (!is_after(p, n, &order)) {
            *ret_suffix = p;
            i++;
            break;
        }
    }
    return i == count; /* an extension has no '_' */
}

int perftrace_trace_describe(const char *path, perftrace_trace_name_t *ret, char *ret_text,
                             size_t size) {
    const size_t whole = ret ? ret->struct_size : 0;
    if (!path || whole < sizeof(whole) || !ret_text) {
        return PERFTRACE_ERR_INVALID;
    }
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const size_t len = strlen(base);
    if (len > PERFTRACE_TRACE_NAME_MAX) {
        return PERFTRACE_ERR_PARSE; /* no name of ours, and none that a file can have */
    }
    if (len >= size) {
        return PERFTRACE_ERR_TOO_LONG;
    }
    memcpy(ret_text, base, len + 1);
    part_t parts[PARTS_MAX];
    const size_t count = split(ret_text, parts);
    for (size_t labels = 0; labels <= 2 && labels < count; labels++) {
        perftrace_trace_name_t n = PERFTRACE_TRACE_NAME_INIT;
        part_t host = {NULL, 0};
        part_t suffix = {NULL, 0};
        if (!read_parts(parts, count, labels, &n, &host, &suffix)) {
            continue;
        }
        n.role = labels ? label(parts[labels - 1]) : NULL;
        n.prefix = labels == 2 ? label(parts[0]) : NULL;
        n.host = host.text ? label(host) : NULL;
        n.suffix = suffix.text ? label(suffix) : NULL;
        n.struct_size = whole;
        memcpy(ret, &n, PT_MIN(whole, sizeof(n)));
        return PERFTRACE_OK;
    }
    return PERFTRACE_ERR_PARSE;
}
