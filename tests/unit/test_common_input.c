/* test_common_input.c: inputs, plain and packed, whole and hostile. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common_temp.h"

#include "common_gzip.h"
#include "input.h"

#include <errno.h>
#include <pthread.h>

#define TEXT_MAX ((size_t)3 << 20)

static char *text;   /* plain */
static char *got;    /* what was read */
static uint8_t *zip; /* packed */
static const pt_inflate_backend_t backends[] = {PT_INFLATE_ZLIB, PT_INFLATE_ISAL};

static int enter(void **state) {
    (void)state;
    temp_enter();
    text = malloc(TEXT_MAX);
    got = malloc(TEXT_MAX * 2);
    zip = malloc(TEXT_MAX * 2);
    return text && got && zip ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    free(text);
    free(got);
    free(zip);
    temp_leave();
    return 0;
}

/* Reads all in pieces; the number of bytes. *ret_last is what the last call returned. */
static size_t read_all(pt_input_t *input, size_t piece, int64_t *ret_last) {
    size_t len = 0;
    while ((*ret_last = pt_input_read(input, got + len, piece)) > 0) {
        len += (size_t)*ret_last;
        assert_int_equal(pt_input_offset(input), len);
        assert_true(len <= TEXT_MAX * 2 - piece);
    }
    assert_int_equal(pt_input_read(input, got + len, piece), *ret_last); /* it stays so */
    return len;
}

/* Unpacks memory and returns the damage; got holds *ret_len bytes. */
static pt_input_damage_t unpack(const void *data, size_t len, pt_inflate_backend_t backend,
                                size_t piece, size_t *ret_len) {
    pt_input_t *input;
    pt_input_options_t options = {.backend = backend};
    assert_int_equal(pt_input_open_memory(data, len, "memory", &options, &input), 0);
    int64_t last;
    *ret_len = read_all(input, piece, &last);
    pt_input_damage_t damage = pt_input_damage(input);
    assert_int_equal(last, damage == PT_INPUT_SOUND ? 0 : -1);
    assert_int_equal(strlen(pt_input_problem(input)) != 0, damage != PT_INPUT_SOUND);
    pt_input_close(input);
    return damage;
}

static void plain_files_are_read_whole_in_any_pieces(void **state) {
    (void)state;
    size_t len = trace_text(text, TEXT_MAX, 1);
    temp_write("plain", text, len);
    static const size_t pieces[] = {1000, 65536, 300001, (size_t)1 << 20};
    for (size_t i = 0; i < 4; i++) {
        pt_input_t *input;
        pt_input_options_t options = {.buffer_size = 70000};
        assert_int_equal(pt_input_open("plain", i ? NULL : &options, &input, NULL), 0);
        int64_t last;
        assert_int_equal(read_all(input, pieces[i], &last), len);
        assert_memory_equal(got, text, len);
        assert_int_equal(last, 0);
        assert_int_equal(pt_input_size(input), len);
        assert_int_equal(pt_input_raw_offset(input), len);
        assert_string_equal(pt_input_name(input), "plain");
        assert_false(pt_input_is_packed(input));
        pt_input_close(input);
    }
    pt_input_close(NULL);
}

static void peek_takes_nothing(void **state) {
    (void)state;
    size_t len = trace_text(text, 200000, 2);
    temp_write("plain", text, len);
    size_t zip_len = gzip_member(zip, TEXT_MAX, text, len, 6, NULL);
    temp_write("packed", zip, zip_len);
    static const char *const names[] = {"plain", "packed"};
    for (size_t n = 0; n < 2; n++) {
        pt_input_t *input;
        assert_int_equal(pt_input_open(names[n], NULL, &input, NULL), 0);
        size_t at = 0;
        for (size_t step = 1; at < len; step = step * 5 % 30011 + 1) {
            const char *data;
            size_t seen = pt_input_peek(input, step, &data);
            assert_int_equal(seen, PT_MIN(step, len - at));
            assert_memory_equal(data, text + at, seen);
            assert_int_equal(pt_input_offset(input), at);
            int64_t read = pt_input_read(input, got, step / 2 + 1);
            assert_memory_equal(got, text + at, (size_t)read);
            at += (size_t)read;
        }
        const char *data;
        assert_int_equal(pt_input_peek(input, 1 << 20, &data), 0);
        pt_input_close(input);
    }
}

static void random_access_works_on_plain_regular_files_only(void **state) {
    (void)state;
    size_t len = trace_text(text, 300000, 3);
    temp_write("plain", text, len);
    temp_write("packed", zip, gzip_member(zip, TEXT_MAX, text, len, 1, NULL));
    pt_input_t *input;
    assert_int_equal(pt_input_open("plain", NULL, &input, NULL), 0);
    assert_true(pt_input_seekable(input) && pt_input_fd(input) >= 0);
    assert_int_equal(pt_input_read(input, got, 10), 10);
    assert_int_equal(pt_input_pread(input, got, 1000, 250000), 1000);
    assert_memory_equal(got, text + 250000, 1000);
    assert_int_equal(pt_input_pread(input, got, 1000, len - 10), 10);
    assert_int_equal(pt_input_pread(input, got, 1000, len + 10), 0);
    assert_int_equal(pt_input_pread(input, got, 1, UINT64_MAX), -EINVAL);
    assert_int_equal(pt_input_read(input, got, 10), 10);
    assert_memory_equal(got, text + 10, 10);
    assert_int_equal(pt_input_seek(input, 200000), 0);
    assert_int_equal(pt_input_offset(input), 200000);
    assert_int_equal(pt_input_read(input, got, TEXT_MAX), (int64_t)len - 200000);
    assert_memory_equal(got, text + 200000, len - 200000);
    assert_int_equal(pt_input_seek(input, 0), 0);
    assert_int_equal(pt_input_read(input, got, 5), 5);
    assert_memory_equal(got, text, 5);
    pt_input_close(input);
    assert_int_equal(pt_input_open("packed", NULL, &input, NULL), 0);
    assert_false(pt_input_seekable(input));
    assert_int_equal(pt_input_pread(input, got, 1, 0), -ESPIPE);
    assert_int_equal(pt_input_seek(input, 0), -ESPIPE);
    pt_input_close(input);
}

static void what_cannot_be_opened_is_explained(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        const char *says;
    } foreign[] = {{"\x28\xb5\x2f\xfdxxxx", 8, "zstd -dc"},
                   {"\xfd\x37zXZ\0", 6, "xz -dc"},
                   {"BZh91AY", 7, "bzip2 -dc"},
                   {"\x04\x22\x4d\x18", 4, "lz4 -dc"},
                   {"PK\x03\x04zip", 7, "unzip -p"}};
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_input_t *input;
    for (size_t i = 0; i < PT_ARRAY_LEN(foreign); i++) {
        perftrace__strbuf_clear(&problem);
        temp_write("foreign", foreign[i].bytes, foreign[i].len);
        assert_int_equal(pt_input_open("foreign", NULL, &input, &problem), -ENOTSUP);
        assert_non_null(strstr(problem.data, foreign[i].says));
        pt_input_options_t as_it_is = {.keep_packed = true};
        assert_int_equal(pt_input_open("foreign", &as_it_is, &input, NULL), 0);
        pt_input_close(input);
    }
    perftrace__strbuf_clear(&problem);
    assert_int_equal(pt_input_open("absent", NULL, &input, &problem), -ENOENT);
    assert_string_equal(problem.data, "No such file or directory");
    perftrace__strbuf_clear(&problem);
    assert_int_equal(pt_input_open(".", NULL, &input, &problem), -EISDIR);
    assert_string_equal(problem.data, "is a directory");
    perftrace__strbuf_free(&problem);
}

static void empty_and_tiny_inputs_are_plain(void **state) {
    (void)state;
    static const char *const tiny[] = {"", "{", "\x1f", "\x1fx", "BZ", "\n\n"};
    for (size_t i = 0; i < PT_ARRAY_LEN(tiny); i++) {
        size_t len;
        assert_int_equal(unpack(tiny[i], strlen(tiny[i]), PT_INFLATE_AUTO, 100, &len),
                         PT_INPUT_SOUND);
        assert_int_equal(len, strlen(tiny[i]));
        assert_memory_equal(got, tiny[i], len);
    }
}

static void members_follow_one_another(void **state) {
    (void)state;
    size_t len = trace_text(text, 400000, 4);
    for (size_t b = 0; b < 2; b++) {
        for (int level = 0; level <= 9; level += 3) {
            size_t at = 0;
            size_t zip_len = 0;
            for (size_t part = 0; at < len; part++) {
                size_t n = PT_MIN(part * part * 997, len - at); /* the first is empty */
                zip_len += gzip_member(zip + zip_len, TEXT_MAX, text + at, n, level,
                                       part % 2 ? "name.jsonl" : NULL);
                at += n;
            }
            size_t got_len;
            assert_int_equal(unpack(zip, zip_len, backends[b], 100000, &got_len), PT_INPUT_SOUND);
            assert_int_equal(got_len, len);
            assert_memory_equal(got, text, len);
            memset(zip + zip_len, 0, 5000); /* padding, as tapes have it */
            assert_int_equal(unpack(zip, zip_len + 5000, backends[b], 777, &got_len),
                             PT_INPUT_SOUND);
            assert_int_equal(got_len, len);
        }
    }
}

static void bytes_behind_the_last_member_are_named_and_the_data_kept(void **state) {
    (void)state;
    size_t len = trace_text(text, 5000, 5);
    size_t zip_len = gzip_member(zip, TEXT_MAX, text, len, 6, NULL);
    static const uint8_t garbage[] = {'g', 'a', 'r', 'b', 'a', 'g', 'e'};
    memcpy(zip + zip_len, garbage, sizeof(garbage));
    for (size_t b = 0; b < 2; b++) {
        size_t got_len;
        assert_int_equal(unpack(zip, zip_len + 7, backends[b], 4096, &got_len), PT_INPUT_TRAILING);
        assert_int_equal(got_len, len);
        zip[zip_len] = 0x1f;
        assert_int_equal(unpack(zip, zip_len + 1, backends[b], 4096, &got_len), PT_INPUT_TRUNCATED);
        assert_int_equal(got_len, len);
        zip[zip_len] = 'g';
    }
    pt_input_t *input;
    int64_t last;
    char expected[200];
    assert_int_equal(pt_input_open_memory(zip, zip_len + 7, "m", NULL, &input), 0);
    read_all(input, 10000, &last);
    snprintf(expected, sizeof(expected),
             "what follows the gzip data is no gzip data at byte %zu of the file (byte %zu "
             "unpacked)",
             zip_len, len);
    assert_string_equal(pt_input_problem(input), expected);
    assert_int_equal(pt_input_raw_offset(input), zip_len);
    pt_input_close(input);
}

static void cut_at_every_byte_gives_a_good_beginning_and_an_error(void **state) {
    (void)state;
    size_t len = trace_text(text, 3000, 6);
    size_t zip_len = gzip_member(zip, TEXT_MAX, text, len, 6, "name");
    for (size_t b = 0; b < 2; b++) {
        size_t most = 0;
        for (size_t cut = 2; cut < zip_len; cut++) {
            /* Exactly as large as the input, so that a sanitizer sees a read behind it. */
            uint8_t *copy = malloc(cut);
            memcpy(copy, zip, cut);
            size_t got_len;
            assert_int_equal(unpack(copy, cut, backends[b], 333, &got_len), PT_INPUT_TRUNCATED);
            assert_true(got_len <= len && got_len >= most);
            assert_memory_equal(got, text, got_len);
            most = got_len;
            free(copy);
        }
        assert_int_equal(most, len); /* only the trailer was missing at the end */
    }
}

static void damaged_data_is_never_taken_for_sound(void **state) {
    (void)state;
    size_t len = trace_text(text, 4000, 7);
    size_t zip_len = gzip_member(zip, TEXT_MAX, text, len, 6, NULL);
    for (size_t b = 0; b < 2; b++) {
        for (size_t bit = 16; bit < zip_len * 8; bit++) {
            zip[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            size_t got_len;
            pt_input_damage_t damage = unpack(zip, zip_len, backends[b], 5000, &got_len);
            /* Time, hints and codes that no symbol uses say nothing of the data. */
            if (damage == PT_INPUT_SOUND) {
                assert_int_equal(got_len, len);
                assert_memory_equal(got, text, len);
            }
            zip[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        }
    }
}

static void wrong_sum_or_length_is_named(void **state) {
    (void)state;
    size_t len = trace_text(text, 4000, 8);
    size_t zip_len = gzip_member(zip, TEXT_MAX, text, len, 6, NULL);
    for (size_t at = zip_len - 8; at < zip_len; at++) {
        zip[at] ^= 0x40;
        pt_input_t *input;
        int64_t last;
        assert_int_equal(pt_input_open_memory(zip, zip_len, "m", NULL, &input), 0);
        assert_int_equal(read_all(input, 10000, &last), len);
        assert_int_equal(last, -1);
        assert_int_equal(pt_input_damage(input), PT_INPUT_CORRUPT);
        assert_non_null(strstr(pt_input_problem(input), at < zip_len - 4
                                                            ? "check sum of the gzip data"
                                                            : "length in the gzip data"));
        pt_input_close(input);
        zip[at] ^= 0x40;
    }
}

typedef struct feeder {
    int fd;
    const void *data;
    size_t len;
} feeder_t;

static void *feed(void *argument) {
    const feeder_t *feeder = argument;
    for (size_t at = 0; at < feeder->len;) {
        ssize_t n = write(feeder->fd, (const char *)feeder->data + at,
                          PT_MIN(feeder->len - at, 1 + at % 3001));
        if (n <= 0) {
            break;
        }
        at += (size_t)n;
    }
    close(feeder->fd);
    return NULL;
}

static void standard_input_may_be_a_pipe_and_packed(void **state) {
    (void)state;
    size_t len = trace_text(text, 500000, 9);
    size_t zip_len = gzip_member(zip, TEXT_MAX, text, len, 1, NULL);
    for (int packed = 0; packed < 2; packed++) {
        int fds[2];
        assert_int_equal(pipe(fds), 0);
        int saved = dup(STDIN_FILENO);
        dup2(fds[0], STDIN_FILENO);
        fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK); /* as a shell's neighbour may have left it */
        close(fds[0]);
        feeder_t feeder = {fds[1], packed ? (void *)zip : (void *)text, packed ? zip_len : len};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, feed, &feeder), 0);
        pt_input_t *input;
        assert_int_equal(pt_input_open("-", NULL, &input, NULL), 0);
        assert_string_equal(pt_input_name(input), "standard input");
        assert_int_equal(pt_input_size(input), 0);
        assert_false(pt_input_seekable(input));
        int64_t last;
        assert_int_equal(read_all(input, 65536, &last), len);
        assert_memory_equal(got, text, len);
        pt_input_close(input);
        pthread_join(thread, NULL);
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
}

static void missing_back_end_gives_way_to_zlib(void **state) {
    (void)state;
    assert_true(pt_inflate_backend_available(PT_INFLATE_ZLIB));
    assert_true(pt_inflate_backend_available(PT_INFLATE_AUTO));
    size_t len = trace_text(text, 100000, 10);
    size_t zip_len = gzip_member(zip, TEXT_MAX, text, len, 6, NULL);
    size_t got_len;
    assert_int_equal(unpack(zip, zip_len, PT_INFLATE_ISAL, 100000, &got_len), PT_INPUT_SOUND);
    assert_int_equal(got_len, len);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_files_are_read_whole_in_any_pieces),
        cmocka_unit_test(peek_takes_nothing),
        cmocka_unit_test(random_access_works_on_plain_regular_files_only),
        cmocka_unit_test(what_cannot_be_opened_is_explained),
        cmocka_unit_test(empty_and_tiny_inputs_are_plain),
        cmocka_unit_test(members_follow_one_another),
        cmocka_unit_test(bytes_behind_the_last_member_are_named_and_the_data_kept),
        cmocka_unit_test(cut_at_every_byte_gives_a_good_beginning_and_an_error),
        cmocka_unit_test(damaged_data_is_never_taken_for_sound),
        cmocka_unit_test(wrong_sum_or_length_is_named),
        cmocka_unit_test(standard_input_may_be_a_pipe_and_packed),
        cmocka_unit_test(missing_back_end_gives_way_to_zlib),
    };
    return cmocka_run_group_tests_name("common_input", tests, enter, leave);
}
