/* test_base_hashmap.c: the map against a list that is searched. SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "hashmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEYS 700

typedef struct entry {
    char key[12];
    size_t len;
    bool there;
    uint64_t value;
} entry_t;

/* Keys that share prefixes, hold NUL bytes and may be empty. */
static void make_keys(entry_t *keys, uint64_t *seed) {
    for (size_t i = 0; i < KEYS; i++) {
        bool again = true;
        while (again) {
            keys[i].len = base_random_below(seed, sizeof(keys[i].key) + 1);
            for (size_t k = 0; k < keys[i].len; k++) {
                keys[i].key[k] = (char)base_random_below(seed, 3);
            }
            again = false;
            for (size_t j = 0; j < i && !again; j++) {
                again = keys[j].len == keys[i].len &&
                        memcmp(keys[j].key, keys[i].key, keys[i].len) == 0;
            }
        }
    }
}

static void it_holds_what_a_list_would_hold(void **state) {
    (void)state;
    static entry_t keys[KEYS];
    uint64_t seed = 5;
    make_keys(keys, &seed);
    perftrace__hashmap_t m = PERFTRACE__HASHMAP_INIT;
    size_t count = 0;
    for (int round = 0; round < 20000; round++) {
        entry_t *e = &keys[base_random_below(&seed, KEYS)];
        if (base_random_below(&seed, 2)) {
            uint64_t *v = perftrace__hashmap_get(&m, e->key, e->len);
            assert_int_equal(v != NULL, e->there);
            assert_true(!v || *v == e->value);
            continue;
        }
        bool fresh;
        uint64_t initial = base_random(&seed);
        uint64_t *v = perftrace__hashmap_put(&m, e->key, e->len, initial, &fresh);
        assert_non_null(v);
        assert_int_equal(fresh, !e->there);
        assert_true(*v == (e->there ? e->value : initial));
        count += fresh;
        e->there = true;
        *v = e->value = base_random(&seed);
        assert_int_equal(m.count, count);
    }
    size_t pos = 0;
    size_t seen = 0;
    const char *key;
    uint64_t len;
    uint64_t value;
    while (perftrace__hashmap_next(&m, &pos, &key, &len, &value)) {
        uint64_t *v = perftrace__hashmap_get(&m, key, (size_t)len);
        assert_true(v && *v == value);
        seen++;
    }
    assert_int_equal(seen, count);
    perftrace__hashmap_free(&m);
    assert_null(perftrace__hashmap_get(&m, "", 0));
}

static void integer_keys_and_byte_keys_do_not_meet(void **state) {
    (void)state;
    perftrace__hashmap_t m = PERFTRACE__HASHMAP_INIT;
    bool fresh;
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t key = i * 0x100000001ull;
        assert_non_null(perftrace__hashmap_put_u64(&m, key, i, &fresh));
        assert_true(fresh);
        assert_non_null(perftrace__hashmap_put(&m, &key, sizeof(key), ~i, &fresh));
        assert_true(fresh);
    }
    assert_int_equal(m.count, 10000);
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t key = i * 0x100000001ull;
        assert_int_equal(*perftrace__hashmap_get_u64(&m, key), i);
        assert_int_equal(*perftrace__hashmap_get(&m, &key, sizeof(key)), ~i);
    }
    assert_null(perftrace__hashmap_get_u64(&m, 1));
    perftrace__hashmap_free(&m);
    perftrace__hashmap_free(NULL);
}

static void the_hash_depends_on_every_byte_and_on_the_length(void **state) {
    (void)state;
    char text[40] = {0};
    for (size_t len = 1; len < sizeof(text); len++) {
        uint64_t h = perftrace__hash_bytes(text, len, 7);
        assert_true(h != perftrace__hash_bytes(text, len - 1, 7));
        for (size_t i = 0; i < len; i++) {
            text[i] = 1;
            assert_true(h != perftrace__hash_bytes(text, len, 7));
            text[i] = 0;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_holds_what_a_list_would_hold),
        cmocka_unit_test(integer_keys_and_byte_keys_do_not_meet),
        cmocka_unit_test(the_hash_depends_on_every_byte_and_on_the_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
