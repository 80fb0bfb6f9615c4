/* flow_wait.c: flow events that wait for the start of their chain. SPDX-License-Identifier: MIT */
#include "flow_wait.h"

#include <stdlib.h>

static struct pt_flow_line *line_at(pt_flow_wait_t *w, unsigned i) {
    return &w->line[(w->first + i) % PT_FLOW_WAIT_LIMIT];
}

static void drop_first(pt_flow_wait_t *w) {
    perftrace__strbuf_clear(&line_at(w, 0)->text);
    w->first = (w->first + 1) % PT_FLOW_WAIT_LIMIT;
    w->count--;
}

void pt_flow_wait_add(pt_flow_wait_t *w, uint32_t number, char ph, const char *text, size_t len) {
    if (w->line == NULL) {
        w->line = calloc(PT_FLOW_WAIT_LIMIT, sizeof *w->line);
        if (w->line == NULL) {
            w->given_up++;
            return;
        }
    }
    if (w->count == PT_FLOW_WAIT_LIMIT) {
        w->given_up += line_at(w, 0)->text.len > 0; /* an empty one was taken */
        drop_first(w);
    }
    struct pt_flow_line *line = line_at(w, w->count++);
    line->number = number;
    line->ph = ph;
    perftrace__strbuf_append(&line->text, text, len);
}

void pt_flow_wait_take(pt_flow_wait_t *w, uint32_t number, perftrace__strbuf_t *out,
                       uint64_t *count) {
    for (unsigned i = 0; i < w->count; i++) {
        struct pt_flow_line *line = line_at(w, i);
        if (line->number == number && line->text.len > 0) {
            perftrace__strbuf_append(out, line->text.data, line->text.len);
            perftrace__strbuf_clear(&line->text);
            count[(unsigned char)line->ph & 127]++;
        }
    }
    while (w->count > 0 && line_at(w, 0)->text.len == 0) {
        drop_first(w);
    }
}

void pt_flow_wait_finish(pt_flow_wait_t *w) {
    for (unsigned i = 0; i < w->count; i++) {
        w->given_up += line_at(w, i)->text.len > 0;
    }
    for (unsigned i = 0; w->line != NULL && i < PT_FLOW_WAIT_LIMIT; i++) {
        perftrace__strbuf_free(&w->line[i].text);
    }
    free(w->line);
    *w = (pt_flow_wait_t){.given_up = w->given_up};
}
