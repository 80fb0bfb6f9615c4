/* aws_command.c. SPDX-License-Identifier: MIT */
#include "aws_command.h"

#include "bucket_key.h"

#include <inttypes.h>
#include <stdio.h>

/* The CLI compares each object of the prefix with each pattern, and keeps so many of them compiled
 * (Python's fnmatch, 256 before 3.9). */
#define PATTERNS_MAX      200U
#define PATTERN_BYTES_MAX 65536U

static bool add_text(pt_string_list_t *argv, const char *name, const char *value) {
    perftrace__strbuf_t word = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&word, "%s%s", name, value);
    bool added = !word.failed && pt_string_list_add(argv, perftrace__strbuf_cstr(&word));
    perftrace__strbuf_free(&word);
    return added;
}

static bool add_number(pt_string_list_t *argv, const char *name, uint64_t value) {
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    return add_text(argv, name, text);
}

/* Values stand in the same word as their option: one that begins with a dash is no option. */
static bool add_common(const pt_aws_t *aws, pt_string_list_t *argv) {
    return pt_string_list_add(argv, aws->program) &&
           (!aws->endpoint_url || add_text(argv, "--endpoint-url=", aws->endpoint_url)) &&
           (!aws->no_sign_request || pt_string_list_add(argv, "--no-sign-request")) &&
           add_number(argv, "--cli-connect-timeout=", aws->timeout_s) &&
           add_number(argv, "--cli-read-timeout=", aws->timeout_s);
}

bool pt_aws_list(const pt_aws_t *aws, pt_string_list_t *argv) {
    return add_common(aws, argv) && pt_string_list_add(argv, "s3api") &&
           pt_string_list_add(argv, "list-objects-v2") &&
           add_text(argv, "--bucket=", aws->bucket) && add_text(argv, "--prefix=", aws->prefix) &&
           add_text(argv, "--query=", PT_BUCKET_LIST_QUERY) &&
           pt_string_list_add(argv, "--output=json");
}

static bool add_source(const pt_aws_t *aws, pt_string_list_t *argv) {
    perftrace__strbuf_t word = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&word, "s3://%s/%s", aws->bucket, aws->prefix);
    bool added = !word.failed && pt_string_list_add(argv, perftrace__strbuf_cstr(&word));
    perftrace__strbuf_free(&word);
    return added;
}

static bool add_pattern(pt_string_list_t *argv, const char *path, size_t *bytes) {
    perftrace__strbuf_t word = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_puts(&word, "--include=");
    pt_bucket_key_pattern(path, &word);
    bool added = !word.failed && pt_string_list_add(argv, perftrace__strbuf_cstr(&word));
    *bytes += word.len;
    perftrace__strbuf_free(&word);
    return added;
}

bool pt_aws_copy(const pt_aws_t *aws, const pt_bucket_list_t *list, const char *folder, size_t *at,
                 pt_string_list_t *argv) {
    bool ok = add_common(aws, argv) && pt_string_list_add(argv, "s3") &&
              pt_string_list_add(argv, "cp") && add_source(aws, argv) &&
              pt_string_list_add(argv, folder) && pt_string_list_add(argv, "--recursive") &&
              pt_string_list_add(argv, "--only-show-errors");
    if (pt_bucket_list_count(list, PT_OBJECT_WANTED, NULL) == list->count) {
        *at = list->count;
        return ok;
    }
    ok = ok && pt_string_list_add(argv, "--exclude=*");
    size_t bytes = 0;
    for (size_t n = 0; ok && *at < list->count && n < PATTERNS_MAX && bytes < PATTERN_BYTES_MAX;
         (*at)++) {
        if (list->items[*at].state == PT_OBJECT_WANTED) {
            ok = add_pattern(argv, list->items[*at].path, &bytes);
            n++;
        }
    }
    return ok;
}
