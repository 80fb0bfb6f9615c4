/* analyze_output.c: reports and results to their files. SPDX-License-Identifier: MIT */
#include "analyze_output.h"

#include "message.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int pt_analyze_output_choose(pt_report_t *r, const pt_analyze_options_t *o) {
    for (size_t i = 0; i < o->tables.count; i++) {
        if (pt_report_find(r, o->tables.items[i]) == NULL) {
            perftrace__strbuf_t names = PERFTRACE__STRBUF_INIT;
            for (size_t t = 0; t < r->tables; t++) {
                perftrace__strbuf_printf(&names, "%s%s", t > 0 ? ", " : "", r->table[t].id);
            }
            int status =
                pt_option_usage_error(&pt_analyze_tool, "there is no table %s here; there are %s",
                                      o->tables.items[i], perftrace__strbuf_cstr(&names));
            perftrace__strbuf_free(&names);
            return status;
        }
    }
    for (size_t i = 0; i < r->tables && o->tables.count > 0; i++) {
        r->table[i].left_out = !pt_string_list_has(&o->tables, r->table[i].id);
    }
    return PT_EXIT_OK;
}

/* The lists of problems of all results as one list. */
static void put_problems(const pt_results_t *l, size_t lists, perftrace__strbuf_t *out) {
    bool first = true;
    perftrace__strbuf_putc(out, '[');
    for (size_t k = 0; k < lists; k++) {
        for (size_t i = 0; i < l[k].count; i++) {
            const perftrace__strbuf_t *p = &l[k].result[i].problems;
            if (p->len > 2) { /* more than its brackets */
                perftrace__strbuf_puts(out, first ? "" : ", ");
                perftrace__strbuf_append(out, p->data + 1, p->len - 2);
                first = false;
            }
        }
    }
    perftrace__strbuf_putc(out, ']');
}

static bool wants_color(const char *path) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return strcmp(path, "-") == 0 && isatty(STDOUT_FILENO) == 1 &&
           (no_color == NULL || *no_color == '\0') && term != NULL && strcmp(term, "dumb") != 0;
}

pt_exit_t pt_analyze_output_text(const char *path, const pt_paths_t *inputs,
                                 const perftrace__strbuf_t *text) {
    pt_output_options_t how = {.inputs = inputs};
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_output_t *output;
    if (text->failed) {
        pt_error("out of memory");
        return PT_EXIT_INTERNAL;
    }
    int status = pt_output_open(path, &how, &output, &problem);
    if (status == 0) {
        (void)pt_output_write(output, perftrace__strbuf_cstr(text), text->len);
        status = pt_output_commit(output, &problem); /* tells what a write could not do, too */
    }
    if (status != 0) {
        pt_error("%s: %s", strcmp(path, "-") == 0 ? "standard output" : path,
                 perftrace__strbuf_cstr(&problem));
    }
    perftrace__strbuf_free(&problem);
    return status == 0 ? PT_EXIT_OK : PT_EXIT_OUTPUT;
}

pt_exit_t pt_analyze_output_report(const pt_report_t *r, const pt_results_t *results, size_t lists,
                                   const pt_paths_t *inputs, const pt_analyze_options_t *o) {
    const char *path = o->output != NULL ? o->output : "-";
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    if (o->json) {
        perftrace__strbuf_puts(
            &text, "{\"perftrace_analysis\": {\"version\": \"" PERFTRACE_TOOL_VERSION "\"},\n");
        pt_report_print_json(r, &text);
        perftrace__strbuf_puts(&text, ",\n\"problems\": ");
        put_problems(results, lists, &text);
        perftrace__strbuf_puts(&text, "}\n");
    } else if (o->csv) {
        pt_report_print_csv(r, &text);
    } else {
        pt_report_print_text(r, wants_color(path), &text);
    }
    pt_exit_t status = pt_analyze_output_text(path, inputs, &text);
    perftrace__strbuf_free(&text);
    return status;
}
