/* stream_pack.h: the bytes of a piece, packed and unpacked (pure). SPDX-License-Identifier: MIT
 *
 * Wraps zlib (RFC 1950). One at a time per object. */
#ifndef PERFTRACE_STREAM_STREAM_PACK_H
#define PERFTRACE_STREAM_STREAM_PACK_H

#include "strbuf.h"

typedef struct perftrace__stream_packer perftrace__stream_packer_t;
typedef struct perftrace__stream_unpacker perftrace__stream_unpacker_t;

/* level: 1 to 9. NULL without memory. */
perftrace__stream_packer_t *perftrace__stream_packer_new(int level);
void perftrace__stream_packer_free(perftrace__stream_packer_t *p); /* accepts NULL */
/* Appends the packed bytes to out. False without memory; then out is as it was. */
bool perftrace__stream_pack(perftrace__stream_packer_t *p, const void *data, size_t len,
                            perftrace__strbuf_t *out);

perftrace__stream_unpacker_t *perftrace__stream_unpacker_new(void);
void perftrace__stream_unpacker_free(perftrace__stream_unpacker_t *u); /* accepts NULL */
/* Unpacks into out, which has room for size bytes. False when the bytes are damaged or do not give
 * exactly size bytes. */
bool perftrace__stream_unpack(perftrace__stream_unpacker_t *u, const void *packed, size_t len,
                              void *out, size_t size);

#endif
