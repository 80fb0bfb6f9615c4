/* test_common_deflate.c: pieces packed apart make one member. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common_temp.h"

#include "common_gzip.h"
#include "deflate.h"
#include "ordered.h"

#define PLAIN_MAX ((size_t)6 << 20)

static char *plain;
static uint8_t *packed;
static char *back;

static int enter(void **state) {
    (void)state;
    temp_enter();
    plain = malloc(PLAIN_MAX);
    packed = malloc(PLAIN_MAX * 2);
    back = malloc(PLAIN_MAX + 1);
    return plain && packed && back ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    free(plain);
    free(packed);
    free(back);
    temp_leave();
    return 0;
}

/* Packs plain[0..len) in pieces into packed; the length of the whole member. */
static size_t make_member(pt_deflater_t *deflater, size_t len, size_t piece) {
    pt_gzip_joiner_t joiner;
    size_t cap = pt_deflate_bound(piece);
    uint8_t *out = malloc(cap);
    pt_gzip_joiner_begin(&joiner, packed);
    size_t at = PT_GZIP_HEADER_LEN;
    for (size_t done = 0; done < len; done += piece) {
        pt_deflate_block_t block;
        assert_true(
            pt_deflater_pack(deflater, plain + done, PT_MIN(piece, len - done), out, cap, &block));
        assert_true(block.packed_len <= cap);
        memcpy(packed + at, out, block.packed_len);
        at += block.packed_len;
        pt_gzip_joiner_add(&joiner, &block);
    }
    pt_gzip_joiner_end(&joiner, packed + at);
    at += PT_GZIP_END_LEN;
    assert_int_equal(joiner.packed_len, at);
    assert_int_equal(joiner.plain_len, len);
    free(out);
    return at;
}

/* Unpacks with zlib as one member that takes all the input, and compares. */
static void assert_is_one_member(size_t packed_len, size_t len) {
    z_stream zlib;
    memset(&zlib, 0, sizeof(zlib));
    assert_int_equal(inflateInit2(&zlib, MAX_WBITS + 16), Z_OK);
    zlib.next_in = packed;
    zlib.avail_in = (uInt)packed_len;
    zlib.next_out = (Bytef *)back;
    zlib.avail_out = (uInt)PLAIN_MAX + 1;
    assert_int_equal(inflate(&zlib, Z_FINISH), Z_STREAM_END);
    assert_int_equal(zlib.avail_in, 0);
    assert_int_equal(zlib.total_out, len);
    assert_memory_equal(back, plain, len);
    inflateEnd(&zlib);
}

static void fill(unsigned kind, size_t len) {
    switch (kind) {
    case 0:
        trace_text(plain, PLAIN_MAX, 3);
        break;
    case 1: { /* nothing packs it */
        uint64_t x = 88172645463325252u;
        for (size_t i = 0; i < len; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            plain[i] = (char)x;
        }
        break;
    }
    case 2:
        memset(plain, 'x', len);
        break;
    default: /* literals of very uneven frequency: the longest codes */
        for (size_t i = 0; i < len; i++) {
            size_t zeros = 0;
            while ((i >> zeros & 1) == 0 && zeros < 20) {
                zeros++;
            }
            plain[i] = (char)(zeros * 7 + (zeros > 8 ? i / 1024 : 0));
        }
        break;
    }
}

static void every_level_and_back_end_makes_one_member(void **state) {
    (void)state;
    static const pt_deflate_backend_t backends[] = {PT_DEFLATE_ZLIB, PT_DEFLATE_ISAL,
                                                    PT_DEFLATE_AUTO};
    static const size_t lens[] = {0, 1, 100, 65535, 65536, 300001, (size_t)1 << 20};
    static const int levels[] = {0, 1, 2, 3, 6, 9};
    for (size_t b = 0; b < 3; b++) {
        for (size_t l = 0; l < PT_ARRAY_LEN(levels); l++) {
            int level = levels[l];
            pt_deflater_t *deflater = pt_deflater_new(level, backends[b]);
            assert_non_null(deflater);
            for (unsigned kind = 0; kind < 4; kind++) {
                for (size_t n = 0; n < PT_ARRAY_LEN(lens); n++) {
                    if (lens[n] > 70000 && level > 1) {
                        continue; /* slow, and nothing new */
                    }
                    fill(kind, lens[n]);
                    assert_is_one_member(make_member(deflater, lens[n], 123457), lens[n]);
                }
            }
            pt_deflater_free(deflater);
        }
    }
    pt_deflater_free(NULL);
}

static void small_pieces_join_too(void **state) {
    (void)state;
    fill(0, 30000);
    for (size_t piece = 1; piece < 300; piece = piece * 3 + 1) {
        pt_deflater_t *deflater = pt_deflater_new(1, PT_DEFLATE_AUTO);
        assert_is_one_member(make_member(deflater, 30000, piece), 30000);
        pt_deflater_free(deflater);
    }
}

static void text_becomes_smaller(void **state) {
    (void)state;
    for (int b = 0; b < 2; b++) {
        fill(0, PLAIN_MAX);
        pt_deflater_t *deflater = pt_deflater_new(1, b ? PT_DEFLATE_ISAL : PT_DEFLATE_ZLIB);
        size_t len = make_member(deflater, PLAIN_MAX - 200, (size_t)1 << 20);
        assert_true(len < PLAIN_MAX / 4);
        pt_deflater_free(deflater);
    }
}

static void impossible_requests_are_refused(void **state) {
    (void)state;
    assert_null(pt_deflater_new(-1, PT_DEFLATE_ZLIB));
    assert_null(pt_deflater_new(10, PT_DEFLATE_ZLIB));
    pt_deflater_t *deflater = pt_deflater_new(1, PT_DEFLATE_AUTO);
    pt_deflate_block_t block;
    assert_false(
        pt_deflater_pack(deflater, plain, 1000, packed, pt_deflate_bound(1000) - 1, &block));
    assert_false(pt_deflater_pack(deflater, plain, SIZE_MAX / 2, packed, SIZE_MAX, &block));
    pt_deflater_free(deflater);
    assert_true(pt_deflate_backend_available(PT_DEFLATE_ZLIB));
    assert_non_null(strstr(pt_deflate_backend_name(PT_DEFLATE_ZLIB), "zlib 1."));
    assert_true(strlen(pt_deflate_backend_name(PT_DEFLATE_AUTO)) > 4);
}

static void check_sum_is_that_of_gzip(void **state) {
    (void)state;
    assert_int_equal(pt_crc32(0, "123456789", 9), 0xcbf43926u);
    assert_int_equal(pt_crc32(pt_crc32(0, "1234", 4), "56789", 5), 0xcbf43926u);
    assert_int_equal(pt_crc32(77, "", 0), 77);
    fill(1, 100000);
    for (size_t len = 1; len < 100000; len = len * 5 / 2) {
        assert_int_equal(pt_crc32(0, plain, len), crc32(0, (const Bytef *)plain, (uInt)len));
    }
}

static void other_programs_read_the_member(void **state) {
    (void)state;
    fill(0, PLAIN_MAX);
    size_t len = PLAIN_MAX - 500;
    temp_write("plain", plain, len);
    static const struct {
        const char *needs, *command;
    } readers[] = {
        {"gzip", "gzip -t all.gz && gzip -dc all.gz | cmp - plain"},
        {"python3", "python3 -c \"import gzip;"
                    "assert gzip.open('all.gz').read() == open('plain','rb').read()\""},
        {"node", "node -e \"const z=require('zlib'),f=require('fs');"
                 "process.exit(z.gunzipSync(f.readFileSync('all.gz'))"
                 ".equals(f.readFileSync('plain'))?0:1)\""},
    };
    for (int b = 0; b < 2; b++) {
        pt_deflater_t *deflater = pt_deflater_new(1, b ? PT_DEFLATE_ISAL : PT_DEFLATE_ZLIB);
        temp_write("all.gz", packed, make_member(deflater, len, (size_t)1 << 20));
        pt_deflater_free(deflater);
        for (size_t i = 0; i < PT_ARRAY_LEN(readers); i++) {
            char test[64];
            snprintf(test, sizeof(test), "command -v %s >/dev/null", readers[i].needs);
            if (system(test) == 0) {
                assert_int_equal(system(readers[i].command), 0);
            }
        }
    }
}

/* The converter's way: workers pack, the one whose turn it is joins. */
typedef struct piece {
    size_t at, len;
    uint8_t *out;
    size_t cap;
    pt_deflate_block_t block;
} piece_t;

typedef struct packing {
    pt_deflater_t *deflaters[3];
    pt_gzip_joiner_t joiner;
    size_t at;
} packing_t;

static int pack_piece(void *ctx, void *task, unsigned worker) {
    packing_t *packing = ctx;
    piece_t *piece = task;
    return !pt_deflater_pack(packing->deflaters[worker], plain + piece->at, piece->len, piece->out,
                             piece->cap, &piece->block);
}

static int join_piece(void *ctx, void *task) {
    packing_t *packing = ctx;
    const piece_t *piece = task;
    memcpy(packed + packing->at, piece->out, piece->block.packed_len);
    packing->at += piece->block.packed_len;
    pt_gzip_joiner_add(&packing->joiner, &piece->block);
    return 0;
}

static void threads_give_the_same_bytes_as_one(void **state) {
    (void)state;
    enum { PIECE = 100000 };
    size_t len = PLAIN_MAX / 4;
    fill(0, PLAIN_MAX);
    size_t count = (len + PIECE - 1) / PIECE;
    uint32_t sum = 0;
    size_t sum_len = 0;
    for (unsigned threads = 0; threads < 4; threads++) {
        packing_t packing = {.at = PT_GZIP_HEADER_LEN};
        for (size_t i = 0; i < 3; i++) {
            packing.deflaters[i] = pt_deflater_new(1, PT_DEFLATE_AUTO);
        }
        pt_ordered_options_t options = {
            .threads = threads, .ctx = &packing, .work = pack_piece, .emit = join_piece};
        pt_ordered_t *ordered = pt_ordered_new(&options);
        piece_t *pieces = calloc(count, sizeof(*pieces));
        pt_gzip_joiner_begin(&packing.joiner, packed);
        for (size_t i = 0; i < count; i++) {
            pieces[i].at = i * PIECE;
            pieces[i].len = PT_MIN(PIECE, len - i * PIECE);
            pieces[i].cap = pt_deflate_bound(pieces[i].len);
            pieces[i].out = malloc(pieces[i].cap);
            assert_int_equal(pt_ordered_submit(ordered, PT_ORDERED_NO_LANE, &pieces[i]), 0);
        }
        assert_int_equal(pt_ordered_finish(ordered), 0);
        pt_ordered_free(ordered);
        pt_gzip_joiner_end(&packing.joiner, packed + packing.at);
        packing.at += PT_GZIP_END_LEN;
        assert_is_one_member(packing.at, len);
        uint32_t crc = pt_crc32(0, packed, packing.at);
        assert_true(threads == 0 || (crc == sum && packing.at == sum_len));
        sum = crc;
        sum_len = packing.at;
        for (size_t i = 0; i < count; i++) {
            free(pieces[i].out);
        }
        free(pieces);
        for (size_t i = 0; i < 3; i++) {
            pt_deflater_free(packing.deflaters[i]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_and_back_end_makes_one_member),
        cmocka_unit_test(small_pieces_join_too),
        cmocka_unit_test(text_becomes_smaller),
        cmocka_unit_test(impossible_requests_are_refused),
        cmocka_unit_test(check_sum_is_that_of_gzip),
        cmocka_unit_test(other_programs_read_the_member),
        cmocka_unit_test(threads_give_the_same_bytes_as_one),
    };
    return cmocka_run_group_tests_name("common_deflate", tests, enter, leave);
}
