/* describe_main.c: perf-trace-describe. SPDX-License-Identifier: MIT */
#include "describe_options.h"
#include "describe_read.h"
#include "describe_report.h"
#include "message.h"
#include "output.h"
#include "paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files met in directories: traces, and what has a name that can be read. */
static bool is_wanted(const char *name, void *ctx) {
    perftrace_trace_name_t n = PERFTRACE_TRACE_NAME_INIT;
    char text[PERFTRACE_TRACE_NAME_MAX + 1];
    const size_t len = strlen(name);
    (void)ctx;
    return (len > 6 && strcmp(name + len - 6, ".jsonl") == 0) ||
           (len > 9 && strcmp(name + len - 9, ".jsonl.gz") == 0) ||
           perftrace_trace_describe(name, &n, text, sizeof(text)) == 0;
}

static pt_exit_t out_of_memory(void) {
    pt_error("out of memory");
    return PT_EXIT_INTERNAL;
}

static pt_exit_t judge(const pt_described_t *d, bool opened) {
    if (!d->by_name && !d->by_header) {
        pt_warn("%s: its name is of another form%s", d->path,
                opened ? ", and it has no header of libperftrace" : "");
        return PT_EXIT_PROBLEMS;
    }
    if (d->doubt) {
        pt_warn("%s: name and header tell another %s: was it renamed?", d->path, d->doubt);
    }
    return PT_EXIT_OK;
}

/* The worse of two: the list of statuses is in that order. */
static pt_exit_t worse(pt_exit_t a, pt_exit_t b) {
    return PT_MAX(a, b);
}

static pt_exit_t describe_names(const pt_string_list_t *operands, pt_described_t *files,
                                size_t *ret_count) {
    pt_exit_t status = PT_EXIT_OK;
    for (size_t i = 0; i < operands->count; i++) {
        if (!pt_described_name(&files[(*ret_count)++], operands->items[i])) {
            return out_of_memory();
        }
        status = worse(status, judge(&files[i], false));
    }
    return status;
}

static pt_exit_t describe_files(const pt_paths_t *paths, pt_described_t *files, size_t *ret_count) {
    pt_exit_t status = PT_EXIT_OK;
    for (size_t i = 0; i < paths->count; i++) {
        const pt_path_t *path = &paths->items[i];
        pt_described_t *d = &files[*ret_count];
        if (!pt_described_name(d, path->name)) {
            (*ret_count)++;
            return out_of_memory();
        }
        pt_exit_t read = pt_describe_read(d);
        status = worse(status, read);
        if (read != PT_EXIT_OK) {
            pt_described_free(d);
            continue;
        }
        d->size = path->regular ? (int64_t)path->size : -1;
        status = worse(status, judge(d, true));
        (*ret_count)++;
    }
    return status;
}

static pt_exit_t print(const pt_described_t *files, size_t count, bool json) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    if (json) {
        pt_report_t report = PT_REPORT_INIT;
        pt_describe_report(files, count, &report);
        perftrace__strbuf_puts(
            &out, "{\"perftrace_describe\": {\"version\": \"" PERFTRACE_TOOL_VERSION "\"},\n");
        pt_report_print_json(&report, &out);
        perftrace__strbuf_puts(&out, "}\n");
        out.failed = out.failed || pt_report_failed(&report);
        pt_report_free(&report);
    } else {
        pt_describe_text(files, count, &out);
    }
    pt_exit_t status = out.failed ? out_of_memory() : PT_EXIT_OK;
    if (!status && (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)) {
        pt_error("standard output: %s", strerror(errno));
        status = PT_EXIT_OUTPUT;
    }
    perftrace__strbuf_free(&out);
    return status;
}

static pt_exit_t describe(const pt_describe_options_t *o, const pt_string_list_t *operands) {
    pt_paths_t paths = PT_PATHS_INIT;
    pt_paths_request_t request = {.filter = is_wanted,
                                  .looked_for = "traces or names that tell what is in a file"};
    pt_exit_t status = PT_EXIT_OK;
    if (!o->names_only) {
        status = pt_paths_collect(&request, operands->items, operands->count, &paths);
    }
    const size_t most = o->names_only ? operands->count : paths.count;
    size_t count = 0;
    pt_described_t *files = calloc(most + 1, sizeof(*files));
    if (!files) {
        status = out_of_memory();
    } else {
        status = worse(status, o->names_only ? describe_names(operands, files, &count)
                                             : describe_files(&paths, files, &count));
    }
    if (count && status != PT_EXIT_INTERNAL) {
        status = worse(status, print(files, count, o->json));
    }
    for (size_t i = 0; i < count; i++) {
        pt_described_free(&files[i]);
    }
    free(files);
    pt_paths_free(&paths);
    return status;
}

int main(int argc, char **argv) {
    pt_message_init("perf-trace-describe", argv[0], PT_NORMAL);
    pt_output_catch_signals();
    pt_describe_options_t options;
    pt_string_list_t operands = PT_STRING_LIST_INIT;
    int status = pt_describe_options_parse(&options, argc, argv, &operands);
    if (status == PT_OPTION_GO_ON) {
        status = (int)describe(&options, &operands);
    }
    pt_string_list_free(&operands);
    return status;
}
