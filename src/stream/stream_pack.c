/* stream_pack.c. SPDX-License-Identifier: MIT */
#include "stream_pack.h"

#include "stream_message.h"

#include <stdlib.h>
#include <zlib.h>

struct perftrace__stream_packer {
    z_stream z;
};

struct perftrace__stream_unpacker {
    z_stream z;
};

perftrace__stream_packer_t *perftrace__stream_packer_new(int level) {
    perftrace__stream_packer_t *p = calloc(1, sizeof *p);
    if (p && deflateInit(&p->z, level) != Z_OK) {
        free(p);
        return NULL;
    }
    return p;
}

void perftrace__stream_packer_free(perftrace__stream_packer_t *p) {
    if (p) {
        deflateEnd(&p->z);
        free(p);
    }
}

bool perftrace__stream_pack(perftrace__stream_packer_t *p, const void *data, size_t len,
                            perftrace__strbuf_t *out) {
    if (len > PERFTRACE__STREAM_PIECE_MAX || deflateReset(&p->z) != Z_OK) {
        return false;
    }
    uLong room = deflateBound(&p->z, (uLong)len);
    if (!perftrace__strbuf_reserve(out, room)) {
        return false;
    }
    p->z.next_in = (z_const Bytef *)data;
    p->z.avail_in = (uInt)len;
    p->z.next_out = (Bytef *)out->data + out->len;
    p->z.avail_out = (uInt)room;
    if (deflate(&p->z, Z_FINISH) != Z_STREAM_END) {
        return false;
    }
    out->len += p->z.total_out;
    out->data[out->len] = '\0';
    return true;
}

perftrace__stream_unpacker_t *perftrace__stream_unpacker_new(void) {
    perftrace__stream_unpacker_t *u = calloc(1, sizeof *u);
    if (u && inflateInit(&u->z) != Z_OK) {
        free(u);
        return NULL;
    }
    return u;
}

void perftrace__stream_unpacker_free(perftrace__stream_unpacker_t *u) {
    if (u) {
        inflateEnd(&u->z);
        free(u);
    }
}

bool perftrace__stream_unpack(perftrace__stream_unpacker_t *u, const void *packed, size_t len,
                              void *out, size_t size) {
    if (len > PERFTRACE__STREAM_PACKED_MAX || size > PERFTRACE__STREAM_PIECE_MAX ||
        inflateReset(&u->z) != Z_OK) {
        return false;
    }
    u->z.next_in = (z_const Bytef *)packed;
    u->z.avail_in = (uInt)len;
    u->z.next_out = out;
    u->z.avail_out = (uInt)size;
    /* Ended, with all that came used and all that was promised there. */
    return inflate(&u->z, Z_FINISH) == Z_STREAM_END && u->z.avail_in == 0 && u->z.avail_out == 0;
}
