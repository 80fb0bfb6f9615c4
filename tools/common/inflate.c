/* inflate.c: raw deflate data unpacked by zlib or ISA-L, alike. SPDX-License-Identifier: MIT */
#include "inflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef PT_HAVE_ISAL
#    include "isal_leave.h"

#    include <isa-l/igzip_lib.h>
#endif

struct pt_inflater {
    pt_inflate_backend_t backend; /* ZLIB or ISAL */
    z_stream zlib;
#ifdef PT_HAVE_ISAL
    struct inflate_state isal; /* holds an output window of 64 KiB and more */
#endif
};

bool pt_inflate_backend_available(pt_inflate_backend_t backend) {
#ifdef PT_HAVE_ISAL
    (void)backend;
    return true;
#else
    return backend != PT_INFLATE_ISAL;
#endif
}

pt_inflater_t *pt_inflater_new(pt_inflate_backend_t backend) {
    pt_inflater_t *inflater = calloc(1, sizeof(*inflater));
    if (!inflater) {
        return NULL;
    }
    inflater->backend = PT_INFLATE_ZLIB;
#ifdef PT_HAVE_ISAL
    if (backend != PT_INFLATE_ZLIB) {
        inflater->backend = PT_INFLATE_ISAL;
        pt_inflater_reset(inflater);
        return inflater;
    }
#else
    (void)backend;
#endif
    if (inflateInit2(&inflater->zlib, -MAX_WBITS) != Z_OK) {
        free(inflater);
        return NULL;
    }
    return inflater;
}

void pt_inflater_free(pt_inflater_t *inflater) {
    if (!inflater) {
        return;
    }
    if (inflater->backend == PT_INFLATE_ZLIB) {
        inflateEnd(&inflater->zlib);
    }
    free(inflater);
}

void pt_inflater_reset(pt_inflater_t *inflater) {
#ifdef PT_HAVE_ISAL
    if (inflater->backend == PT_INFLATE_ISAL) {
        isal_inflate_init(&inflater->isal);
        inflater->isal.crc_flag =
            ISAL_DEFLATE; /* no header, no trailer: those are read by input.c */
        return;
    }
#endif
    inflateReset(&inflater->zlib);
}

#ifdef PT_HAVE_ISAL
static pt_inflate_result_t run_isal(struct inflate_state *isal, const uint8_t *in, size_t in_len,
                                    uint8_t *out, size_t out_cap, int64_t *ret_used,
                                    size_t *ret_made) {
    isal->next_in = (uint8_t *)in; /* the library does not write to it */
    isal->avail_in = (uint32_t)in_len;
    isal->next_out = out;
    isal->avail_out = (uint32_t)out_cap;
    int status = isal_inflate(isal);
    pt_isal_leave();
    *ret_made = out_cap - isal->avail_out;
    /* Not by avail_in: on its error path the library leaves that short by its read-ahead, which may
     * even wrap around. */
    *ret_used = isal->next_in - in;
    /* Whole bytes fetched ahead of the last symbol. */
    int64_t ahead = isal->read_in_length > 0 ? isal->read_in_length / 8 : 0;
    if (status < 0) {
        *ret_used -= ahead;
        return PT_INFLATE_BAD;
    }
    /* The window inside the state may hold more than fitted into out: it is done when that is out.
     */
    if (isal->block_state != ISAL_BLOCK_FINISH || isal->tmp_out_valid != isal->tmp_out_processed) {
        return PT_INFLATE_MORE;
    }
    *ret_used -= ahead;
    return PT_INFLATE_DONE;
}
#endif

static pt_inflate_result_t run_zlib(z_stream *zlib, const uint8_t *in, size_t in_len, uint8_t *out,
                                    size_t out_cap, int64_t *ret_used, size_t *ret_made) {
    zlib->next_in = (Bytef *)in;
    zlib->avail_in = (uInt)in_len;
    zlib->next_out = out;
    zlib->avail_out = (uInt)out_cap;
    int status = inflate(zlib, Z_NO_FLUSH);
    *ret_made = out_cap - zlib->avail_out;
    *ret_used = (int64_t)(in_len - zlib->avail_in);
    if (status == Z_STREAM_END) {
        return PT_INFLATE_DONE;
    }
    /* Z_BUF_ERROR only says that nothing could be done this time. */
    return status == Z_OK || status == Z_BUF_ERROR ? PT_INFLATE_MORE : PT_INFLATE_BAD;
}

pt_inflate_result_t pt_inflater_run(pt_inflater_t *inflater, const uint8_t *in, size_t in_len,
                                    uint8_t *out, size_t out_cap, int64_t *ret_used,
                                    size_t *ret_made) {
#ifdef PT_HAVE_ISAL
    if (inflater->backend == PT_INFLATE_ISAL) {
        return run_isal(&inflater->isal, in, in_len, out, out_cap, ret_used, ret_made);
    }
#endif
    return run_zlib(&inflater->zlib, in, in_len, out, out_cap, ret_used, ret_made);
}
