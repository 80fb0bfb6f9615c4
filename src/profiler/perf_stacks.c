/* perf_stacks.c: the text of `perf script` as collapsed stacks. SPDX-License-Identifier: MIT */
#include "perf_stacks.h"

#include <inttypes.h>
#include <stdlib.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *trim(const char *text, size_t *len) {
    while (*len && is_blank(text[0])) {
        text++;
        (*len)--;
    }
    while (*len && is_blank(text[*len - 1])) {
        (*len)--;
    }
    return text;
}

static void put_frame(perftrace__strbuf_t *b, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        const char c = text[i];
        perftrace__strbuf_putc(b, c == ';' ? ':' : (unsigned char)c < ' ' ? '?' : c);
    }
}

/* "name tid": the number at the end is taken off; names may hold blanks. */
static void read_header(perftrace__perf_stacks_t *s, const char *text, size_t len) {
    size_t end = len;
    while (end && text[end - 1] >= '0' && text[end - 1] <= '9') {
        end--;
    }
    if (end && end < len && is_blank(text[end - 1])) {
        len = end;
    }
    text = trim(text, &len);
    perftrace__strbuf_clear(&s->comm);
    put_frame(&s->comm, text, len);
    perftrace__strbuf_clear(&s->frames);
    s->in_sample = true;
}

/* "address symbol (file)"; the symbol may hold blanks and parentheses. */
static void read_frame(perftrace__perf_stacks_t *s, const char *text, size_t len) {
    size_t address = 0;
    while (address < len && !is_blank(text[address])) {
        address++;
    }
    const char *name = text + address;
    size_t name_len = len - address;
    name = trim(name, &name_len);
    const char *dso = NULL;
    size_t dso_len = 0;
    if (name_len && name[name_len - 1] == ')') {
        size_t open = name_len - 1;
        while (open && name[open] != '(') {
            open--;
        }
        if (name[open] == '(' && (open == 0 || is_blank(name[open - 1]))) {
            dso = name + open + 1;
            dso_len = name_len - open - 2;
            name_len = open;
            name = trim(name, &name_len);
        }
    }
    if (name_len && !(name_len == 9 && memcmp(name, "[unknown]", 9) == 0)) {
        put_frame(&s->frames, name, name_len);
    } else {
        perftrace__strbuf_puts(&s->frames, "unk_");
        if (dso_len && !(dso_len == 9 && memcmp(dso, "[unknown]", 9) == 0)) {
            for (size_t i = dso_len; i > 0; i--) {
                if (dso[i - 1] == '/') {
                    dso += i;
                    dso_len -= i;
                    break;
                }
            }
            put_frame(&s->frames, dso, dso_len);
            perftrace__strbuf_putc(&s->frames, '@');
        }
        perftrace__strbuf_puts(&s->frames, "0x");
        put_frame(&s->frames, text, address);
    }
    perftrace__strbuf_putc(&s->frames, '\0');
}

/* Turns the frames round and counts the stack. */
static void end_sample(perftrace__perf_stacks_t *s) {
    perftrace__strbuf_t stack = PERFTRACE__STRBUF_INIT;
    if (!s->in_sample) {
        return;
    }
    s->in_sample = false;
    perftrace__strbuf_append(&stack, s->comm.data, s->comm.len);
    for (size_t end = s->frames.len; end > 0;) {
        size_t start = end - 1;
        while (start > 0 && s->frames.data[start - 1] != '\0') {
            start--;
        }
        perftrace__strbuf_putc(&stack, ';');
        perftrace__strbuf_append(&stack, s->frames.data + start, end - 1 - start);
        end = start;
    }
    uint64_t *count = NULL;
    if (!stack.failed && !s->comm.failed && !s->frames.failed) {
        count = perftrace__hashmap_put(&s->counts, stack.data, stack.len, 0, NULL);
    }
    if (count) {
        ++*count;
        s->samples++;
    } else {
        s->failed = true;
    }
    perftrace__strbuf_free(&stack);
}

void perftrace__perf_stacks_line(perftrace__perf_stacks_t *s, const char *line, size_t len) {
    const char *text = trim(line, &len);
    if (len == 0) {
        end_sample(s);
    } else if (text[0] == '#') {
        return; /* perf's own remarks */
    } else if (s->in_sample) {
        read_frame(s, text, len);
    } else {
        read_header(s, text, len);
    }
}

typedef struct counted {
    const char *stack;
    size_t len;
    uint64_t count;
} counted_t;

static int by_text(const void *a, const void *b) {
    const counted_t *x = a;
    const counted_t *y = b;
    const int order = memcmp(x->stack, y->stack, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

void perftrace__perf_stacks_write(perftrace__perf_stacks_t *s, perftrace__strbuf_t *out) {
    end_sample(s);
    counted_t *all = s->counts.count ? calloc(s->counts.count, sizeof(*all)) : NULL;
    if (!all) {
        out->failed = out->failed || s->counts.count > 0;
        return;
    }
    size_t n = 0;
    size_t pos = 0;
    uint64_t len;
    while (n < s->counts.count &&
           perftrace__hashmap_next(&s->counts, &pos, &all[n].stack, &len, &all[n].count)) {
        all[n++].len = (size_t)len;
    }
    qsort(all, n, sizeof(*all), by_text);
    for (size_t i = 0; i < n; i++) {
        perftrace__strbuf_append(out, all[i].stack, all[i].len);
        perftrace__strbuf_printf(out, " %" PRIu64 "\n", all[i].count);
    }
    free(all);
}

void perftrace__perf_stacks_free(perftrace__perf_stacks_t *s) {
    perftrace__hashmap_free(&s->counts);
    perftrace__strbuf_free(&s->comm);
    perftrace__strbuf_free(&s->frames);
    *s = (perftrace__perf_stacks_t){0};
}
