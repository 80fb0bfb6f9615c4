/* nearest_name.c: what somebody may have meant. SPDX-License-Identifier: MIT */
#include "nearest_name.h"

#include <ctype.h>
#include <string.h>

#define NAME_MAX_LEN 63
#define VERY_FAR     1000

unsigned perftrace__name_distance(const char *a, const char *b) {
    size_t na = strlen(a);
    size_t nb = strlen(b);
    if (na > NAME_MAX_LEN || nb > NAME_MAX_LEN) {
        return VERY_FAR;
    }
    /* Optimal string alignment: three rows of the table are enough to see swaps. */
    unsigned rows[3][NAME_MAX_LEN + 1];
    unsigned *before = rows[0];
    unsigned *last = rows[1];
    unsigned *row = rows[2];
    for (size_t j = 0; j <= nb; j++) {
        last[j] = (unsigned)j;
        before[j] = 0;
    }
    for (size_t i = 1; i <= na; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            int ca = tolower((unsigned char)a[i - 1]);
            int cb = tolower((unsigned char)b[j - 1]);
            unsigned best = last[j - 1] + (ca != cb);
            best = PT_MIN(best, last[j] + 1);
            best = PT_MIN(best, row[j - 1] + 1);
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
                cb == tolower((unsigned char)a[i - 2])) {
                best = PT_MIN(best, before[j - 2] + 1);
            }
            row[j] = best;
        }
        unsigned *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[nb];
}

unsigned perftrace__name_distance_limit(size_t len) {
    return len < 4 ? 1 : (unsigned)PT_MIN(len / 3, 4);
}
