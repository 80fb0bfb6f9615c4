/* collapsed_write.c. SPDX-License-Identifier: MIT */
#include "grow.h"
#include "json_writer.h"
#include "profile_stacks.h"
#include "profile_write.h"

#include <math.h>
#include <stdlib.h>

#define PIECE ((size_t)768 << 10)

/* A distinct line: the same names may be several nodes. */
typedef struct line {
    size_t text; /* its stack, in the lines' text */
    size_t len;
    double weight[2];
} line_t;

typedef struct lines {
    line_t *line;
    size_t count, cap;
    perftrace__hashmap_t of;
    perftrace__strbuf_t text, stack;
    uint32_t *path;
} lines_t;

static bool is_named(const pt_profile_t *p, uint32_t frame, const pt_profile_thread_t *t) {
    const pt_profile_frame_t *f = &p->frame[frame];
    return f->name_len == t->name_len &&
           (t->name_len == 0 ||
            memcmp(pt_profile_text(p, f->name), pt_profile_text(p, t->name), t->name_len) == 0);
}

/* Of each thread: whether some of its stacks do not begin with its name. */
static bool *find_unnamed(const pt_profile_t *p) {
    bool *unnamed = calloc(p->threads + 1, sizeof *unnamed);
    for (size_t i = 0; unnamed != NULL && i < p->nodes; i++) {
        const pt_profile_node_t *n = &p->node[i];
        bool other = n->depth == 1 && !is_named(p, n->frame, &p->thread[n->thread]);
        bool empty = n->depth == 0 && n->samples > 0;
        unnamed[n->thread] |= other || empty;
    }
    return unnamed;
}

static void put_name(perftrace__strbuf_t *out, const char *name, size_t len) {
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        bool ends = c == '\n' || c == '\r' || c == '\0';
        perftrace__strbuf_putc(out, ends ? ' ' : c == ';' ? ':' : c);
    }
}

static void make_stack(lines_t *l, const pt_profile_t *p, uint32_t node, bool with_thread) {
    const pt_profile_thread_t *t = &p->thread[p->node[node].thread];
    uint32_t depth = pt_profile_path(p, node, l->path);
    perftrace__strbuf_clear(&l->stack);
    if (with_thread) {
        put_name(&l->stack, pt_profile_text(p, t->name), t->name_len);
    }
    for (uint32_t i = 0; i < depth; i++) {
        const pt_profile_frame_t *f = &p->frame[l->path[i]];
        perftrace__strbuf_puts(&l->stack, i > 0 || with_thread ? ";" : "");
        put_name(&l->stack, pt_profile_text(p, f->name), f->name_len);
    }
}

static bool add_line(lines_t *l, unsigned side, double weight) {
    bool fresh;
    const char *stack = perftrace__strbuf_cstr(&l->stack);
    uint64_t *at = perftrace__hashmap_put(&l->of, stack, l->stack.len, l->count, &fresh);
    if (at == NULL || l->stack.failed || (fresh && !PT_GROW(l, line, count, cap, 1))) {
        return false;
    }
    if (fresh) {
        l->line[l->count++] = (line_t){.text = l->text.len, .len = l->stack.len};
        perftrace__strbuf_append(&l->text, stack, l->stack.len);
    }
    l->line[*at].weight[side] += weight;
    return !l->text.failed;
}

static bool add_model(lines_t *l, const pt_profile_t *p, unsigned side) {
    bool *unnamed = find_unnamed(p);
    uint32_t *node = malloc((p->nodes + 1) * sizeof *node);
    size_t count = 0;
    l->path = malloc(((size_t)pt_profile_deepest(p) + 1) * sizeof *l->path);
    bool ok = unnamed != NULL && node != NULL && l->path != NULL &&
              pt_profile_stacks(p, NULL, node, &count);
    for (size_t i = 0; ok && i < count; i++) {
        make_stack(l, p, node[i], unnamed[p->node[node[i]].thread]);
        ok = add_line(l, side, p->node[node[i]].weight);
    }
    free(l->path);
    free(node);
    free(unnamed);
    return ok;
}

static void put_weight(perftrace__strbuf_t *out, double weight, const pt_collapsed_weights_t *how) {
    double value = weight * how->factor;
    perftrace__strbuf_putc(out, ' ');
    if (how->integers || (value == floor(value) && value < 1e18)) {
        perftrace__strbuf_printf(out, "%.0f", round(value));
    } else {
        perftrace__strbuf_double(out, value);
    }
}

static bool put_lines(const lines_t *l, bool two, const pt_collapsed_weights_t *how,
                      pt_profile_sink_t *sink) {
    perftrace__strbuf_t *out = &sink->text;
    for (size_t i = 0; i < l->count; i++) {
        const line_t *line = &l->line[i];
        const char *text = line->len > 0 ? l->text.data + line->text : "";
        /* Else it would be a comment. */
        perftrace__strbuf_puts(out, line->len > 0 && *text == '#' ? " " : "");
        perftrace__strbuf_append(out, text, line->len);
        put_weight(out, line->weight[0], how);
        if (two) {
            put_weight(out, line->weight[1], how);
        }
        perftrace__strbuf_putc(out, '\n');
        if (sink->flush != NULL && out->len >= PIECE &&
            (out->failed || !sink->flush(sink->ctx, out))) {
            return false;
        }
    }
    return !out->failed;
}

bool pt_collapsed_write(const pt_profile_t *p, const pt_profile_t *other,
                        const pt_collapsed_weights_t *how, pt_profile_sink_t *sink) {
    lines_t l = {.line = NULL, .text = PERFTRACE__STRBUF_INIT, .stack = PERFTRACE__STRBUF_INIT};
    bool ok = add_model(&l, p, 0) && (other == NULL || add_model(&l, other, 1)) &&
              put_lines(&l, other != NULL, how, sink);
    free(l.line);
    perftrace__hashmap_free(&l.of);
    perftrace__strbuf_free(&l.text);
    perftrace__strbuf_free(&l.stack);
    return ok;
}
