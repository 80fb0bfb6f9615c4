/* option_nearest.c: what a mistyped name was meant to be. SPDX-License-Identifier: MIT */
#include "option.h"

#include <string.h>

#define WORD_MAX 63 /* longer names are compared by their beginning */

/* Optimal string alignment: the table of Levenshtein's distance with one more step, the swap. Three
 * rows of it are enough. */
unsigned pt_edit_distance(const char *a, const char *b) {
    size_t na = PT_MIN(strlen(a), WORD_MAX);
    size_t nb = PT_MIN(strlen(b), WORD_MAX);
    unsigned rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= nb; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= na; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i - 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = PT_MIN(best, above[j] + 1);
            best = PT_MIN(best, row[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                best = PT_MIN(best, rows[(i - 2) % 3][j - 2] + 1);
            }
            row[j] = best;
        }
    }
    return rows[na % 3][nb];
}

int pt_nearest_name(const char *word, const char *const *names, size_t count) {
    int nearest = -1;
    unsigned least = (unsigned)PT_MAX(PT_MIN(strlen(word), WORD_MAX) / 3, 1) + 1;
    for (size_t i = 0; i < count; i++) {
        unsigned distance = pt_edit_distance(word, names[i]);
        if (distance < least) {
            least = distance;
            nearest = (int)i;
        }
    }
    return nearest;
}
