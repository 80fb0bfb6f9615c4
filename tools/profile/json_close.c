/* json_close.c. SPDX-License-Identifier: MIT */
#include "json_close.h"

#include "json_scan.h"

/* The closing bracket of each container that is open, outermost first. */
typedef struct open_brackets {
    char closer[PERFTRACE__JSON_MAX_DEPTH];
    size_t depth;
} open_brackets_t;

/* The byte behind the string whose opening quote is at p; end when it does not end. */
static const char *skip_string(const char *p, const char *end) {
    for (p++; p < end && *p != '"'; p++) {
        p += *p == '\\' ? 1 : 0;
    }
    return p < end ? p + 1 : end;
}

bool pt_json_close(const char *text, size_t len, perftrace__strbuf_t *out) {
    open_brackets_t now = {.depth = 0}, at_comma = {.depth = 0};
    const char *end = text + len, *comma = NULL;
    for (const char *p = text; p < end;) {
        if (*p == '"') {
            p = skip_string(p, end);
            continue;
        }
        if (*p == '{' || *p == '[') {
            if (now.depth == PT_ARRAY_LEN(now.closer)) {
                break;
            }
            now.closer[now.depth++] = *p == '{' ? '}' : ']';
        } else if (*p == '}' || *p == ']') {
            now.depth -= now.depth > 0 ? 1 : 0;
        } else if (*p == ',') {
            comma = p;
            at_comma.depth = now.depth;
            memcpy(at_comma.closer, now.closer, now.depth);
        }
        p++;
    }
    if (comma == NULL) {
        return false;
    }
    perftrace__strbuf_append(out, text, (size_t)(comma - text));
    while (at_comma.depth > 0) {
        perftrace__strbuf_putc(out, at_comma.closer[--at_comma.depth]);
    }
    return !out->failed;
}
