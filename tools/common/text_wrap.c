/* text_wrap.c: paragraphs set to a width. SPDX-License-Identifier: MIT */
#include "text_wrap.h"

#include <stdbool.h>
#include <string.h>

unsigned pt_text_columns(const char *text, size_t len) {
    unsigned columns = 0;
    for (size_t i = 0; i < len; i++) {
        columns += ((unsigned char)text[i] & 0xc0u) != 0x80u;
    }
    return columns;
}

void pt_text_pad(perftrace__strbuf_t *out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        perftrace__strbuf_putc(out, ' ');
    }
}

/* Where the line now being written stands. */
typedef struct setter {
    perftrace__strbuf_t *out;
    unsigned width, indent;
    unsigned column; /* next free column */
    bool fresh;      /* no word on this line yet */
} setter_t;

static void new_line(setter_t *s) {
    perftrace__strbuf_putc(s->out, '\n');
    s->column = 0;
    s->fresh = true;
}

static void put_word(setter_t *s, const char *word, size_t len) {
    unsigned columns = pt_text_columns(word, len);
    if (!s->fresh && s->column + 1 + columns > s->width) {
        new_line(s);
    }
    if (s->fresh) {
        if (s->column < s->indent) {
            pt_text_pad(s->out, s->indent - s->column);
            s->column = s->indent;
        }
    } else {
        perftrace__strbuf_putc(s->out, ' ');
        s->column++;
    }
    perftrace__strbuf_append(s->out, word, len);
    s->column += columns;
    s->fresh = false;
}

static void put_as_it_is(setter_t *s, const char *line, size_t len) {
    if (!s->fresh) {
        new_line(s);
    }
    if (s->column < s->indent) {
        pt_text_pad(s->out, s->indent - s->column);
    }
    perftrace__strbuf_append(s->out, line, len);
    new_line(s);
}

void pt_text_wrap(perftrace__strbuf_t *out, const char *text, unsigned width, unsigned column,
                  unsigned indent) {
    setter_t s = {.out = out, .width = width, .indent = indent, .column = column, .fresh = true};
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        if (len == 0) { /* an empty line parts paragraphs */
            if (!s.fresh) {
                new_line(&s);
            }
            new_line(&s);
        } else if (len > 2 && line[0] == ' ' && line[1] == ' ') {
            put_as_it_is(&s, line, len);
        } else {
            for (size_t i = 0; i < len;) {
                size_t blanks = strspn(line + i, " ");
                size_t word = strcspn(line + i + blanks, " \n");
                if (word) {
                    put_word(&s, line + i + blanks, word);
                }
                i += blanks + word;
            }
        }
        line += len + (line[len] == '\n');
    }
    if (!s.fresh || s.column) {
        new_line(&s);
    }
}
