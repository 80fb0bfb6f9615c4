/* convert_doc.c: the output, in one or several parts. SPDX-License-Identifier: MIT */
#include "convert_doc.h"

#include "message.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PARTS 4096

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static pt_exit_t output_error(const pt_output_t *output) {
    pt_error("%s: %s", pt_output_name(output), pt_output_problem(output));
    return PT_EXIT_OUTPUT;
}

/* Writes text that the caller has not packed. */
static pt_exit_t put_text(pt_convert_doc_t *d, pt_convert_part_t *part, const char *text,
                          size_t len) {
    pt_deflate_block_t block;
    int rc = 0;
    if (!d->gzip) {
        rc = pt_output_write(part->output, text, len);
        return rc == 0 ? PT_EXIT_OK : output_error(part->output);
    }
    size_t cap = pt_deflate_bound(len);
    char *packed = malloc(cap);
    bool ok = packed != NULL && pt_deflater_pack(d->deflater, text, len, packed, cap, &block);
    if (ok) {
        pt_gzip_joiner_add(&part->joiner, &block);
        rc = pt_output_write(part->output, packed, block.packed_len);
    }
    free(packed);
    if (!ok) {
        pt_error("out of memory");
        return PT_EXIT_INTERNAL;
    }
    return rc == 0 ? PT_EXIT_OK : output_error(part->output);
}

/* "merged.json.gz" and part 2: "merged.part2.json.gz". */
static void part_name(const pt_convert_doc_t *d, size_t number, perftrace__strbuf_t *out) {
    const char *slash = strrchr(d->target, '/');
    const char *dot = strchr(slash != NULL ? slash + 2 : d->target + 1, '.');
    size_t stem = dot != NULL ? (size_t)(dot - d->target) : strlen(d->target);
    if (ends_with(d->target, ".json.gz")) {
        stem = strlen(d->target) - 8;
    } else if (ends_with(d->target, ".json")) {
        stem = strlen(d->target) - 5;
    }
    perftrace__strbuf_append(out, d->target, stem);
    perftrace__strbuf_printf(out, ".part%zu%s", number, d->target + stem);
}

static pt_exit_t open_part(pt_convert_doc_t *d) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT, name = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t head = PERFTRACE__STRBUF_INIT;
    pt_output_options_t how = {.inputs = d->inputs,
                               .buffer_size = d->options->split > 0 ? 4096 : 0};
    uint8_t gzip_head[PT_GZIP_HEADER_LEN];
    pt_exit_t status = PT_EXIT_INTERNAL;
    if (d->parts == MAX_PARTS) {
        pt_error("more than %d parts: give --split a larger size", MAX_PARTS);
        return PT_EXIT_OUTPUT;
    }
    pt_convert_part_t *more = realloc(d->part, (d->parts + 1) * sizeof *more);
    if (more == NULL) {
        return PT_EXIT_INTERNAL;
    }
    d->part = more;
    pt_convert_part_t *part = &more[d->parts];
    *part = (pt_convert_part_t){.output = NULL};
    if (d->options->split > 0) {
        part_name(d, d->parts + 1, &name);
    } else {
        perftrace__strbuf_puts(&name, d->target);
    }
    if (pt_output_open(perftrace__strbuf_cstr(&name), &how, &part->output, &problem) != 0) {
        pt_error("%s: %s", perftrace__strbuf_cstr(&name), perftrace__strbuf_cstr(&problem));
        status = PT_EXIT_OUTPUT;
        goto done;
    }
    d->parts++;
    if (d->gzip) {
        pt_gzip_joiner_begin(&part->joiner, gzip_head);
        if (pt_output_write(part->output, gzip_head, sizeof gzip_head) != 0) {
            status = output_error(part->output);
            goto done;
        }
    }
    perftrace__strbuf_printf(
        &head, "{\"displayTimeUnit\": \"%s\", " PT_CONVERT_MARK ", \"traceEvents\": [\n",
        d->options->display_time_unit);
    status = put_text(d, part, head.data, head.len);
done:
    perftrace__strbuf_free(&problem);
    perftrace__strbuf_free(&name);
    perftrace__strbuf_free(&head);
    return status;
}

pt_exit_t pt_convert_doc_open(pt_convert_doc_t *d, const pt_convert_options_t *options,
                              const pt_paths_t *inputs, const char *target) {
    *d = (pt_convert_doc_t){.options = options, .inputs = inputs, .target = target};
    if (target == NULL) {
        return PT_EXIT_OK;
    }
    if (options->split > 0 && strcmp(target, "-") == 0) {
        pt_error("--split needs an output file, not standard output");
        return PT_EXIT_USAGE;
    }
    d->gzip = options->gzip || ends_with(target, ".gz");
    if (d->gzip) {
        d->deflater = pt_deflater_new((int)options->level, PT_DEFLATE_AUTO);
        if (d->deflater == NULL) {
            pt_error("out of memory");
            return PT_EXIT_INTERNAL;
        }
    }
    return open_part(d);
}

pt_exit_t pt_convert_doc_events(pt_convert_doc_t *d, const void *data, size_t len,
                                const pt_deflate_block_t *packed) {
    size_t plain = packed != NULL ? packed->plain_len : len;
    d->plain += plain;
    if (d->target == NULL || len == 0) {
        return PT_EXIT_OK;
    }
    pt_convert_part_t *part = &d->part[d->parts - 1];
    if (d->options->split > 0 && part->plain > 0 && part->plain + plain > d->options->split) {
        pt_exit_t status = open_part(d);
        if (status != PT_EXIT_OK) {
            return status;
        }
        part = &d->part[d->parts - 1];
    }
    part->plain += plain;
    if (packed != NULL) {
        pt_gzip_joiner_add(&part->joiner, packed);
    }
    return pt_output_write(part->output, data, len) == 0 ? PT_EXIT_OK : output_error(part->output);
}

void pt_convert_doc_names(pt_convert_doc_t *d, const perftrace__strbuf_t *names) {
    perftrace__strbuf_append(&d->names, names->data, names->len);
}

/* Names, end of the array, metadata, and for gzip the trailer. */
static pt_exit_t end_part(pt_convert_doc_t *d, pt_convert_part_t *part, size_t number,
                          const char *metadata) {
    perftrace__strbuf_t tail = PERFTRACE__STRBUF_INIT;
    uint8_t gzip_end[PT_GZIP_END_LEN];
    if (d->names.len > 2) {
        perftrace__strbuf_append(&tail, d->names.data, d->names.len - 2);
    }
    perftrace__strbuf_puts(&tail, "\n], \"metadata\": {");
    if (d->options->split > 0) {
        perftrace__strbuf_printf(&tail, "\"part\": %zu, \"parts\": %zu, ", number, d->parts);
    }
    perftrace__strbuf_puts(&tail, metadata);
    perftrace__strbuf_puts(&tail, "}}\n");
    pt_exit_t status = tail.failed ? PT_EXIT_INTERNAL : put_text(d, part, tail.data, tail.len);
    perftrace__strbuf_free(&tail);
    if (status == PT_EXIT_OK && d->gzip) {
        pt_gzip_joiner_end(&part->joiner, gzip_end);
        status = pt_output_write(part->output, gzip_end, sizeof gzip_end) == 0
                     ? PT_EXIT_OK
                     : output_error(part->output);
    }
    return status;
}

pt_exit_t pt_convert_doc_commit(pt_convert_doc_t *d, const char *metadata) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_exit_t status = PT_EXIT_OK;
    for (size_t i = 0; i < d->parts && status == PT_EXIT_OK; i++) {
        status = end_part(d, &d->part[i], i + 1, metadata);
    }
    for (size_t i = 0; i < d->parts && status == PT_EXIT_OK; i++) {
        pt_output_t *output = d->part[i].output;
        char *name = strdup(pt_output_name(output));
        d->written += pt_output_offset(output);
        d->part[i].output = NULL;
        if (pt_output_commit(output, &problem) != 0) {
            pt_error("%s: %s", name != NULL ? name : "output", perftrace__strbuf_cstr(&problem));
            status = PT_EXIT_OUTPUT;
        }
        free(name);
    }
    perftrace__strbuf_free(&problem);
    return status;
}

void pt_convert_doc_free(pt_convert_doc_t *d) {
    for (size_t i = 0; i < d->parts; i++) {
        pt_output_abort(d->part[i].output);
    }
    free(d->part);
    pt_deflater_free(d->deflater);
    perftrace__strbuf_free(&d->names);
}
