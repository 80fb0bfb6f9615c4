/* collapsed_read.c. SPDX-License-Identifier: MIT */
#include "collapsed_read.h"

#include "json_scan.h"
#include "short_text.h"

#include <stdlib.h>

#define LONGEST_WEIGHT 63
#define KNOWN_THREADS  16U

/* A thread whose name lies in the text. */
typedef struct thread_name {
    const char *name; /* NULL: none */
    size_t len;
    uint32_t number, root;
} thread_name_t;

/* The state of a run over lines. Neighbouring lines often share their first frames. */
typedef struct reader {
    pt_profile_t *p;
    const pt_collapsed_how_t *how;
    pt_profile_notes_t *notes;
    const char *text;  /* the first byte */
    const char *stack; /* of the line before, which the path is of; NULL: none */
    size_t stack_len;
    uint32_t *path; /* the node of each of its frames */
    size_t *end;    /* where each of its frames ends, in the line */
    size_t frames, cap, end_cap;
    thread_name_t thread;               /* the one of the line before */
    thread_name_t known[KNOWN_THREADS]; /* some that were met, by what their names look like */
} reader_t;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

bool pt_collapsed_weight(const char *text, size_t len, double *ret) {
    uint64_t whole = 0;
    size_t i = 0;
    for (; i < len && i < 18 && is_digit(text[i]); i++) {
        whole = whole * 10 + (uint64_t)(text[i] - '0');
    }
    if (i == len && len > 0) {
        *ret = (double)whole;
        return true;
    }
    if (len == 0 || len > LONGEST_WEIGHT || !is_digit(text[0])) {
        return false;
    }
    /* As JSON has it, but that zeros may lead and nothing need follow the point. */
    size_t zeros = 0;
    while (zeros + 1 < len && text[zeros] == '0' && is_digit(text[zeros + 1])) {
        zeros++;
    }
    size_t n = len - zeros;
    n -= text[len - 1] == '.' ? 1 : 0;
    perftrace__json_slice_t number = {text + zeros, n, PERFTRACE__JSON_NUMBER, false, 0};
    return perftrace__json_number_length(text + zeros, n) == n &&
           perftrace__json_to_double(&number, ret) && *ret <= PT_PROFILE_MOST_WEIGHT;
}

size_t pt_collapsed_clean(const char *frame, size_t len) {
    size_t hex = pt_short_hex_end(frame, len), n = len - hex;
    bool offset = hex > 0 && n >= 3 && frame[n - 1] == 'x' && frame[n - 2] == '0';
    return offset && frame[n - 3] == '+' ? n - 3 : len;
}

/* Where the last blank of a line is; len when there is none. */
static size_t last_blank(const char *line, size_t len) {
    size_t at = len;
    while (at > 0 && !is_blank(line[at - 1])) {
        at--;
    }
    return at > 0 ? at - 1 : len;
}

/* ---- a stack ---- */

static bool is_thread(const thread_name_t *t, const char *name, size_t len) {
    return t->name != NULL && t->len == len && pt_short_same(t->name, name, len);
}

/* name is as the text has it, an offset included. */
static void set_thread(reader_t *r, const char *name, size_t len) {
    if (is_thread(&r->thread, name, len)) {
        return;
    }
    size_t looks = len + (len > 0 ? (unsigned char)name[0] + (unsigned char)name[len - 1] : 0);
    thread_name_t *known = &r->known[looks % KNOWN_THREADS];
    if (!is_thread(known, name, len)) {
        size_t n = pt_collapsed_clean(name, len);
        uint32_t thread = pt_profile_thread(r->p, name, n, PT_UNIT_NONE);
        uint32_t root = thread != PT_PROFILE_NONE ? r->p->thread[thread].root : PT_PROFILE_NONE;
        *known = (thread_name_t){name, len, thread, root};
    }
    r->thread = *known;
}

/* Of a stack only its thread and its last frame. */
static void add_leaf(reader_t *r, const char *stack, size_t len, double weight) {
    size_t first = pt_short_first(stack, len, ';');
    set_thread(r, stack, first);
    const char *leaf = first < len ? stack + pt_short_last(stack, len, ';') + 1 : stack;
    size_t n = pt_collapsed_clean(leaf, (size_t)(stack + len - leaf));
    pt_leaf_index_t *index = r->how->index;
    if (index != NULL && r->thread.number < PT_LEAF_THREADS) {
        pt_leaf_add(index, leaf, n, r->thread.number, weight);
        return;
    }
    if (index != NULL) {
        pt_leaf_flush(index);
        r->p->place = index->place;
    }
    uint32_t frame = pt_profile_frame(r->p, leaf, n);
    pt_profile_add(r->p, pt_profile_node(r->p, r->thread.root, frame), weight);
    if (index != NULL) {
        index->place = r->p->place;
    }
}

static bool make_room(reader_t *r) {
    if (r->frames < r->cap) {
        return true;
    }
    size_t cap = r->cap > 0 ? r->cap * 2 : 64;
    uint32_t *path = realloc(r->path, cap * sizeof *path);
    r->path = path != NULL ? path : r->path;
    size_t *end = realloc(r->end, cap * sizeof *end);
    r->end = end != NULL ? end : r->end;
    r->cap = path != NULL && end != NULL ? cap : r->cap;
    r->p->failed |= r->frames >= r->cap;
    return r->frames < r->cap;
}

/* How many frames, with the semicolons behind them, are those of the line before. */
static size_t shared_frames(const reader_t *r, const char *stack, size_t len) {
    size_t n = PT_MIN(len, r->stack_len), same = 0;
    while (same + 8 <= n && memcmp(stack + same, r->stack + same, 8) == 0) {
        same += 8;
    }
    while (same < n && stack[same] == r->stack[same]) {
        same++;
    }
    size_t low = 0, high = r->frames; /* the number of ends below `same`: they are sorted */
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (r->end[mid] < same) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static uint32_t node_of(reader_t *r, const char *stack, size_t len) {
    r->frames = r->stack != NULL ? shared_frames(r, stack, len) : 0;
    size_t at = r->frames > 0 ? r->end[r->frames - 1] + 1 : 0;
    uint32_t node = r->frames > 0 ? r->path[r->frames - 1] : PT_PROFILE_NONE;
    r->stack = stack;
    r->stack_len = len;
    for (;;) {
        const char *stop = memchr(stack + at, ';', len - at);
        size_t end = stop != NULL ? (size_t)(stop - stack) : len;
        size_t n = pt_collapsed_clean(stack + at, end - at);
        if (r->frames == 0) {
            set_thread(r, stack, end);
            node = r->thread.root;
        }
        node = pt_profile_node(r->p, node, pt_profile_frame(r->p, stack + at, n));
        if (!make_room(r)) {
            r->frames = 0;
            r->stack_len = 0; /* nothing of it may be taken for known */
            return PT_PROFILE_NONE;
        }
        r->path[r->frames] = node;
        r->end[r->frames++] = end;
        if (stop == NULL) {
            return node;
        }
        at = end + 1;
    }
}

/* ---- a line ---- */

static void read_line(reader_t *r, const char *line, size_t len, uint64_t number) {
    uint64_t offset = (uint64_t)(line - r->text);
    double weight;
    size_t blank;
    uint32_t whole;
    unsigned digits = pt_short_number(line, len, &whole);
    if (PT_LIKELY(digits > 0)) { /* as nearly all lines end */
        blank = len - digits - 1;
        weight = whole;
    } else {
        blank = last_blank(line, len);
        if (blank == len) {
            pt_profile_note(r->notes, PT_PROFILE_PROBLEM_NO_WEIGHT, number, offset, line, len);
            return;
        }
        if (!pt_collapsed_weight(line + blank + 1, len - blank - 1, &weight)) {
            pt_profile_note(r->notes, PT_PROFILE_PROBLEM_BAD_WEIGHT, number, offset,
                            line + blank + 1, len - blank - 1);
            return;
        }
    }
    double first;
    size_t before = r->how->two_columns ? last_blank(line, blank) : blank;
    if (before < blank && pt_collapsed_weight(line + before + 1, blank - before - 1, &first)) {
        blank = before;
    }
    if (r->how->leaves_only) {
        add_leaf(r, line, blank, weight);
    } else {
        pt_profile_add(r->p, node_of(r, line, blank), weight);
    }
}

uint64_t pt_collapsed_read(pt_profile_t *p, const char *text, size_t len,
                           const pt_collapsed_how_t *how, pt_profile_notes_t *notes) {
    reader_t r = {.p = p, .how = how, .notes = notes, .text = text};
    const char *end = text + len;
    uint64_t lines = 0;
    for (const char *line = text; line < end && !p->failed;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const char *next = stop != NULL ? stop + 1 : end;
        stop = stop != NULL ? stop : end;
        lines++;
        while (stop > line && (is_blank(stop[-1]) || stop[-1] == '\r')) {
            stop--;
        }
        if (stop > line && *line != '#') {
            read_line(&r, line, (size_t)(stop - line), lines);
        }
        line = next;
    }
    if (how->index != NULL) {
        pt_leaf_flush(how->index);
        p->failed |= how->index->failed;
    }
    free(r.path);
    free(r.end);
    return lines;
}

bool pt_collapsed_sniff(const char *text, size_t len, bool *ret_two_columns) {
    const char *end = text + len;
    size_t stacks = 0, twice = 0;
    for (const char *line = text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const char *next = stop != NULL ? stop + 1 : end;
        size_t n = (size_t)((stop != NULL ? stop : end) - line);
        double weight;
        while (n > 0 && (is_blank(line[n - 1]) || line[n - 1] == '\r')) {
            n--;
        }
        size_t blank = last_blank(line, n);
        if (n > 0 && *line != '#' && blank < n &&
            pt_collapsed_weight(line + blank + 1, n - blank - 1, &weight)) {
            size_t before = last_blank(line, blank);
            stacks++;
            twice += before < blank &&
                     pt_collapsed_weight(line + before + 1, blank - before - 1, &weight);
        }
        line = next;
    }
    *ret_two_columns = stacks > 1 && twice == stacks;
    return stacks > 0;
}
