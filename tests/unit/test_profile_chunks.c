/* test_profile_chunks.c: a long text, read in pieces by several threads, and what is looked at in
 * short texts. SPDX-License-Identifier: MIT
 *
 * The sums that are expected are made while the text is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base_random.h"
#include "common_temp.h"
#include "profile_load.h"
#include "short_text.h"
#include "text_cut.h"

#include <errno.h>

#define THREADS    90 /* more than the index of leaves takes */
#define LEAVES     700
#define TEXT_BYTES ((size_t)9 << 20)
#define LONG_LINE  ((size_t)300 << 10) /* no border is near the cut in it */

typedef struct expected {
    double weight[THREADS][LEAVES];
    uint64_t samples[THREADS][LEAVES], all;
    uint64_t lines, bad_line, bad_offset; /* of the first bad one */
    uint64_t bad;
} expected_t;

static perftrace__strbuf_t text;
static expected_t want;

/* Names of all lengths that are looked at in a way of their own. */
static int name_leaf(char *name, size_t size, unsigned leaf) {
    static const char *const form[] = {"l%u", "leaf_of_%u", "a::leaf::number_%u",
                                       "some::name::space::with::a::leaf::number_%u"};
    return snprintf(name, size, form[leaf % 4], leaf);
}

static void put_line(uint64_t *seed) {
    unsigned thread = base_random_below(seed, THREADS), leaf = base_random_below(seed, LEAVES);
    unsigned digits = 1 + base_random_below(seed, 9), depth = base_random_below(seed, 12), most = 1;
    char name[96];
    for (unsigned i = 0; i < digits; i++) {
        most *= 10;
    }
    double weight = base_random_below(seed, most);
    bool half = base_random_below(seed, 20) == 0;
    name_leaf(name, sizeof name, leaf);
    perftrace__strbuf_printf(&text, "thread %u", thread);
    for (unsigned i = 0; i < depth; i++) {
        perftrace__strbuf_printf(&text, ";caller_%u", base_random_below(seed, 50));
    }
    perftrace__strbuf_printf(&text, ";%s%s %.0f%s\n", name, depth == 3 ? "+0x1f" : "", weight,
                             half ? ".5" : "");
    want.weight[thread][leaf] += weight + (half ? 0.5 : 0);
    want.samples[thread][leaf]++;
    want.all++;
    want.lines++;
}

static void put_bad(void) {
    if (want.bad++ == 0) {
        want.bad_line = want.lines + 1;
        want.bad_offset = text.len;
    }
    perftrace__strbuf_puts(&text, "no_weight_is_here\n");
    want.lines++;
}

/* One that is so long that files are read on from there as pipes are. */
static void put_long(void) {
    perftrace__strbuf_puts(&text, "thread 1;");
    for (size_t i = 0; i < LONG_LINE; i++) {
        perftrace__strbuf_putc(&text, 'x');
    }
    perftrace__strbuf_puts(&text, ";l0 4\n");
    want.weight[1][0] += 4;
    want.samples[1][0]++;
    want.all++;
    want.lines++;
}

static int enter(void **state) {
    uint64_t seed = 4711;
    (void)state;
    temp_enter();
    while (text.len < TEXT_BYTES) {
        put_line(&seed);
        if (want.lines == 20000 || want.lines == 40000) {
            put_bad();
        }
    }
    temp_write("plain.txt", text.data, text.len);
    return text.failed ? -1 : 0;
}

static int leave(void **state) {
    (void)state;
    perftrace__strbuf_free(&text);
    temp_leave();
    return 0;
}

/* ---- models ---- */

static void load(const char *path, unsigned threads, bool leaves_only, pt_profile_t *p,
                 pt_problems_t **ret_book, uint64_t *ret_lines) {
    pt_profile_source_t source;
    *ret_book = pt_problems_new(pt_profile_problem_kinds(), PT_PROFILE_PROBLEM_COUNT);
    assert_non_null(*ret_book);
    pt_profile_load_t how = {.threads = threads, .leaves_only = leaves_only, .book = *ret_book};
    pt_profile_init(p);
    assert_int_equal(
        pt_profile_load_file(&how, path, pt_problems_add_file(*ret_book, path), p, &source),
        PT_EXIT_OK);
    *ret_lines = source.lines;
}

static unsigned leaf_number(const pt_profile_t *p, uint32_t frame) {
    const char *name = pt_profile_text(p, p->frame[frame].name);
    const char *digits = name + strlen(name);
    while (digits > name && digits[-1] >= '0' && digits[-1] <= '9') {
        digits--;
    }
    unsigned leaf = (unsigned)strtoul(digits, NULL, 10);
    char again[96];
    name_leaf(again, sizeof again, leaf);
    assert_true(leaf < LEAVES);
    assert_string_equal(name, again);
    return leaf;
}

static void check_sums(const pt_profile_t *p) {
    static expected_t got;
    memset(&got, 0, sizeof got);
    assert_int_equal(p->threads, THREADS);
    assert_int_equal(p->samples, want.all);
    for (size_t i = 0; i < p->nodes; i++) {
        const pt_profile_node_t *n = &p->node[i];
        if (n->samples > 0) {
            unsigned thread =
                (unsigned)strtoul(pt_thread_name(p, n->thread) + strlen("thread "), NULL, 10);
            unsigned leaf = leaf_number(p, n->frame);
            assert_true(thread < THREADS);
            got.weight[thread][leaf] += n->weight;
            got.samples[thread][leaf] += n->samples;
        }
    }
    assert_memory_equal(got.weight, want.weight, sizeof got.weight);
    assert_memory_equal(got.samples, want.samples, sizeof got.samples);
}

static void check_bad(void *ctx, const pt_problem_t *problem) {
    (void)ctx;
    assert_int_equal(problem->kind, PT_PROFILE_PROBLEM_NO_WEIGHT);
    assert_int_equal(problem->count, want.bad);
    assert_int_equal(problem->first.line, want.bad_line);
    assert_int_equal(problem->first.offset, want.bad_offset);
    assert_string_equal(problem->detail, "no_weight_is_here");
}

static void check_file(const char *path) {
    for (unsigned threads = 0; threads <= 5; threads += threads == 0 ? 2 : 3) {
        for (unsigned leaves_only = 0; leaves_only < 2; leaves_only++) {
            pt_profile_t p;
            pt_problems_t *book;
            uint64_t lines;
            load(path, threads, leaves_only == 1, &p, &book, &lines);
            check_sums(&p);
            assert_int_equal(lines, want.lines);
            assert_int_equal(pt_problems_total(book, PT_PROBLEM_NOTE), want.bad);
            pt_problems_each(book, check_bad, NULL);
            pt_problems_free(book);
            pt_profile_free(&p);
        }
    }
}

static void plain_file(void **state) {
    (void)state;
    check_file("plain.txt");
}

static void no_last_line_feed(void **state) {
    (void)state;
    temp_write("cut.txt", text.data, text.len - 1);
    check_file("cut.txt");
}

static void byte_order_mark(void **state) {
    perftrace__strbuf_t marked = PERFTRACE__STRBUF_INIT;
    (void)state;
    perftrace__strbuf_puts(&marked, "\xef\xbb\xbf");
    perftrace__strbuf_append(&marked, text.data, text.len);
    temp_write("marked.txt", marked.data, marked.len);
    want.bad_offset += 3;
    check_file("marked.txt");
    want.bad_offset -= 3;
    perftrace__strbuf_free(&marked);
}

/* Last, because it changes what is expected. */
static void long_line(void **state) {
    uint64_t seed = 7;
    (void)state;
    put_long();
    for (size_t end = text.len + TEXT_BYTES / 2; text.len < end;) {
        put_line(&seed);
    }
    temp_write("long.txt", text.data, text.len);
    check_file("long.txt");
}

/* ---- a file that is lost while it is read ---- */

static enum { SOUND, SHRINKS, FAILS } harm;
static size_t harm_at; /* what is behind it cannot be read */

int64_t __real_pt_input_pread(const pt_input_t *input, void *buf, size_t size, uint64_t offset);
int64_t __wrap_pt_input_pread(const pt_input_t *input, void *buf, size_t size, uint64_t offset);

/* Harm is done when the workers come there: the text was cut by then. */
int64_t __wrap_pt_input_pread(const pt_input_t *input, void *buf, size_t size, uint64_t offset) {
    bool there = harm != SOUND && size > ((size_t)64 << 10) && offset + size > harm_at;
    if (there && harm == FAILS) {
        return -EIO;
    }
    if (there) {
        assert_int_equal(truncate("harmed.txt", (off_t)harm_at), 0);
    }
    return __real_pt_input_pread(input, buf, size, offset);
}

static void check_damage(void *ctx, const pt_problem_t *problem) {
    if (problem->kind == PT_PROFILE_PROBLEM_INPUT_ENDS) {
        assert_int_equal(problem->count, 1);
        assert_memory_equal(problem->detail, ctx, strlen(ctx));
    }
}

/* Returns how many samples there are. */
static uint64_t load_harmed(unsigned threads, char *detail) {
    pt_profile_t p;
    pt_problems_t *book;
    uint64_t lines;
    temp_write("harmed.txt", text.data, text.len);
    load("harmed.txt", threads, true, &p, &book, &lines);
    assert_int_equal(pt_problems_count(book, PT_PROFILE_PROBLEM_INPUT_ENDS), 1);
    pt_problems_each(book, check_damage, detail);
    uint64_t samples = p.samples;
    pt_problems_free(book);
    pt_profile_free(&p);
    return samples;
}

static void file_shrinks(void **state) {
    char detail[120];
    uint64_t samples = 0;
    (void)state;
    harm_at = (size_t)5 << 20;
    while (text.data[harm_at - 1] != '\n') {
        harm_at--;
    }
    for (size_t i = 0; i < harm_at; i++) {
        samples += text.data[i] == '\n';
    }
    samples -= want.bad; /* the bad lines are in that part */
    assert_true(want.bad_offset < harm_at);
    harm = SHRINKS;
    snprintf(detail, sizeof detail, "it became shorter while it was read at byte %zu of the file",
             harm_at);
    assert_int_equal(load_harmed(0, detail), samples);
    harm = SOUND;
}

static void file_fails(void **state) {
    char detail[120];
    (void)state;
    harm_at = (size_t)1 << 20;
    harm = FAILS;
    for (unsigned threads = 0; threads < 4; threads += 3) {
        snprintf(detail, sizeof detail, "%s at byte ", strerror(EIO));
        pt_profile_t p;
        pt_problems_t *book;
        uint64_t lines;
        load("plain.txt", threads, true, &p, &book, &lines);
        assert_int_equal(pt_problems_count(book, PT_PROFILE_PROBLEM_INPUT_ENDS), 1);
        assert_true(p.samples > 0 && p.samples < want.all);
        pt_problems_each(book, check_damage, detail);
        pt_problems_free(book);
        pt_profile_free(&p);
    }
    harm = SOUND;
}

/* ---- where it is cut ---- */

static void cuts(void **state) {
    pt_input_t *input;
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_text_source_t source;
    pt_text_cut_t cut;
    pt_text_piece_t piece = {.len = 0};
    uint64_t at = 0;
    (void)state;
    assert_int_equal(pt_input_open("plain.txt", NULL, &input, &problem), 0);
    pt_text_source_begin(&source, input);
    pt_text_cut_begin(&cut, &source, PT_PROFILE_COLLAPSED);
    assert_true(cut.on);
    while (!cut.end) {
        assert_true(pt_text_cut_next(&cut, 100000, &piece));
        assert_int_equal(piece.at, at);
        assert_true(piece.len > 0 && piece.len <= 100000);
        assert_true(piece.last || text.data[piece.at + piece.len - 1] == '\n');
        assert_true(piece.last || piece.len > 100000 - 1000); /* no line is longer */
        at += piece.len;
    }
    assert_true(piece.at < text.len && at >= text.len);
    pt_input_close(input);
    perftrace__strbuf_free(&problem);
}

/* One line that is longer than a piece; and a piece that is longer than the file. */
static void no_border(void **state) {
    static const char line[200000] = {[0] = 'a'};
    pt_input_t *input;
    pt_text_source_t source;
    pt_text_cut_t cut;
    pt_text_piece_t piece = {.len = 0};
    (void)state;
    temp_write("line.txt", line, sizeof line);
    assert_int_equal(pt_input_open("line.txt", NULL, &input, NULL), 0);
    pt_text_source_begin(&source, input);
    pt_text_cut_begin(&cut, &source, PT_PROFILE_COLLAPSED);
    assert_true(cut.on);
    assert_false(pt_text_cut_next(&cut, 150000, &piece));
    assert_true(!cut.on && cut.at == 0);
    pt_text_cut_begin(&cut, &source, PT_PROFILE_COLLAPSED);
    assert_true(pt_text_cut_next(&cut, 250000, &piece)); /* it ends before */
    assert_true(piece.last && piece.at == 0 && piece.len >= sizeof line);
    pt_input_close(input);
}

static void whole_parts(void **state) {
    static const struct {
        pt_profile_format_t format;
        const char *text;
        size_t whole;
    } cases[] = {
        {PT_PROFILE_COLLAPSED, "", 0},
        {PT_PROFILE_COLLAPSED, "a", 0},
        {PT_PROFILE_COLLAPSED, "a 1\nb", 4},
        {PT_PROFILE_COLLAPSED, "\n", 1},
        {PT_PROFILE_PERF_SCRIPT, "x 1:\n\tf\n", 0},
        {PT_PROFILE_PERF_SCRIPT, "x 1:\n\tf\n\ny 2:\n", 9},
        {PT_PROFILE_PERF_SCRIPT, "x 1:\r\n\tf\r\n\r\ny 2:\r\n", 12},
    };
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        assert_int_equal(pt_text_whole(cases[i].format, cases[i].text, strlen(cases[i].text)),
                         cases[i].whole);
    }
}

/* ---- short texts: what the library's functions say of them ---- */

static char *random_text(uint64_t *seed, size_t len) {
    static const char letters[] = "09afg;; 5x+0";
    char *made = malloc(len > 0 ? len : 1); /* exactly: what is read beyond is found */
    assert_non_null(made);
    for (size_t i = 0; i < len; i++) {
        made[i] = letters[base_random_below(seed, sizeof letters - 1)];
    }
    return made;
}

static void short_texts(void **state) {
    uint64_t seed = 3;
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        size_t len = round % 70;
        char *a = random_text(&seed, len), *b = malloc(len + 1);
        assert_non_null(b);
        memcpy(b, a, len);
        char c = ";x 9"[round % 4];
        const char *first = len > 0 ? memchr(a, c, len) : NULL;
        const char *last = len > 0 ? memrchr(a, c, len) : NULL;
        assert_int_equal(pt_short_first(a, len, c), first != NULL ? (size_t)(first - a) : len);
        assert_int_equal(pt_short_last(a, len, c), last != NULL ? (size_t)(last - a) : len);
        size_t hex = 0;
        while (hex < len && strchr("0123456789abcdef", a[len - 1 - hex]) != NULL) {
            hex++;
        }
        assert_int_equal(pt_short_hex_end(a, len), hex);
        assert_true(pt_short_same(a, b, len));
        assert_int_equal(pt_short_hash(a, len, 77), pt_short_hash(b, len, 77));
        if (len > 0) {
            b[base_random_below(&seed, (uint32_t)len)] ^= 1;
            assert_false(pt_short_same(a, b, len));
        }
        free(a);
        free(b);
    }
}

static void short_hex_bounds(void **state) {
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        char block[16] = "0000000000000000";
        block[15] = (char)c;
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        assert_int_equal(pt_short_hex_end(block, sizeof block), hex ? 16 : 0);
        assert_int_equal(pt_short_hex_end(block + 15, 1), hex ? 1 : 0);
    }
}

static void short_numbers(void **state) {
    static const char *const none[] = {
        "",           "1",           " 1",          "a;b 12345678", "a;bcdef ",
        "a;bcdef 1x", "a;bcdef 1.5", "a;bcdef\t15", "a;bcdefg1",    "a;bcdef 1:2",
        "a;bcdef /1", "a;bcdef -1",  "a;bcdef \xb1"};
    (void)state;
    for (uint32_t value = 0; value < 10000000; value += value < 20000 ? 1 : 7919) {
        char line[32];
        uint32_t got = 0;
        int len = snprintf(line, sizeof line, "main;f %u", value);
        char *exact = malloc((size_t)len);
        assert_non_null(exact);
        memcpy(exact, line, (size_t)len);
        assert_int_equal(pt_short_number(exact, (size_t)len, &got), (unsigned)len - 7);
        assert_int_equal(got, value);
        free(exact);
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(none); i++) {
        uint32_t got;
        assert_int_equal(pt_short_number(none[i], strlen(none[i]), &got), 0);
    }
    uint32_t got = 0; /* zeros lead */
    assert_int_equal(pt_short_number("a;bcdef 007", 11, &got), 3);
    assert_int_equal(got, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_file),      cmocka_unit_test(no_last_line_feed),
        cmocka_unit_test(byte_order_mark), cmocka_unit_test(cuts),
        cmocka_unit_test(file_shrinks),    cmocka_unit_test(file_fails),
        cmocka_unit_test(no_border),       cmocka_unit_test(whole_parts),
        cmocka_unit_test(short_texts),     cmocka_unit_test(short_hex_bounds),
        cmocka_unit_test(short_numbers),   cmocka_unit_test(long_line),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
