/* text_sampler.c: makes text that reads like a given one. SPDX-License-Identifier: MIT */
#include "text_sampler.h"

#include <string.h>

#define ORDER 4

size_t sampler_random(uint64_t *random, size_t limit) {
    *random = *random * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(*random >> 33) % limit;
}

/* Where piece stands at or after `from`; NULL: nowhere. A plain loop: the sanitizers would look at
 * the whole text in each call of memmem. */
static const unsigned char *find(const char_text_t *text, const unsigned char *from,
                                 const unsigned char *piece, size_t len) {
    uint32_t start;
    uint32_t here;
    memcpy(&start, piece, sizeof(start));
    for (const unsigned char *p = from; p + len <= text->codes + text->count; p++) {
        memcpy(&here, p, sizeof(here));
        if (here == start && memcmp(p + 4, piece + 4, len - 4) == 0) {
            return p;
        }
    }
    return NULL;
}

unsigned char sampler_next(const char_text_t *text, const unsigned char *sample, size_t len,
                           uint64_t *random) {
    const unsigned char *last = sample + len - ORDER;
    const unsigned char *end = text->codes + text->count - ORDER;
    unsigned char next = text->codes[sampler_random(random, text->count)];
    size_t found = 0;
    for (const unsigned char *p = text->codes; (p = find(text, p, last, ORDER)) != NULL && p < end;
         p++) {
        found++;
        if (sampler_random(random, found) == 0) {
            next = p[ORDER]; /* each place is as likely as the others */
        }
    }
    return next;
}

size_t sampler_count(const char_text_t *text, const unsigned char *piece, size_t len) {
    size_t found = 0;
    for (const unsigned char *p = text->codes; (p = find(text, p, piece, len)) != NULL; p++) {
        found++;
    }
    return found;
}
