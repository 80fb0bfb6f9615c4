/* rank_select.c: which ranks record. SPDX-License-Identifier: MIT */
#include "rank_select.h"

#include "number_list.h"

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
        size_t len = strcspn(p, ",");
        perftrace__number_range_t range;
        if (!perftrace__number_range_parse(p, len, &range) || range.last > INT_MAX) {
            return PERFTRACE_ERR_PARSE;
        }
        found = found || (rank >= range.first && rank <= range.last);
        p += len;
        if (*p == '\0') {
            break;
        }
    }
    *ret_selected = found;
    return PERFTRACE_OK;
}
