/* fuzz_gzip_input.c: any bytes through both inflaters. SPDX-License-Identifier: MIT
 *
 * The first byte chooses the sizes of buffer and pieces; the rest is the file. Whatever it is, both
 * back ends must give the same bytes up to where the shorter stops, and the same verdict when all
 * is sound. A stream is read to at most 16 MiB, or 20,000 pieces: a small file may unpack to a
 * great deal. */
#include "input.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_MAX ((size_t)16 << 20)
#define CALLS_MAX 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *plain[2];

/* How many bytes were read; *ret_damage what ended them. */
static size_t read_all(const uint8_t *data, size_t size, uint8_t choice,
                       pt_inflate_backend_t backend, uint8_t *out, pt_input_damage_t *ret_damage) {
    static const size_t pieces[] = {1, 100, 4096, 20000, 65536, 100003, 1u << 20, PLAIN_MAX};
    pt_input_options_t options = {.backend = backend};
    pt_input_t *input;
    if (pt_input_open_memory(data, size, "fuzz", &options, &input) != 0) {
        *ret_damage = PT_INPUT_IO; /* packed with something else: both must say so */
        return 0;
    }
    size_t piece = pieces[choice % 8];
    size_t most = PT_MIN(PLAIN_MAX, piece * CALLS_MAX);
    size_t len = 0;
    while (len < most) {
        if (choice & 8) {
            const char *peeked;
            size_t seen = pt_input_peek(input, choice * (size_t)37, &peeked);
            if (len + seen <= PLAIN_MAX) {
                memcpy(out + len, peeked, seen);
            }
        }
        int64_t n = pt_input_read(input, out + len, PT_MIN(piece, most - len));
        if (n <= 0) {
            if ((n < 0) != (pt_input_problem(input)[0] != '\0')) {
                abort();
            }
            break;
        }
        len += (size_t)n;
    }
    if (pt_input_offset(input) != len || pt_input_raw_offset(input) > size) {
        abort();
    }
    *ret_damage = pt_input_damage(input);
    pt_input_close(input);
    return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) {
        return 0;
    }
    static const pt_inflate_backend_t backends[] = {PT_INFLATE_ZLIB, PT_INFLATE_ISAL};
    size_t len[2];
    pt_input_damage_t damage[2];
    for (size_t b = 0; b < 2; b++) {
        if (!plain[b]) {
            plain[b] = malloc(PLAIN_MAX);
        }
        if (!plain[b]) {
            abort();
        }
        len[b] = read_all(data + 1, size - 1, data[0], backends[b], plain[b], &damage[b]);
    }
    /* Behind damage each says what it made of it: only what both saw as good must agree. */
    bool sound = damage[0] == PT_INPUT_SOUND || damage[0] == PT_INPUT_TRAILING;
    if (sound && (damage[1] != damage[0] || len[1] != len[0])) {
        abort();
    }
    if (memcmp(plain[0], plain[1], PT_MIN(len[0], len[1])) != 0) {
        abort();
    }
    return 0;
}
