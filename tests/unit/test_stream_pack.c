/* test_stream_pack.c: pieces, packed and unpacked. SPDX-License-Identifier: MIT */
#include "stream_message.h"
#include "stream_pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static perftrace__stream_packer_t *packer;
static perftrace__stream_unpacker_t *unpacker;

static void pieces_come_back(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 100, 65536, PERFTRACE__STREAM_PIECE_MAX};
    char *data = malloc(PERFTRACE__STREAM_PIECE_MAX);
    char *back = malloc(PERFTRACE__STREAM_PIECE_MAX);
    assert_non_null(data);
    assert_non_null(back);
    for (unsigned random = 0; random < 2; random++) {
        for (size_t i = 0; i < PERFTRACE__STREAM_PIECE_MAX; i++) {
            data[i] = (char)(random ? rand() : "{\"name\": \"step\"}\n"[i % 17]);
        }
        for (size_t i = 0; i < PT_ARRAY_LEN(sizes); i++) {
            perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
            perftrace__strbuf_puts(&out, "before");
            assert_true(perftrace__stream_pack(packer, data, sizes[i], &out));
            assert_memory_equal(out.data, "before", 6);
            assert_true(out.len - 6 <= PERFTRACE__STREAM_PACKED_MAX);
            memset(back, 0, sizes[i]);
            assert_true(
                perftrace__stream_unpack(unpacker, out.data + 6, out.len - 6, back, sizes[i]));
            assert_memory_equal(back, data, sizes[i]);
            perftrace__strbuf_free(&out);
        }
    }
    free(data);
    free(back);
}

static void what_is_not_whole_is_refused(void **state) {
    (void)state;
    char back[64];
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    assert_true(perftrace__stream_pack(packer, "a line\nanother\n", 15, &out));
    assert_true(perftrace__stream_unpack(unpacker, out.data, out.len, back, 15));
    assert_false(perftrace__stream_unpack(unpacker, out.data, out.len, back, 14));
    assert_false(perftrace__stream_unpack(unpacker, out.data, out.len, back, 16));
    for (size_t n = 0; n < out.len; n++) {
        assert_false(perftrace__stream_unpack(unpacker, out.data, n, back, 15));
    }
    perftrace__strbuf_putc(&out, 'x');
    assert_false(perftrace__stream_unpack(unpacker, out.data, out.len, back, 15));
    out.data[out.len - 3] ^= 1; /* of the check sum */
    assert_false(perftrace__stream_unpack(unpacker, out.data, out.len - 1, back, 15));
    assert_false(perftrace__stream_pack(packer, back, PERFTRACE__STREAM_PIECE_MAX + 1, &out));
    perftrace__strbuf_free(&out);
}

static int set_up(void **state) {
    (void)state;
    packer = perftrace__stream_packer_new(1);
    unpacker = perftrace__stream_unpacker_new();
    return !packer || !unpacker;
}

static int tear_down(void **state) {
    (void)state;
    perftrace__stream_packer_free(packer);
    perftrace__stream_unpacker_free(unpacker);
    perftrace__stream_packer_free(NULL);
    perftrace__stream_unpacker_free(NULL);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_back),
        cmocka_unit_test(what_is_not_whole_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
