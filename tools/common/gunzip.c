/* gunzip.c: the members of a gzip file as one stream. SPDX-License-Identifier: MIT */
#include "gunzip.h"

#include "deflate.h"

#define CALL_MAX ((size_t)1 << 29) /* the libraries count in 32 bits */

bool pt_gunzip_init(pt_gunzip_t *gunzip, pt_raw_source_t *raw, pt_inflate_backend_t backend) {
    *gunzip = (pt_gunzip_t){.raw = raw, .inflater = pt_inflater_new(backend)};
    return gunzip->inflater != NULL;
}

void pt_gunzip_free(pt_gunzip_t *gunzip) {
    pt_inflater_free(gunzip->inflater);
    gunzip->inflater = NULL;
}

static void stop(pt_gunzip_t *g, pt_input_damage_t damage, const char *what) {
    g->state = PT_GUNZIP_END;
    g->damage = damage;
    g->what = what;
}

/* The file's bytes are used up where more were needed. */
static void cut_off(pt_gunzip_t *g) {
    if (g->raw->error) {
        stop(g, PT_INPUT_IO, NULL);
    } else {
        stop(g, PT_INPUT_TRUNCATED, "the gzip data is cut off");
    }
}

static void read_header(pt_gunzip_t *g) {
    if (pt_raw_source_fill(g->raw, 1) == 0) {
        cut_off(g);
        return;
    }
    size_t used;
    pt_gzip_header_result_t result =
        pt_gzip_header_feed(&g->header, g->raw->cur, g->raw->left, &used);
    pt_raw_source_skip(g->raw, (int64_t)used);
    if (result == PT_GZIP_HEADER_BAD) {
        stop(g, PT_INPUT_CORRUPT, "the gzip header is damaged");
    } else if (result == PT_GZIP_HEADER_DONE) {
        pt_inflater_reset(g->inflater);
        g->crc = 0;
        g->member_len = 0;
        g->state = PT_GUNZIP_BODY;
    }
}

static size_t read_body(pt_gunzip_t *g, uint8_t *out, size_t size) {
    /* At the end of the file the call is still made: the inflater may hold finished output. */
    size_t in_len = PT_MIN(pt_raw_source_fill(g->raw, 1), CALL_MAX);
    int64_t used;
    size_t made;
    pt_inflate_result_t result = pt_inflater_run(g->inflater, g->raw->cur, in_len, out,
                                                 PT_MIN(size, CALL_MAX), &used, &made);
    pt_raw_source_skip(g->raw, used);
    g->crc = pt_crc32(g->crc, out, made);
    g->member_len += made;
    g->plain_len += made;
    if (result == PT_INFLATE_DONE) {
        g->trailer_len = 0;
        g->state = PT_GUNZIP_TRAILER;
    } else if (result == PT_INFLATE_MORE && made == 0 && in_len == 0) {
        cut_off(g);
    } else if (result == PT_INFLATE_BAD || (made == 0 && used == 0)) {
        /* Input and room for output, yet no step forward: never loop on what a library does not
         * say. */
        stop(g, PT_INPUT_CORRUPT, "the gzip data is damaged");
    }
    return made;
}

static uint32_t little_endian(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void read_trailer(pt_gunzip_t *g) {
    while (g->trailer_len < sizeof(g->trailer)) {
        if (pt_raw_source_fill(g->raw, 1) == 0) {
            cut_off(g);
            return;
        }
        g->trailer[g->trailer_len++] = *g->raw->cur;
        pt_raw_source_skip(g->raw, 1);
    }
    if (little_endian(g->trailer) != g->crc) {
        stop(g, PT_INPUT_CORRUPT, "the check sum of the gzip data does not fit");
    } else if (little_endian(g->trailer + 4) != (uint32_t)g->member_len) {
        stop(g, PT_INPUT_CORRUPT, "the length in the gzip data does not fit");
    } else {
        g->state = PT_GUNZIP_BETWEEN;
    }
}

/* Another member, zeros (tapes and block devices pad with them), the end, or something strange. */
static void look_for_member(pt_gunzip_t *g) {
    pt_raw_source_t *raw = g->raw;
    size_t left = pt_raw_source_fill(raw, 2);
    if (left == 0) {
        stop(g, raw->error ? PT_INPUT_IO : PT_INPUT_SOUND, NULL);
    } else if (raw->cur[0] == 0) {
        pt_raw_source_skip(raw, 1);
    } else if (raw->cur[0] == 0x1f && left == 1) {
        cut_off(g);
    } else if (raw->cur[0] == 0x1f && raw->cur[1] == 0x8b) {
        g->header = (pt_gzip_header_t){.part = 0};
        g->state = PT_GUNZIP_HEADER;
    } else {
        stop(g, PT_INPUT_TRAILING, "what follows the gzip data is no gzip data");
    }
}

size_t pt_gunzip_read(pt_gunzip_t *gunzip, void *out, size_t size) {
    uint8_t *to = out;
    size_t done = 0;
    while (done < size && gunzip->state != PT_GUNZIP_END) {
        switch (gunzip->state) {
        case PT_GUNZIP_HEADER:
            read_header(gunzip);
            break;
        case PT_GUNZIP_BODY:
            done += read_body(gunzip, to + done, size - done);
            break;
        case PT_GUNZIP_TRAILER:
            read_trailer(gunzip);
            break;
        default:
            look_for_member(gunzip);
            break;
        }
    }
    return done;
}
