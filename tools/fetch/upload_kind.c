/* upload_kind.c. SPDX-License-Identifier: MIT */
#include "upload_kind.h"

#include "last_part.h"
#include "option.h"

#include <fnmatch.h>
#include <string.h>

static const char *const words[] = {
#define X(name, word, pattern, what) word,
    PT_UPLOAD_KINDS(X)
#undef X
        "other"};

static const char *const patterns[] = {
#define X(name, word, pattern, what) pattern,
    PT_UPLOAD_KINDS(X)
#undef X
        "*"};

const char *pt_upload_word(pt_upload_kind_t kind) {
    return words[kind];
}

const char *pt_upload_pattern(pt_upload_kind_t kind) {
    return patterns[kind];
}

pt_upload_kind_t pt_upload_kind_of(const char *path) {
    const char *name = pt_last_part(path);
    int kind = 0;
    while (kind < PT_UPLOAD_OTHER && fnmatch(patterns[kind], name, 0) != 0) {
        kind++;
    }
    return (pt_upload_kind_t)kind;
}

pt_upload_kind_t pt_upload_find(const char *word, const char **ret_nearest) {
    size_t kind = 0;
    while (kind < PT_UPLOAD_COUNT && strcmp(words[kind], word) != 0) {
        kind++;
    }
    if (kind == PT_UPLOAD_COUNT && ret_nearest) {
        int near = pt_nearest_name(word, words, PT_ARRAY_LEN(words));
        *ret_nearest = near >= 0 ? words[near] : NULL;
    }
    return (pt_upload_kind_t)kind;
}
