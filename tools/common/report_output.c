/* report_output.c: what tools print, to where it goes. SPDX-License-Identifier: MIT */
#include "report_output.h"

#include "message.h"
#include "output.h"

#include <string.h>
#include <unistd.h>

int pt_report_choose(pt_report_t *r, const pt_string_list_t *names, const pt_tool_t *tool) {
    for (size_t i = 0; i < names->count; i++) {
        if (pt_report_find(r, names->items[i]) == NULL) {
            perftrace__strbuf_t known = PERFTRACE__STRBUF_INIT;
            for (size_t t = 0; t < r->tables; t++) {
                perftrace__strbuf_printf(&known, "%s%s", t > 0 ? ", " : "", r->table[t].id);
            }
            int status = pt_option_usage_error(tool, "there is no table %s here; there are %s",
                                               names->items[i], perftrace__strbuf_cstr(&known));
            perftrace__strbuf_free(&known);
            return status;
        }
    }
    for (size_t i = 0; i < r->tables && names->count > 0; i++) {
        r->table[i].left_out = !pt_string_list_has(names, r->table[i].id);
    }
    return PT_EXIT_OK;
}

bool pt_output_wants_color(const char *path) {
    return (path == NULL || strcmp(path, "-") == 0) && pt_message_color_fits(STDOUT_FILENO);
}

pt_exit_t pt_output_text(const char *path, const pt_paths_t *inputs,
                         const perftrace__strbuf_t *text) {
    pt_output_options_t how = {.inputs = inputs};
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_output_t *output;
    path = path != NULL ? path : "-";
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
