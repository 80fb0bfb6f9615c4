/* name_cut.c: names that must not exceed a length. SPDX-License-Identifier: MIT */
#include "name_cut.h"

#include "hashmap.h"
#include "utf8.h"

#include <stdio.h>

#define HASH_CHARS (PERFTRACE__NAME_HASH + 1) /* with the '-' */
/* Fixed, so that all ranks and all runs cut a label to the same name. */
#define LABEL_SEED 0x70657266u

void perftrace__name_hash(const char *text, size_t len, char ret[PERFTRACE__NAME_HASH + 1]) {
    uint64_t hash = perftrace__hash_bytes(text, len, LABEL_SEED);
    snprintf(ret, PERFTRACE__NAME_HASH + 1, "%08x", (unsigned)(hash ^ hash >> 32));
}

void perftrace__name_cut(perftrace__strbuf_t *b, size_t start, size_t room, const char *text,
                         size_t len) {
    if (b->failed || b->len - start <= room) {
        return;
    }
    char hash[PERFTRACE__NAME_HASH + 1];
    perftrace__name_hash(text, len, hash);
    b->len = start + perftrace__utf8_cut(b->data + start, b->len - start, room - HASH_CHARS);
    perftrace__strbuf_printf(b, "-%s", hash);
}
