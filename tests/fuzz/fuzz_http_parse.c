/* fuzz_http_parse.c: any bytes as HTTP requests. SPDX-License-Identifier: MIT
 *
 * The first byte seeds the cuts; the rest is the stream. Whole, byte by byte and in pieces it must
 * come to the same requests. */
#include "../unit/http_cut.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t piece(void *ctx) {
    uint32_t *state = ctx;
    *state = *state * 1664525u + 1013904223u;
    return *state >> 27;
}

static void must_be_same(const perftrace__strbuf_t *a, const perftrace__strbuf_t *b) {
    if (a->failed || b->failed || a->len != b->len || memcmp(a->data, b->data, a->len) != 0) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) {
        return 0;
    }
    const char *text = (const char *)data + 1;
    uint32_t state = data[0];
    perftrace__strbuf_t whole = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t bytes = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t cut = PERFTRACE__STRBUF_INIT;
    http_cut_transcript(text, size - 1, http_cut_whole, NULL, HTTP_CUT_REFUSED, &whole, NULL);
    http_cut_transcript(text, size - 1, http_cut_bytes, NULL, HTTP_CUT_REFUSED, &bytes, NULL);
    http_cut_transcript(text, size - 1, piece, &state, HTTP_CUT_REFUSED, &cut, NULL);
    must_be_same(&whole, &bytes);
    must_be_same(&whole, &cut);
    perftrace__strbuf_free(&whole);
    perftrace__strbuf_free(&bytes);
    perftrace__strbuf_free(&cut);
    return 0;
}
