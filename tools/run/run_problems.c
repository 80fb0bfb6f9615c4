/* run_problems.c. SPDX-License-Identifier: MIT */
#include "run_problems.h"

static void add_line(perftrace__strbuf_t *out, const char *origin, const char *fmt, va_list ap) {
    size_t from = out->len;
    if (origin && *origin) {
        perftrace__strbuf_printf(out, "%s: ", origin);
    }
    perftrace__strbuf_vprintf(out, fmt, ap);
    /* A value may hold a line end; a message is one line. */
    for (size_t i = from; i < out->len; i++) {
        out->data[i] = (char)(out->data[i] == '\n' ? ' ' : out->data[i]);
    }
    perftrace__strbuf_putc(out, '\n');
}

void pt_run_error(pt_run_problems_t *problems, const char *origin, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    add_line(&problems->errors, origin, fmt, ap);
    va_end(ap);
}

void pt_run_warning(pt_run_problems_t *problems, const char *origin, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    add_line(&problems->warnings, origin, fmt, ap);
    va_end(ap);
}

void pt_run_problems_free(pt_run_problems_t *problems) {
    if (problems) {
        perftrace__strbuf_free(&problems->errors);
        perftrace__strbuf_free(&problems->warnings);
    }
}
