/* aws_command.c. SPDX-License-Identifier: MIT */
#include "aws_command.h"

#include "bucket_key.h"

#include <inttypes.h>
#include <stdarg.h>

/* The CLI compares each object of the prefix with each pattern, and keeps so many of them compiled
 * (Python's fnmatch, 256 before 3.9). */
#define PATTERNS_MAX      200U
#define PATTERN_BYTES_MAX 65536U

static bool add(pt_string_list_t *argv, const char *fmt, ...) PT_PRINTF(2, 3);

static bool add(pt_string_list_t *argv, const char *fmt, ...) {
    perftrace__strbuf_t word = PERFTRACE__STRBUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    perftrace__strbuf_vprintf(&word, fmt, ap);
    va_end(ap);
    bool added = !word.failed && pt_string_list_add(argv, perftrace__strbuf_cstr(&word));
    perftrace__strbuf_free(&word);
    return added;
}

/* Values stand in the same word as their option: one that begins with a dash is no option. */
static bool add_common(const pt_aws_t *aws, pt_string_list_t *argv) {
    return pt_string_list_add(argv, aws->program) &&
           (!aws->endpoint_url || add(argv, "--endpoint-url=%s", aws->endpoint_url)) &&
           (!aws->no_sign_request || pt_string_list_add(argv, "--no-sign-request")) &&
           add(argv, "--cli-connect-timeout=%" PRIu64, aws->timeout_s) &&
           add(argv, "--cli-read-timeout=%" PRIu64, aws->timeout_s);
}

bool pt_aws_list(const pt_aws_t *aws, pt_string_list_t *argv) {
    return add_common(aws, argv) && pt_string_list_add(argv, "s3api") &&
           pt_string_list_add(argv, "list-objects-v2") && add(argv, "--bucket=%s", aws->bucket) &&
           add(argv, "--prefix=%s", aws->prefix) && add(argv, "--query=%s", PT_BUCKET_LIST_QUERY) &&
           pt_string_list_add(argv, "--output=json");
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
              pt_string_list_add(argv, "cp") && add(argv, "s3://%s/%s", aws->bucket, aws->prefix) &&
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
