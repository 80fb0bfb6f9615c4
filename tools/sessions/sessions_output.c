/* sessions_output.c: reports to their files. SPDX-License-Identifier: MIT */
#include "sessions_output.h"

#include "message.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

static void make_json(const pt_report_t *r, const pt_problems_t *book, perftrace__strbuf_t *out) {
    perftrace__strbuf_puts(out, "{\"perftrace_sessions\": {\"version\": \"" PERFTRACE_TOOL_VERSION
                                "\"},\n");
    pt_report_print_json(r, out);
    perftrace__strbuf_puts(out, ",\n\"problems\": ");
    pt_problems_json(book, out);
    perftrace__strbuf_puts(out, "}\n");
}

static bool wants_color(const pt_output_t *output) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return pt_output_is_terminal(output) && (no_color == NULL || *no_color == '\0') &&
           term != NULL && strcmp(term, "dumb") != 0;
}

pt_exit_t pt_sessions_output_write(const pt_report_t *r, const pt_problems_t *book,
                                   const pt_paths_t *inputs, const pt_sessions_options_t *o) {
    const char *path = o->output != NULL ? o->output : "-";
    pt_output_options_t how = {.inputs = inputs};
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT, text = PERFTRACE__STRBUF_INIT;
    pt_output_t *output;
    int status = pt_output_open(path, &how, &output, &problem);
    if (status == 0) {
        if (o->json) {
            make_json(r, book, &text);
        } else if (o->csv) {
            pt_report_print_csv(r, &text);
        } else {
            pt_report_print_text(r, wants_color(output), &text);
        }
        if (text.failed) {
            pt_output_abort(output);
            pt_error("out of memory");
            perftrace__strbuf_free(&text);
            return PT_EXIT_INTERNAL;
        }
        (void)pt_output_write(output, perftrace__strbuf_cstr(&text), text.len);
        status = pt_output_commit(output, &problem); /* tells what a write could not do, too */
    }
    if (status != 0) {
        pt_error("%s: %s", strcmp(path, "-") == 0 ? "standard output" : path,
                 perftrace__strbuf_cstr(&problem));
    }
    perftrace__strbuf_free(&text);
    perftrace__strbuf_free(&problem);
    return status == 0 ? PT_EXIT_OK : PT_EXIT_OUTPUT;
}
