/* convert_bundle.c: a tar of one trace a rank, with the manifest by which Perfetto merges them.
 * SPDX-License-Identifier: MIT
 *
 * Formats: POSIX.1 ustar; Perfetto's perfetto_manifest version 1. */
#include "convert_bundle.h"

#include "message.h"
#include "nameless_file.h"
#include "os.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK     512U
#define COPY_SIZE ((size_t)1 << 20)
#define OCTAL_MAX UINT64_C(8589934591) /* the largest size that eleven octal digits hold */

static pt_exit_t output_error(const pt_output_t *output) {
    pt_error("%s: %s", pt_output_name(output), pt_output_problem(output));
    return PT_EXIT_OUTPUT;
}

static pt_exit_t spool_error(const pt_convert_bundle_t *b, int error) {
    pt_error("cannot collect the parts of the bundle in %s: %s", b->dir, strerror(error));
    return PT_EXIT_OUTPUT;
}

/* rank3.json, rank3-actor.json, rank3-actor.run2.json; short enough for a tar. */
static void name_member(const pt_convert_input_t *in, char *out, size_t size) {
    char role[41] = "";
    size_t n = 0;
    for (const char *p = in->source.role; p != NULL && *p != '\0' && n + 2 < sizeof role; p++) {
        role[n + 1] = isalnum((unsigned char)*p) ? *p : '_';
        role[0] = '-';
        n++;
    }
    int len = snprintf(out, size, "rank%" PRId64 "%s", in->source.rank, role);
    if (in->runs > 1) {
        snprintf(out + len, size - (size_t)len, ".run%u.json", in->run);
    } else {
        snprintf(out + len, size - (size_t)len, ".json");
    }
}

pt_exit_t pt_convert_bundle_open(pt_convert_bundle_t *b, const pt_convert_plan_t *plan,
                                 const pt_paths_t *inputs, const char *target) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_output_options_t how = {.inputs = inputs};
    const char *slash = strrchr(target, '/');
    pt_exit_t status = PT_EXIT_OK;
    *b = (pt_convert_bundle_t){.plan = plan};
    b->dir = slash == NULL     ? strdup(".")
             : slash == target ? strdup("/")
                               : strndup(target, (size_t)(slash - target));
    b->member = calloc(plan->count, sizeof *b->member);
    if (b->dir == NULL || b->member == NULL) {
        return PT_EXIT_INTERNAL;
    }
    for (size_t i = 0; i < plan->count; i++) {
        b->member[i].spool = -1;
    }
    if (pt_output_open(target, &how, &b->output, &problem) != 0) {
        pt_error("%s: %s", target, perftrace__strbuf_cstr(&problem));
        status = PT_EXIT_OUTPUT;
    }
    perftrace__strbuf_free(&problem);
    for (size_t i = 0; i < plan->count && status == PT_EXIT_OK; i++) {
        pt_bundle_member_t *m = &b->member[i];
        pt_convert_input_t *in = plan->order[i];
        name_member(in, m->name, sizeof m->name);
        if (in->source.ours && in->clock.shift_ns > 0) {
            m->offset_ns = in->window_shift_ns = in->clock.shift_ns;
            in->clock.shift_ns = 0;
        }
        m->spool = pt_nameless_file(b->dir);
        if (m->spool < 0) {
            status = spool_error(b, errno);
        }
    }
    return status;
}

pt_exit_t pt_convert_bundle_add(pt_convert_bundle_t *b, size_t index,
                                const perftrace__strbuf_t *events,
                                const perftrace__strbuf_t *names) {
    pt_bundle_member_t *m = &b->member[index];
    if (names->len > 0) {
        perftrace__strbuf_append(&m->names, names->data, names->len);
    }
    size_t done = 0;
    m->size += events->len;
    int rc = perftrace__os_write_all(m->spool, events->data, events->len, &done);
    return rc == 0 ? PT_EXIT_OK : spool_error(b, -rc);
}

static void put_octal(char *field, size_t digits, uint64_t value) {
    for (size_t i = digits; i-- > 0; value >>= 3) {
        field[i] = (char)('0' + (value & 7));
    }
}

static pt_exit_t put_header(pt_output_t *out, const char *name, uint64_t size) {
    char h[BLOCK] = {0};
    unsigned sum = 0;
    memcpy(h, name, PT_MIN(strlen(name), (size_t)99));
    put_octal(h + 100, 7, 0644);
    put_octal(h + 108, 7, 0);
    put_octal(h + 116, 7, 0);
    if (size <= OCTAL_MAX) {
        put_octal(h + 124, 11, size);
    } else { /* base 256, as GNU and most others read it */
        h[124] = (char)0x80;
        for (unsigned i = 0; i < 8; i++) {
            h[135 - i] = (char)(size >> (8 * i));
        }
    }
    put_octal(h + 136, 11, 0);
    memset(h + 148, ' ', 8);
    h[156] = '0';
    memcpy(h + 257, "ustar", 6);
    memcpy(h + 263, "00", 2);
    for (unsigned i = 0; i < BLOCK; i++) {
        sum += (unsigned char)h[i];
    }
    put_octal(h + 148, 6, sum);
    h[154] = '\0';
    return pt_output_write(out, h, BLOCK) == 0 ? PT_EXIT_OK : output_error(out);
}

static pt_exit_t put_padding(pt_output_t *out, uint64_t size) {
    static const char zero[BLOCK];
    size_t rest = (size_t)(size % BLOCK);
    return rest == 0 || pt_output_write(out, zero, BLOCK - rest) == 0 ? PT_EXIT_OK
                                                                      : output_error(out);
}

static pt_exit_t put_text_member(pt_output_t *out, const char *name,
                                 const perftrace__strbuf_t *text) {
    pt_exit_t status = put_header(out, name, text->len);
    if (status == PT_EXIT_OK && pt_output_write(out, text->data, text->len) != 0) {
        status = output_error(out);
    }
    return status == PT_EXIT_OK ? put_padding(out, text->len) : status;
}

static pt_exit_t copy_spool(pt_convert_bundle_t *b, const pt_bundle_member_t *m) {
    char *buf = malloc(COPY_SIZE);
    pt_exit_t status = buf != NULL ? PT_EXIT_OK : PT_EXIT_INTERNAL;
    for (uint64_t at = 0; at < m->size && status == PT_EXIT_OK;) {
        ssize_t n = pread(m->spool, buf, COPY_SIZE, (off_t)at);
        if (n <= 0) {
            status = spool_error(b, n < 0 ? errno : EIO);
        } else if (pt_output_write(b->output, buf, (size_t)n) != 0) {
            status = output_error(b->output);
        } else {
            at += (uint64_t)n;
        }
    }
    free(buf);
    return status;
}

/* A member is an array: events, then names. */
static pt_exit_t put_member(pt_convert_bundle_t *b, const pt_bundle_member_t *m) {
    size_t names = m->names.len >= 2 ? m->names.len - 2 : 0;
    uint64_t size = 2 + m->size + names + 3;
    pt_exit_t status = put_header(b->output, m->name, size);
    if (status == PT_EXIT_OK && pt_output_write(b->output, "[\n", 2) != 0) {
        status = output_error(b->output);
    }
    status = status == PT_EXIT_OK ? copy_spool(b, m) : status;
    if (status == PT_EXIT_OK &&
        ((names > 0 && pt_output_write(b->output, m->names.data, names) != 0) ||
         pt_output_write(b->output, "\n]\n", 3) != 0)) {
        status = output_error(b->output);
    }
    return status == PT_EXIT_OK ? put_padding(b->output, size) : status;
}

static void make_manifest(const pt_convert_bundle_t *b, perftrace__strbuf_t *out) {
    size_t first = 0; /* all offsets count from the earliest: none may be below 0 */
    for (size_t i = 1; i < b->plan->count; i++) {
        first = b->member[i].offset_ns < b->member[first].offset_ns ? i : first;
    }
    perftrace__strbuf_puts(out, "{\"perfetto_manifest\": {\"version\": 1, \"files\": [\n");
    for (size_t i = 0; i < b->plan->count; i++) {
        const pt_bundle_member_t *m = &b->member[i];
        int stem = (int)(strlen(m->name) - 5);
        perftrace__strbuf_printf(out, "{\"path\": \"%s\", \"machine\": {\"name\": \"%.*s\"}",
                                 m->name, stem, m->name);
        if (i != first) {
            perftrace__strbuf_printf(
                out, ", \"clocks\": {\"sync_to\": {\"file\": \"%s\"}, \"offset_ns\": %" PRId64 "}",
                b->member[first].name, m->offset_ns - b->member[first].offset_ns);
        }
        perftrace__strbuf_puts(out, i + 1 < b->plan->count ? "},\n" : "}\n");
    }
    perftrace__strbuf_puts(out, "]}}\n");
}

pt_exit_t pt_convert_bundle_commit(pt_convert_bundle_t *b, uint64_t *ret_size) {
    static const char end[2 * BLOCK];
    perftrace__strbuf_t manifest = PERFTRACE__STRBUF_INIT, problem = PERFTRACE__STRBUF_INIT;
    make_manifest(b, &manifest);
    pt_exit_t status = PT_EXIT_OK;
    for (size_t i = 0; i < b->plan->count && status == PT_EXIT_OK; i++) {
        status = put_member(b, &b->member[i]);
    }
    if (status == PT_EXIT_OK) {
        status = put_text_member(b->output, "perfetto_manifest.json", &manifest);
    }
    if (status == PT_EXIT_OK && pt_output_write(b->output, end, sizeof end) != 0) {
        status = output_error(b->output);
    }
    if (status == PT_EXIT_OK) {
        *ret_size = pt_output_offset(b->output);
        pt_output_t *output = b->output;
        b->output = NULL;
        if (pt_output_commit(output, &problem) != 0) {
            pt_error("the bundle: %s", perftrace__strbuf_cstr(&problem));
            status = PT_EXIT_OUTPUT;
        }
    }
    perftrace__strbuf_free(&manifest);
    perftrace__strbuf_free(&problem);
    return status;
}

void pt_convert_bundle_free(pt_convert_bundle_t *b) {
    pt_output_abort(b->output);
    for (size_t i = 0; b->member != NULL && i < b->plan->count; i++) {
        if (b->member[i].spool >= 0) {
            close(b->member[i].spool);
        }
        perftrace__strbuf_free(&b->member[i].names);
    }
    free(b->member);
    free(b->dir);
}
