/* perf_script_read.c. SPDX-License-Identifier: MIT */
#include "perf_script_read.h"

#include "collapsed_read.h"
#include "grow.h"

#include <stdlib.h>

typedef struct text {
    const char *p;
    size_t len;
} text_t;

typedef struct header {
    text_t comm, rest; /* rest: what follows the event, a frame where no stack was recorded */
    double period;
} header_t;

typedef struct reader {
    pt_profile_t *p;
    pt_profile_notes_t *notes;
    header_t header;
    bool in_sample;
    text_t *frame; /* innermost first */
    size_t frames, cap;
} reader_t;

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static text_t trim(text_t t) {
    while (t.len > 0 && is_blank(*t.p)) {
        t.p++;
        t.len--;
    }
    while (t.len > 0 && (is_blank(t.p[t.len - 1]) || t.p[t.len - 1] == '\r')) {
        t.len--;
    }
    return t;
}

/* The next word, taken off the front. */
static text_t take_word(text_t *t) {
    size_t from = 0, n;
    while (from < t->len && is_blank(t->p[from])) {
        from++;
    }
    for (n = from; n < t->len && !is_blank(t->p[n]); n++) {
    }
    text_t word = {t->p + from, n - from};
    t->p += n;
    t->len -= n;
    return word;
}

/* The last word, taken off the end. */
static text_t take_last_word(text_t *t) {
    *t = trim(*t);
    size_t at = t->len;
    while (at > 0 && !is_blank(t->p[at - 1])) {
        at--;
    }
    text_t word = {t->p + at, t->len - at};
    t->len = at;
    *t = trim(*t);
    return word;
}

static size_t digits(const char *p, size_t len) {
    size_t n = 0;
    while (n < len && is_digit(p[n])) {
        n++;
    }
    return n;
}

/* "1224.147545:" */
static bool is_time(text_t word) {
    size_t whole = digits(word.p, word.len);
    if (whole == 0 || whole >= word.len || word.p[whole] != '.') {
        return false;
    }
    size_t part = digits(word.p + whole + 1, word.len - whole - 1);
    return part > 0 && whole + part + 2 == word.len && word.p[word.len - 1] == ':';
}

/* "26037" or "26037/26040" */
static bool is_pid(text_t word) {
    size_t n = digits(word.p, word.len);
    if (n > 0 && n < word.len && word.p[n] == '/') {
        size_t m = digits(word.p + n + 1, word.len - n - 1);
        return m > 0 && n + 1 + m == word.len;
    }
    return n > 0 && n == word.len;
}

static bool is_cpu(text_t word) {
    return word.len > 2 && word.p[0] == '[' && word.p[word.len - 1] == ']' &&
           digits(word.p + 1, word.len - 2) == word.len - 2;
}

/* What stands before the time: the name, the ids and the processor. */
static text_t comm_of(text_t before) {
    text_t rest = before;
    text_t last = take_last_word(&rest);
    if (is_cpu(last) && rest.len > 0) {
        before = rest;
        last = take_last_word(&rest);
    }
    return is_pid(last) && rest.len > 0 ? rest : trim(before);
}

static bool read_header(text_t line, header_t *h) {
    text_t left = line;
    for (text_t word = take_word(&left); word.len > 0; word = take_word(&left)) {
        if (word.p == trim(line).p || !is_time(word)) {
            continue;
        }
        text_t after = left, event = take_word(&after);
        h->period = 1;
        if (pt_collapsed_weight(event.p, event.len, &h->period)) {
            event = take_word(&after);
        }
        if (event.len < 2 || event.p[event.len - 1] != ':') {
            return false;
        }
        h->comm = comm_of((text_t){line.p, (size_t)(word.p - line.p)});
        h->rest = trim(after);
        return true;
    }
    return false;
}

/* "ADDRESS SYMBOL+0xOFFSET (OBJECT)": the symbol. */
static bool read_frame(text_t line, text_t *ret_symbol) {
    text_t address = take_word(&line);
    for (size_t i = 0; i < address.len; i++) {
        if (!is_hex(address.p[i])) {
            return false;
        }
    }
    text_t symbol = trim(line);
    if (symbol.len > 0 && symbol.p[symbol.len - 1] == ')') {
        /* The object may hold brackets of its own: "(/tmp/x (deleted))". */
        size_t at = symbol.len, open = 0;
        while (at > 0) {
            char c = symbol.p[--at];
            open += c == ')' ? 1 : 0;
            open -= c == '(' && open > 0 ? 1 : 0;
            if (open == 0) {
                break;
            }
        }
        bool object = open == 0 && (at == 0 || is_blank(symbol.p[at - 1]));
        symbol.len = object ? at : symbol.len;
        symbol = trim(symbol);
    }
    symbol.len = pt_collapsed_clean(symbol.p, symbol.len);
    *ret_symbol = symbol.len > 0 ? symbol : (text_t){"[unknown]", 9};
    return address.len > 0;
}

static void end_sample(reader_t *r) {
    if (!r->in_sample) {
        return;
    }
    text_t comm = r->header.comm, symbol;
    if (r->frames == 0 && r->header.rest.len > 0 && read_frame(r->header.rest, &symbol) &&
        PT_GROW(r, frame, frames, cap, 1)) {
        r->frame[r->frames++] = symbol;
    }
    uint32_t thread = pt_profile_thread(r->p, comm.p, comm.len, PT_UNIT_NONE);
    uint32_t node = thread != PT_PROFILE_NONE ? r->p->thread[thread].root : PT_PROFILE_NONE;
    node = pt_profile_node(r->p, node, pt_profile_frame(r->p, comm.p, comm.len));
    for (size_t i = r->frames; i > 0; i--) {
        const text_t *f = &r->frame[i - 1];
        node = pt_profile_node(r->p, node, pt_profile_frame(r->p, f->p, f->len));
    }
    pt_profile_add(r->p, node, r->header.period);
    r->in_sample = false;
    r->frames = 0;
}

static void read_line(reader_t *r, text_t line, uint64_t number, uint64_t offset) {
    header_t header;
    text_t symbol;
    if (r->in_sample && is_blank(*line.p) && read_frame(line, &symbol)) {
        if (PT_GROW(r, frame, frames, cap, 1)) {
            r->frame[r->frames++] = symbol;
        } else {
            r->p->failed = true;
        }
    } else if (read_header(line, &header)) {
        end_sample(r);
        r->header = header;
        r->in_sample = true;
    } else {
        text_t shown = trim(line);
        pt_profile_note(r->notes, PT_PROFILE_PROBLEM_BAD_HEADER, number, offset, shown.p,
                        shown.len);
    }
}

/* The line at *at, which moves behind it. */
static text_t next_line(const char **at, const char *end) {
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    text_t line = {*at, (size_t)((stop != NULL ? stop : end) - *at)};
    *at = stop != NULL ? stop + 1 : end;
    return line;
}

uint64_t pt_perf_script_read(pt_profile_t *p, const char *text, size_t len,
                             pt_profile_notes_t *notes) {
    reader_t r = {.p = p, .notes = notes};
    uint64_t lines = 0;
    for (const char *at = text; at < text + len && !p->failed;) {
        text_t line = next_line(&at, text + len);
        lines++;
        if (trim(line).len == 0) {
            end_sample(&r);
        } else if (*line.p != '#') {
            read_line(&r, line, lines, (uint64_t)(line.p - text));
        }
    }
    end_sample(&r);
    free(r.frame);
    return lines;
}

bool pt_perf_script_sniff(const char *text, size_t len) {
    for (const char *at = text; at < text + len;) {
        text_t line = next_line(&at, text + len);
        header_t header;
        if (trim(line).len > 0 && *line.p != '#') {
            return read_header(line, &header);
        }
    }
    return false;
}
