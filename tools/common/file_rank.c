/* file_rank.c: the rank that a file's name tells. SPDX-License-Identifier: MIT */
#include "file_rank.h"

#include "compiler.h"
#include "last_part.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int64_t pt_file_rank(const char *path) {
    const char *name = pt_last_part(path);
    int64_t rank = -1;
    for (const char *p = name; *p != '\0'; p++) {
        if (*p != 'r' || (p > name && isalnum((unsigned char)p[-1]))) {
            continue;
        }
        const char *digits = p + 1;
        if (strncmp(p, "rank", 4) == 0) {
            digits = p + 4;
            digits += *digits == '-' || *digits == '_';
        }
        char *end;
        if (!isdigit((unsigned char)*digits)) {
            continue;
        }
        long long v = strtoll(digits, &end, 10);
        if (!isalnum((unsigned char)*end) && v < INT32_MAX) {
            rank = v;
        }
    }
    return rank;
}

/* The number behind a dimension's letters, as in TP-3 or tp3; -1: not there. */
static int64_t dimension(const char *name, const char *letters) {
    size_t n = strlen(letters);
    for (const char *p = name; (p = strcasestr(p, letters)) != NULL; p++) {
        const char *digits = p + n + (p[n] == '-' || p[n] == '_');
        if ((p == name || !isalnum((unsigned char)p[-1])) && isdigit((unsigned char)*digits)) {
            char *end;
            long v = strtol(digits, &end, 10);
            if (!isalnum((unsigned char)*end) && v >= 0 && v < INT32_MAX) {
                return v;
            }
        }
    }
    return -1;
}

int64_t pt_file_rank_or_tp(const char *path) {
    static const char *const others[] = {"pp", "dp", "ep", "cp"};
    int64_t rank = pt_file_rank(path);
    const char *name = pt_last_part(path);
    if (rank >= 0) {
        return rank;
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(others); i++) {
        if (dimension(name, others[i]) > 0) {
            return -1; /* which rank that is depends on how the dimensions are laid out */
        }
    }
    return dimension(name, "tp");
}
