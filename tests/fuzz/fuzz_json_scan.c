/* fuzz_json_scan.c: any bytes as JSON, with cJSON as the oracle. SPDX-License-Identifier: MIT
 *
 * What we accept, cJSON accepts and reads the same. What we refuse, cJSON refuses, but for the
 * places where it is laxer (differs_by_design lists them). The cursor, the splitter and the repair
 * must agree with the strict check on every input. */
#include "json_repair.h"
#include "json_scan.h"
#include "json_split.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            fprintf(stderr, "fuzz_json_scan.c:%d: %s\n", __LINE__, #x);                            \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Numbers that cJSON's buffer of 64 bytes cannot take. */
static bool has_long_number(const char *text, size_t len) {
    size_t run = 0;
    for (size_t i = 0; i < len; i++) {
        bool digit = (text[i] >= '0' && text[i] <= '9') || text[i] == '+' || text[i] == '-' ||
                     text[i] == '.' || (text[i] | 0x20) == 'e';
        run = digit ? run + 1 : 0;
        if (run > 62) {
            return true;
        }
    }
    return false;
}

/* cJSON accepts, we do not, and that is how it should be. */
static bool differs_by_design(const perftrace__json_error_t *e, const char *text, size_t len) {
    switch (e->code) {
    case PERFTRACE__JSON_E_CONTROL_BYTE:    /* taken raw, also in strings */
    case PERFTRACE__JSON_E_BAD_UTF8:        /* never looked at */
    case PERFTRACE__JSON_E_BYTE_ORDER_MARK: /* skipped */
    case PERFTRACE__JSON_E_BAD_NUMBER:      /* 007 and 5. are read by strtod */
    case PERFTRACE__JSON_E_NUL_BYTE:        /* taken as white space */
    case PERFTRACE__JSON_E_TOO_DEEP:        /* its limit is 1000 */
    case PERFTRACE__JSON_E_BAD_ESCAPE:      /* \u with bad hex digits is read as \u0000 */
        return true;
    case PERFTRACE__JSON_E_INCOMPLETE:
        /* "5." again, at the very end. */
        return len > 0 && text[len - 1] == '.';
    default:
        /* Every byte below 0x20 is white space to it. */
        return e->offset < len && (unsigned char)text[e->offset] < 0x20;
    }
}

static bool only_space(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) {
        p++;
    }
    return p == end;
}

static void compare_string(const char *want, const perftrace__json_slice_t *s) {
    char *decoded = malloc(s->len + 1);
    CHECK(decoded != NULL);
    size_t len = perftrace__json_decode(s, decoded);
    CHECK(len <= s->len);
    CHECK(perftrace__json_equal(s, decoded, len));
    /* cJSON's string ends at the first \u0000. */
    decoded[len] = 0;
    CHECK(strcmp(decoded, want) == 0);
    CHECK((strlen(decoded) < len) == ((s->notes & PERFTRACE__JSON_NOTE_NUL_ESCAPE) != 0));
    free(decoded);
}

static void compare_number(const cJSON *item, const perftrace__json_slice_t *s) {
    double d = 0;
    int64_t i = 0;
    int64_t ns = 0;
    uint64_t u = 0;
    CHECK(perftrace__json_to_double(s, &d));
    CHECK(d == item->valuedouble);
    CHECK((isinf(d) != 0) == ((s->notes & PERFTRACE__JSON_NOTE_HUGE_NUMBER) != 0));
    if (perftrace__json_to_i64(s, &i)) {
        CHECK((double)i == d);
    }
    if (perftrace__json_to_u64(s, &u)) {
        CHECK((double)u == d);
    }
    if (perftrace__json_to_ns(s, &ns)) {
        CHECK(fabs((double)ns - d * 1000) <= 0.5 + fabs(d) * 1e-12);
    } else {
        CHECK(fabs(d) > 9.2e15 && (ns == INT64_MAX || ns == INT64_MIN));
    }
}

/* Recursive: no deeper than the limit of the scanner. */
static void compare(const cJSON *item, const perftrace__json_cursor_t *parent,
                    const perftrace__json_slice_t *s) {
    static const int types[] = {cJSON_Invalid, cJSON_NULL,   cJSON_False, cJSON_True,
                                cJSON_Number,  cJSON_String, cJSON_Array, cJSON_Object};
    CHECK(item->type == types[s->type]);
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key;
    perftrace__json_slice_t value;
    const cJSON *child = item->child;
    perftrace__json_cursor_nested(&c, parent, s);
    if (s->type == PERFTRACE__JSON_STRING) {
        compare_string(item->valuestring, s);
    } else if (s->type == PERFTRACE__JSON_NUMBER) {
        compare_number(item, s);
    } else if (s->type == PERFTRACE__JSON_OBJECT) {
        CHECK(perftrace__json_enter_object(&c));
        for (; child; child = child->next) {
            CHECK(perftrace__json_next_member(&c, &key, &value) == 1);
            compare_string(child->string, &key);
            compare(child, &c, &value);
        }
        CHECK(perftrace__json_next_member(&c, &key, &value) == 0);
        CHECK(perftrace__json_at_end(&c));
        (void)perftrace__json_duplicate_key(s, &key);
    } else if (s->type == PERFTRACE__JSON_ARRAY) {
        CHECK(perftrace__json_enter_array(&c));
        for (; child; child = child->next) {
            CHECK(perftrace__json_next_element(&c, &value) == 1);
            compare(child, &c, &value);
        }
        CHECK(perftrace__json_next_element(&c, &value) == 0);
        CHECK(perftrace__json_at_end(&c));
    }
}

static void check_against_cjson(const char *text, size_t len, bool good,
                                const perftrace__json_error_t *error) {
    const char *parse_end = NULL;
    cJSON *tree = cJSON_ParseWithLengthOpts(text, len, &parse_end, 0);
    bool oracle = tree && only_space(parse_end, text + len);
    if (good && !oracle) {
        CHECK(has_long_number(text, len));
    } else if (!good && oracle) {
        CHECK(differs_by_design(error, text, len));
    } else if (good) {
        perftrace__json_cursor_t c;
        perftrace__json_slice_t value;
        perftrace__json_cursor_init(&c, text, len);
        CHECK(perftrace__json_next_value(&c, &value) == 1);
        perftrace__json_cursor_init(&c, text, len);
        compare(tree, &c, &value);
    }
    cJSON_Delete(tree);
}

/* With bytes to read behind the text, whatever they are, the outcome is the same. */
static void check_readable(const char *text, size_t len, bool good,
                           const perftrace__json_error_t *error, unsigned notes) {
    static const char behind[] = "\"]}0";
    char *room = malloc(len + PERFTRACE__JSON_SPARE);
    CHECK(room != NULL);
    memcpy(room, text, len);
    for (size_t i = 0; i < sizeof(behind) - 1; i++) {
        perftrace__json_cursor_t c;
        perftrace__json_slice_t value;
        memset(room + len, behind[i], PERFTRACE__JSON_SPARE);
        perftrace__json_cursor_init_readable(&c, room, len, len + PERFTRACE__JSON_SPARE);
        int got = perftrace__json_next_value(&c, &value);
        CHECK((got == 1 && perftrace__json_at_end(&c)) == good);
        if (got != 0) {
            CHECK(c.error.code == error->code && c.error.offset == error->offset);
            CHECK(c.notes == notes);
        }
    }
    free(room);
}

/* Walking the outermost container by members finds the same faults and values as skipping it, with
 * hints right or wrong. */
static void check_cursor(const char *text, size_t len, const perftrace__json_error_t *error) {
    perftrace__json_hints_t hints;
    char *room = calloc(1, len + PERFTRACE__JSON_SPARE);
    CHECK(room != NULL);
    memcpy(room, text, len);
    for (size_t i = 0; i < sizeof(hints.key_len); i++) {
        hints.key_len[i] = (uint8_t)(len * 7 + i * i);
    }
    for (int round = 0; round < 3; round++) {
        perftrace__json_cursor_t c;
        perftrace__json_slice_t key;
        perftrace__json_slice_t value;
        perftrace__json_cursor_init_readable(&c, room, len,
                                             len + (round ? PERFTRACE__JSON_SPARE : 0));
        perftrace__json_cursor_hint(&c, round ? &hints : NULL);
        if (perftrace__json_enter_object(&c)) {
            while (perftrace__json_next_member(&c, &key, &value) > 0) {
                CHECK(key.type == PERFTRACE__JSON_STRING && key.p[key.len] == '"');
                CHECK(perftrace__json_check(key.p - 1, key.len + 2, NULL, NULL));
            }
        } else if (c.error.code == PERFTRACE__JSON_E_NOT_OBJECT) {
            c.error.code = PERFTRACE__JSON_E_OK;
            c.error.offset = 0;
            if (!perftrace__json_enter_array(&c)) {
                break;
            }
            while (perftrace__json_next_element(&c, &value) > 0) {
            }
        } else {
            break;
        }
        (void)perftrace__json_at_end(&c);
        CHECK(c.error.code == error->code && c.error.offset == error->offset);
    }
    free(room);
}

static size_t split_all(size_t (*split)(perftrace__json_split_t *, const char *, size_t, bool *),
                        const char *text, size_t len, size_t piece) {
    perftrace__json_split_t s = PERFTRACE__JSON_SPLIT_INIT;
    bool done = false;
    size_t pos = 0;
    while (pos < len && !done) {
        size_t n = PT_MIN(piece, len - pos);
        size_t used = split(&s, text + pos, n, &done);
        CHECK(used <= n && (done || used == n));
        pos += used;
    }
    return done ? pos : SIZE_MAX;
}

static void check_split(const char *text, size_t len, bool good) {
    size_t front = perftrace__json_skip_separators(text, len);
    text += front;
    len -= front;
    size_t end = split_all(perftrace__json_split, text, len, len);
    CHECK(split_all(perftrace__json_split_portable, text, len, len) == end);
    CHECK(split_all(perftrace__json_split, text, len, 1 + len / 3) == end);
    CHECK(split_all(perftrace__json_split, text, len, 1) == end);
    if (good && (*text == '{' || *text == '[' || *text == '"')) {
        CHECK(end <= len && only_space(text + end, text + len));
    }
}

static void check_repair(const char *text, size_t len, bool good, unsigned notes) {
    perftrace__strbuf_t once = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t twice = PERFTRACE__STRBUF_INIT;
    perftrace__json_error_t error;
    unsigned repairs;
    unsigned again;
    size_t used;
    bool mended = perftrace__json_repair(text, len, &once, &repairs, &used, &error);
    CHECK(mended || !good);
    if (mended) {
        unsigned left;
        CHECK(used <= len);
        CHECK(perftrace__json_check(once.data, once.len, NULL, &left));
        CHECK((left & PERFTRACE__JSON_NOTES_TO_REPAIR) == 0);
        CHECK(perftrace__json_repair(once.data, once.len, &twice, &again, NULL, NULL));
        CHECK(again == 0);
        CHECK(twice.len == once.len && memcmp(twice.data, once.data, once.len) == 0);
        if (good) {
            bool to_do = (notes & PERFTRACE__JSON_NOTES_TO_REPAIR) != 0;
            CHECK((repairs & ~(unsigned)PERFTRACE__JSON_REPAIR_DUPLICATE_KEY) == 0 || to_do);
        } else {
            CHECK(repairs != 0);
        }
    } else {
        CHECK(error.code != PERFTRACE__JSON_E_OK && error.offset <= len);
        CHECK(once.len == 0 && repairs == 0);
    }
    perftrace__strbuf_free(&once);
    perftrace__strbuf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    perftrace__json_error_t error;
    unsigned notes;
    bool good = perftrace__json_check(text, size, &error, &notes);
    CHECK(good == (error.code == PERFTRACE__JSON_E_OK));
    CHECK(good || error.offset <= size);
    check_against_cjson(text, size, good, &error);
    check_readable(text, size, good, &error, notes);
    check_cursor(text, size, &error);
    check_split(text, size, good);
    check_repair(text, size, good, notes);
    return 0;
}
