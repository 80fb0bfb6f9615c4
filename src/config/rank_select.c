/* rank_select.c: which ranks record. SPDX-License-Identifier: MIT */
#include "rank_select.h"

#include <perftrace/status.h>

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const char *skip_blanks(const char *p) {
    while (*p == ' ' || *p == '\t') {
        p++;
    }
    return p;
}

/* Reads a rank at *p and moves past it. */
static bool take_rank(const char **p, int *ret) {
    const char *s = *p;
    int v = 0;
    if (*s < '0' || *s > '9') {
        return false;
    }
    for (; *s >= '0' && *s <= '9'; s++) {
        int digit = *s - '0';
        if (v > (INT_MAX - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }
    *p = s;
    *ret = v;
    return true;
}

/* Whether the text is this word, blanks around it aside. */
static bool is_word(const char *text, const char *word) {
    size_t n = strlen(word);
    return strncasecmp(text, word, n) == 0 && *skip_blanks(text + n) == '\0';
}

int perftrace__rank_selected(const char *selection, int rank, int *ret_selected) {
    *ret_selected = 1;
    const char *p = skip_blanks(selection ? selection : "");
    if (*p == '\0' || is_word(p, "all")) {
        return PERFTRACE_OK;
    }
    if (is_word(p, "none")) {
        *ret_selected = 0;
        return PERFTRACE_OK;
    }
    bool found = rank < 0;
    for (;; p++) {
        int first;
        int last;
        p = skip_blanks(p);
        if (!take_rank(&p, &first)) {
            return PERFTRACE_ERR_PARSE;
        }
        last = first;
        p = skip_blanks(p);
        if (*p == '-') {
            p = skip_blanks(p + 1);
            if (!take_rank(&p, &last) || last < first) {
                return PERFTRACE_ERR_PARSE;
            }
            p = skip_blanks(p);
        }
        found = found || (rank >= first && rank <= last);
        if (*p == '\0') {
            break;
        }
        if (*p != ',') {
            return PERFTRACE_ERR_PARSE;
        }
    }
    *ret_selected = found;
    return PERFTRACE_OK;
}
