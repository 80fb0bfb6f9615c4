/* gunzip.h: the members of a gzip file as one stream. SPDX-License-Identifier: MIT
 *
 * Below input.c only. Not thread-safe. */
#ifndef PERFTRACE_COMMON_GUNZIP_H
#define PERFTRACE_COMMON_GUNZIP_H

#include "compiler.h"
#include "gzip_header.h"
#include "inflate.h"
#include "raw_source.h"

typedef enum pt_gunzip_state {
    PT_GUNZIP_HEADER,
    PT_GUNZIP_BODY,
    PT_GUNZIP_TRAILER,
    PT_GUNZIP_BETWEEN, /* behind a member */
    PT_GUNZIP_END      /* see damage */
} pt_gunzip_state_t;

typedef struct pt_gunzip {
    pt_raw_source_t *raw;
    pt_inflater_t *inflater;
    pt_gunzip_state_t state;
    pt_gzip_header_t header;
    uint32_t crc;        /* of this member */
    uint64_t member_len; /* plain bytes of this member */
    uint8_t trailer[8];
    unsigned trailer_len;
    uint64_t plain_len; /* of all members so far */
    pt_input_damage_t damage;
    const char *what; /* a clause that says what the damage is: "the gzip data is cut off" */
} pt_gunzip_t;

/* raw stays the caller's and must stand at the first byte. False without memory. */
bool pt_gunzip_init(pt_gunzip_t *gunzip, pt_raw_source_t *raw, pt_inflate_backend_t backend);
/* A zeroed structure is accepted. */
void pt_gunzip_free(pt_gunzip_t *gunzip);

/* Unpacks size bytes, fewer only when the state is PT_GUNZIP_END afterwards. */
size_t pt_gunzip_read(pt_gunzip_t *gunzip, void *out, size_t size);

#endif
