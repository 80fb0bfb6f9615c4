/* convert_target.c: which operand is the output, and what it is called. SPDX-License-Identifier:
 * MIT */
#include "convert_target.h"

#include "convert_doc.h"
#include "input.h"
#include "message.h"
#include "trace_source.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool ends_with(const char *text, size_t len, const char *end) {
    size_t n = strlen(end);
    return len >= n && memcmp(text + len - n, end, n) == 0;
}

/* Sessions are no traces; what stands beside them in a run's folder is passed over. */
bool pt_convert_target_wanted(const char *name, void *ctx) {
    static const char *const wanted[] = {"*.jsonl", "*.jsonl.gz", "*.json",   "*.json.gz",
                                         "*.trace", "*.pfw",      "*.pfw.gz", "*.ndjson"};
    (void)ctx;
    if (fnmatch("sessions-*.jsonl*", name, 0) == 0) {
        return false;
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(wanted); i++) {
        if (fnmatch(wanted[i], name, 0) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_trace(const char *path) {
    pt_input_t *input = NULL;
    pt_source_t source;
    const char *data;
    bool trace = false;
    if (pt_input_open(path, NULL, &input, NULL) == 0) {
        pt_source_init(&source);
        size_t len = pt_input_peek(input, PT_SOURCE_PEEK, &data);
        pt_source_sniff(&source, data, len, len < PT_SOURCE_PEEK);
        trace = source.shape != PT_SHAPE_NONE;
        pt_source_free(&source);
        pt_input_close(input);
    }
    return trace;
}

int pt_convert_target_split(pt_convert_options_t *options, pt_string_list_t *operands) {
    struct stat st;
    if (options->output != NULL || options->check || operands->count != 2) {
        return PT_OPTION_GO_ON;
    }
    const char *out = operands->items[1];
    size_t len = strlen(out);
    if (strcmp(out, "-") != 0) {
        bool exists = stat(out, &st) == 0;
        bool like_input = ends_with(out, len, ".jsonl") || ends_with(out, len, ".jsonl.gz");
        if (exists && (S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && like_input))) {
            return PT_OPTION_GO_ON;
        }
        if (!exists && pt_glob_is_pattern(out)) {
            return PT_OPTION_GO_ON;
        }
        if (!exists && like_input) {
            return pt_option_usage_error(&pt_convert_tool,
                                         "%s does not exist, and is no name for a Chrome trace: "
                                         "give the output with -o",
                                         out);
        }
        if (exists && S_ISREG(st.st_mode) && st.st_size > 0 && is_trace(out)) {
            return pt_option_usage_error(&pt_convert_tool,
                                         "%s exists and is a trace: give -o %s to replace it, or "
                                         "-o and another name to merge both",
                                         out, out);
        }
    }
    options->output = out;
    operands->count = 1; /* the text stays the list's; freed with it below */
    return PT_OPTION_GO_ON;
}

static bool is_output(const char *path) {
    pt_input_t *input = NULL;
    const char *data;
    bool found = false;
    if (pt_input_open(path, NULL, &input, NULL) == 0) {
        size_t len = pt_input_peek(input, 160, &data);
        found = memmem(data, len, PT_CONVERT_MARK, sizeof PT_CONVERT_MARK - 1) != NULL;
        pt_input_close(input);
    }
    return found;
}

void pt_convert_target_prune(pt_paths_t *paths, const char *target) {
    struct stat st;
    size_t kept = 0;
    bool exists = target != NULL && stat(target, &st) == 0;
    for (size_t i = 0; i < paths->count; i++) {
        pt_path_t *p = &paths->items[i];
        size_t len = strlen(p->name);
        bool same = exists && p->device == st.st_dev && p->inode == st.st_ino;
        bool chrome = ends_with(p->name, len, ".json") || ends_with(p->name, len, ".json.gz");
        if (!p->named && (same || (chrome && is_output(p->name)))) {
            pt_note("%s: left out: it is an output of this tool", p->name);
            pt_path_free(p);
        } else {
            paths->items[kept++] = *p;
        }
    }
    paths->count = kept;
}

/* The length of the path of the folder that holds both; 0: the current one. */
static size_t common_parent(const char *a, const char *b, size_t len) {
    size_t same = 0, parent = 0;
    while (same < len && a[same] == b[same] && a[same] != '\0') {
        same++;
        if (a[same - 1] == '/') {
            parent = same;
        }
    }
    return parent;
}

void pt_convert_target_infer(const pt_string_list_t *operands, const pt_paths_t *paths,
                             const pt_convert_options_t *options, perftrace__strbuf_t *out) {
    struct stat st;
    const char *first = operands->items[0];
    const char *end = options->bundle ? ".tar" : ".json";
    if (operands->count == 1 && stat(first, &st) == 0 && S_ISDIR(st.st_mode)) {
        size_t len = strlen(first);
        while (len > 1 && first[len - 1] == '/') {
            len--;
        }
        perftrace__strbuf_append(out, first, len);
        perftrace__strbuf_puts(out, "/traces");
    } else if (paths->count == 1 && paths->items[0].is_stdin) {
        perftrace__strbuf_puts(out, "-");
        return;
    } else if (paths->count == 1) {
        static const char *const ends[] = {".jsonl.gz", ".jsonl", ".ndjson", ".pfw.gz", ".pfw"};
        const char *name = paths->items[0].name;
        size_t len = strlen(name), stem = len;
        for (size_t i = 0; i < PT_ARRAY_LEN(ends) && stem == len; i++) {
            stem -= ends_with(name, len, ends[i]) ? strlen(ends[i]) : 0;
        }
        perftrace__strbuf_append(out, name, stem);
        if (stem == len) {
            perftrace__strbuf_puts(out, ".converted"); /* trace.json must not meet itself */
        }
    } else {
        size_t len = strlen(paths->items[0].name);
        for (size_t i = 0; i < paths->count; i++) {
            len = common_parent(paths->items[0].name, paths->items[i].name, len);
        }
        perftrace__strbuf_append(out, paths->items[0].name, len);
        perftrace__strbuf_puts(out, "traces");
    }
    perftrace__strbuf_puts(out, end);
    if (options->gzip && !options->bundle) {
        perftrace__strbuf_puts(out, ".gz");
    }
}
