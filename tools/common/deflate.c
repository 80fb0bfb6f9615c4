/* deflate.c: pieces of a gzip member, packed independently. SPDX-License-Identifier: MIT */
#include "deflate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef PT_HAVE_ISAL
#    include "isal_leave.h"

#    include <isa-l.h>
#endif

#define PIECE_MAX  ((size_t)1 << 30)
#define STORED_MAX ((size_t)65535)

struct pt_deflater {
    pt_deflate_backend_t backend; /* ZLIB or ISAL */
    z_stream zlib;
#ifdef PT_HAVE_ISAL
    uint32_t level;
    uint8_t *level_buf; /* what ISA-L wants beside its stream, by level */
    uint32_t level_buf_size;
    struct isal_zstream isal;
#endif
};

bool pt_deflate_backend_available(pt_deflate_backend_t backend) {
#ifdef PT_HAVE_ISAL
    (void)backend;
    return true;
#else
    return backend != PT_DEFLATE_ISAL;
#endif
}

const char *pt_deflate_backend_name(pt_deflate_backend_t backend) {
#ifdef PT_HAVE_ISAL
#    define PT_I_TEXT(x)  #    x
#    define PT_I_VALUE(x) PT_I_TEXT(x)
    if (backend != PT_DEFLATE_ZLIB) {
        return "ISA-L " PT_I_VALUE(ISAL_MAJOR_VERSION) "." PT_I_VALUE(ISAL_MINOR_VERSION);
    }
#    undef PT_I_VALUE
#    undef PT_I_TEXT
#endif
    (void)backend;
    return "zlib " ZLIB_VERSION;
}

#ifdef PT_HAVE_ISAL
static bool init_isal(pt_deflater_t *deflater, int level) {
    static const uint32_t sizes[] = {ISAL_DEF_LVL0_DEFAULT, ISAL_DEF_LVL1_DEFAULT,
                                     ISAL_DEF_LVL2_DEFAULT, ISAL_DEF_LVL3_DEFAULT};
    deflater->backend = PT_DEFLATE_ISAL;
    deflater->level = (uint32_t)PT_MIN(level, ISAL_DEF_MAX_LEVEL);
    deflater->level_buf_size = sizes[deflater->level];
    deflater->level_buf = malloc(deflater->level_buf_size ? deflater->level_buf_size : 1);
    return deflater->level_buf != NULL;
}

/* The length of the packed piece; 0 when ISA-L could not. */
static size_t pack_isal(pt_deflater_t *deflater, const void *in, size_t len, void *out,
                        size_t cap) {
    struct isal_zstream *isal = &deflater->isal;
    isal_deflate_stateless_init(isal);
    isal->level = deflater->level;
    isal->level_buf = deflater->level_buf;
    isal->level_buf_size = deflater->level_buf_size;
    isal->flush = FULL_FLUSH; /* ends on a byte boundary, without a last block */
    isal->end_of_stream = 0;
    isal->next_in = (uint8_t *)in; /* the library does not write to it */
    isal->avail_in = (uint32_t)len;
    isal->next_out = out;
    isal->avail_out = (uint32_t)PT_MIN(cap, UINT32_MAX);
    int status = isal_deflate_stateless(isal);
    pt_isal_leave();
    return status == COMP_OK && isal->avail_in == 0 ? isal->total_out : 0;
}
#endif

pt_deflater_t *pt_deflater_new(int level, pt_deflate_backend_t backend) {
    if (level < 0 || level > 9) {
        return NULL;
    }
    pt_deflater_t *deflater = calloc(1, sizeof(*deflater));
    if (!deflater) {
        return NULL;
    }
#ifdef PT_HAVE_ISAL
    if (backend == PT_DEFLATE_ISAL || (backend == PT_DEFLATE_AUTO && level <= ISAL_DEF_MAX_LEVEL)) {
        if (!init_isal(deflater, level)) {
            free(deflater);
            return NULL;
        }
        return deflater;
    }
#else
    (void)backend;
#endif
    deflater->backend = PT_DEFLATE_ZLIB;
    if (deflateInit2(&deflater->zlib, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        free(deflater);
        return NULL;
    }
    return deflater;
}

void pt_deflater_free(pt_deflater_t *deflater) {
    if (!deflater) {
        return;
    }
    if (deflater->backend == PT_DEFLATE_ZLIB) {
        deflateEnd(&deflater->zlib);
    }
#ifdef PT_HAVE_ISAL
    free(deflater->level_buf);
#endif
    free(deflater);
}

/* Both libraries store what does not pack, at 5 bytes for 16 KiB at the worst; an eighth of a
 * percent and the constant leave room for their headers and the flush. */
size_t pt_deflate_bound(size_t len) {
    return len + (len >> 9) + 1024;
}

static size_t pack_zlib(z_stream *zlib, const void *in, size_t len, void *out, size_t cap) {
    deflateReset(zlib);
    zlib->next_in = (Bytef *)in; /* the library does not write to it */
    zlib->avail_in = (uInt)len;
    zlib->next_out = out;
    zlib->avail_out = (uInt)PT_MIN(cap, UINT32_MAX);
    size_t room = zlib->avail_out;
    if (deflate(zlib, Z_SYNC_FLUSH) != Z_OK || zlib->avail_in || zlib->avail_out == 0) {
        return 0;
    }
    return room - zlib->avail_out;
}

/* Stored blocks (RFC 1951, 3.2.4) need no library: whatever one says, the piece is not lost. */
static size_t store(const uint8_t *in, size_t len, uint8_t *out) {
    size_t o = 0;
    for (size_t done = 0; done < len;) {
        size_t n = PT_MIN(len - done, STORED_MAX);
        out[o] = 0; /* not the last block, type 0 */
        out[o + 1] = (uint8_t)(n & 0xff);
        out[o + 2] = (uint8_t)(n >> 8);
        out[o + 3] = (uint8_t)~out[o + 1];
        out[o + 4] = (uint8_t)~out[o + 2];
        memcpy(out + o + 5, in + done, n);
        o += 5 + n;
        done += n;
    }
    return o;
}

bool pt_deflater_pack(pt_deflater_t *deflater, const void *in, size_t len, void *out, size_t cap,
                      pt_deflate_block_t *ret_block) {
    *ret_block = (pt_deflate_block_t){.plain_len = len};
    if (len > PIECE_MAX || cap < pt_deflate_bound(len)) {
        return false;
    }
    if (len == 0) {
        return true;
    }
    size_t packed = 0;
#ifdef PT_HAVE_ISAL
    if (deflater->backend == PT_DEFLATE_ISAL) {
        packed = pack_isal(deflater, in, len, out, cap);
    }
#endif
    if (deflater->backend == PT_DEFLATE_ZLIB) {
        packed = pack_zlib(&deflater->zlib, in, len, out, cap);
    }
    ret_block->packed_len = packed ? packed : store(in, len, out);
    ret_block->crc = pt_crc32(0, in, len);
    return true;
}

uint32_t pt_crc32(uint32_t crc, const void *data, size_t len) {
    if (len == 0) {
        return crc;
    }
#ifdef PT_HAVE_ISAL
    crc = crc32_gzip_refl(crc, data, len);
    pt_isal_leave();
    return crc;
#else
    return (uint32_t)crc32_z(crc, data, len);
#endif
}

void pt_gzip_joiner_begin(pt_gzip_joiner_t *joiner, uint8_t out[PT_GZIP_HEADER_LEN]) {
    /* Magic, deflate, no flags, no time, no hints, system "Unix". */
    static const uint8_t header[PT_GZIP_HEADER_LEN] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    memcpy(out, header, sizeof(header));
    *joiner = (pt_gzip_joiner_t){.packed_len = sizeof(header)};
}

void pt_gzip_joiner_add(pt_gzip_joiner_t *joiner, const pt_deflate_block_t *block) {
    joiner->crc = (uint32_t)crc32_combine(joiner->crc, block->crc, (z_off_t)block->plain_len);
    joiner->plain_len += block->plain_len;
    joiner->packed_len += block->packed_len;
}

static void put_little_endian(uint8_t *p, uint32_t value) {
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (uint8_t)(value >> (8 * i));
    }
}

void pt_gzip_joiner_end(pt_gzip_joiner_t *joiner, uint8_t out[PT_GZIP_END_LEN]) {
    out[0] = 0x03; /* the last block, fixed codes, nothing but its end: ten bits */
    out[1] = 0x00;
    put_little_endian(out + 2, joiner->crc);
    put_little_endian(out + 6, (uint32_t)joiner->plain_len);
    joiner->packed_len += PT_GZIP_END_LEN;
}
