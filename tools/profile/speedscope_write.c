/* speedscope_write.c. SPDX-License-Identifier: MIT */
#include "json_writer.h"
#include "profile_stacks.h"
#include "profile_write.h"

#include <stdlib.h>

#define PIECE ((size_t)768 << 10)

typedef struct writer {
    const pt_profile_t *p;
    pt_profile_sink_t *sink;
    uint32_t *number; /* of each frame in the file, plus 1; 0: not used yet */
    uint32_t *path;   /* of a stack */
    bool *known;      /* of each node: the frames down to it have their numbers */
} writer_t;

static bool flush(writer_t *w) {
    pt_profile_sink_t *s = w->sink;
    return s->flush == NULL || s->text.len < PIECE ||
           (!s->text.failed && s->flush(s->ctx, &s->text));
}

static void put_u64(perftrace__strbuf_t *out, uint64_t value) {
    char text[PERFTRACE__U64_MAX];
    perftrace__strbuf_append(out, text, (size_t)(perftrace__put_u64(text, value) - text));
}

static void put_frame(perftrace__strbuf_t *out, const pt_profile_t *p, uint32_t frame) {
    const pt_profile_frame_t *f = &p->frame[frame];
    perftrace__strbuf_puts(out, "{\"name\": ");
    perftrace__strbuf_json(out, pt_profile_text(p, f->name), f->name_len);
    if (f->file_len > 0) {
        perftrace__strbuf_puts(out, ", \"file\": ");
        perftrace__strbuf_json(out, pt_profile_text(p, f->file), f->file_len);
    }
    if (f->line >= 0) {
        perftrace__strbuf_puts(out, ", \"line\": ");
        put_u64(out, (uint64_t)f->line);
    }
    perftrace__strbuf_puts(out, "}");
}

/* Numbers frames as they are used, and writes each as it gets its number. */
static bool put_frames(writer_t *w) {
    perftrace__strbuf_t *out = &w->sink->text;
    uint32_t numbers = 0;
    for (size_t t = 0; t < w->p->threads; t++) {
        const pt_profile_thread_t *thread = &w->p->thread[t];
        for (size_t i = 0; i < thread->count; i++) {
            uint32_t node = thread->sample[i].node;
            uint32_t depth = 0;
            for (; node != PT_PROFILE_NONE && !w->known[node]; node = w->p->node[node].parent) {
                w->known[node] = true;
                if (w->p->node[node].frame != PT_PROFILE_NONE) {
                    w->path[depth++] = w->p->node[node].frame;
                }
            }
            while (depth-- > 0) {
                uint32_t d = depth;
                if (w->number[w->path[d]] == 0) {
                    perftrace__strbuf_puts(out, numbers > 0 ? ",\n" : "\n");
                    put_frame(out, w->p, w->path[d]);
                    w->number[w->path[d]] = ++numbers;
                }
            }
            if (!flush(w)) {
                return false;
            }
        }
    }
    return true;
}

static bool put_samples(writer_t *w, const pt_profile_thread_t *t) {
    perftrace__strbuf_t *out = &w->sink->text;
    for (size_t i = 0; i < t->count; i++) {
        uint32_t depth = pt_profile_path(w->p, t->sample[i].node, w->path);
        perftrace__strbuf_puts(out, i > 0 ? ",[" : "[");
        for (uint32_t d = 0; d < depth; d++) {
            perftrace__strbuf_puts(out, d > 0 ? "," : "");
            put_u64(out, w->number[w->path[d]] - 1);
        }
        perftrace__strbuf_puts(out, "]");
        if (!flush(w)) {
            return false;
        }
    }
    return true;
}

static bool put_profile(writer_t *w, size_t number, bool first) {
    perftrace__strbuf_t *out = &w->sink->text;
    const pt_profile_thread_t *t = &w->p->thread[number];
    double end = 0;
    for (size_t i = 0; i < t->count; i++) {
        end += t->sample[i].weight;
    }
    perftrace__strbuf_puts(out, first ? "\n" : ",\n");
    perftrace__strbuf_puts(out, "{\"type\": \"sampled\", \"name\": ");
    perftrace__strbuf_json(out, pt_thread_name(w->p, number), t->name_len);
    perftrace__strbuf_printf(
        out, ", \"unit\": \"%s\", \"startValue\": 0, \"endValue\": ", pt_unit_name(t->unit));
    perftrace__strbuf_double(out, end);
    perftrace__strbuf_puts(out, ",\n\"samples\": [");
    if (!put_samples(w, t)) {
        return false;
    }
    perftrace__strbuf_puts(out, "],\n\"weights\": [");
    for (size_t i = 0; i < t->count; i++) {
        perftrace__strbuf_puts(out, i > 0 ? "," : "");
        perftrace__strbuf_double(out, t->sample[i].weight);
        if (!flush(w)) {
            return false;
        }
    }
    perftrace__strbuf_puts(out, "]}");
    return true;
}

static bool put_document(writer_t *w, const char *name, const char *exporter) {
    perftrace__strbuf_t *out = &w->sink->text;
    bool first = true;
    perftrace__strbuf_puts(out,
                           "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
                           "\"shared\": {\"frames\": [");
    if (!put_frames(w)) {
        return false;
    }
    perftrace__strbuf_puts(out, "]},\n\"profiles\": [");
    for (size_t i = 0; i < w->p->threads; i++) {
        if (w->p->thread[i].count > 0) {
            if (!put_profile(w, i, first)) {
                return false;
            }
            first = false;
        }
    }
    perftrace__strbuf_puts(out, "]");
    if (name != NULL) {
        perftrace__strbuf_puts(out, ",\n\"name\": ");
        perftrace__strbuf_json_cstr(out, name);
    }
    if (exporter != NULL) {
        perftrace__strbuf_puts(out, ",\n\"exporter\": ");
        perftrace__strbuf_json_cstr(out, exporter);
    }
    perftrace__strbuf_puts(out, "}\n");
    return !out->failed;
}

bool pt_speedscope_write(const pt_profile_t *p, const char *name, const char *exporter,
                         pt_profile_sink_t *sink) {
    writer_t w = {.p = p,
                  .sink = sink,
                  .number = calloc(p->frames + 1, sizeof *w.number),
                  .path = calloc((size_t)pt_profile_deepest(p) + 1, sizeof *w.path),
                  .known = calloc(p->nodes + 1, sizeof *w.known)};
    bool ok =
        w.number != NULL && w.path != NULL && w.known != NULL && put_document(&w, name, exporter);
    free(w.number);
    free(w.path);
    free(w.known);
    return ok;
}
