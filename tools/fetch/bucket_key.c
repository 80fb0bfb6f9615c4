/* bucket_key.c. SPDX-License-Identifier: MIT */
#include "bucket_key.h"

#define NAME_BYTES_MAX 255U  /* NAME_MAX of Linux's file systems */
#define PATH_BYTES_MAX 1024U /* of S3's keys */

static bool is(const char *part, size_t len, const char *name) {
    return strlen(name) == len && memcmp(part, name, len) == 0;
}

static const char *refuse_part(const char *part, size_t len) {
    if (len == 0) {
        return "a part of it is empty: it is absolute, or ends in a slash";
    }
    if (is(part, len, ".") || is(part, len, "..")) {
        return "it has a part . or .., which would lead elsewhere";
    }
    return len > NAME_BYTES_MAX ? "a part of it is longer than 255 bytes" : NULL;
}

const char *pt_bucket_key_refused(const char *path, size_t len) {
    static const char *const own[] = {PT_FETCH_STAGING, PT_FETCH_LOG, PT_FETCH_LOG_BROKEN};
    const char *end = path + len;
    if (memchr(path, '\0', len)) {
        return "it has a NUL character";
    }
    if (len > PATH_BYTES_MAX) {
        return "it is longer than 1,024 bytes";
    }
    for (const char *part = path;;) {
        const char *slash = memchr(part, '/', (size_t)(end - part));
        size_t n = (size_t)((slash ? slash : end) - part);
        const char *why = refuse_part(part, n);
        for (size_t i = 0; !why && part == path && i < PT_ARRAY_LEN(own); i++) {
            why = is(part, n, own[i]) ? "perf-trace-fetch keeps this name for itself" : NULL;
        }
        if (why || !slash) {
            return why;
        }
        part = slash + 1;
    }
}

void pt_bucket_key_pattern(const char *path, perftrace__strbuf_t *out) {
    for (; *path; path++) {
        bool special = *path == '*' || *path == '?' || *path == '[';
        perftrace__strbuf_printf(out, special ? "[%c]" : "%c", *path);
    }
}

/* The end first, then the slash, then the bytes. */
static int rank_of(char c) {
    return c == '\0' ? -2 : c == '/' ? -1 : (unsigned char)c;
}

int pt_bucket_key_compare(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return rank_of(*a) - rank_of(*b);
}

bool pt_bucket_key_covers(const char *a, const char *b) {
    size_t n = strlen(a);
    return strncmp(a, b, n) == 0 && (b[n] == '\0' || b[n] == '/');
}
