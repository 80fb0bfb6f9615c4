/* test_forward_sender.c: files arrive whole and once, whatever the way does: over a way of the
 * test's own, in memory, that fails wherever it can. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base_random.h"
#include "common_temp.h"
#include "forward_sender.h"
#include "stream_pack.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>

#define FILES 4u

/* ---- the time ---- */

static uint64_t now_ns = 1;

uint64_t __wrap_perftrace__os_mono_ns(void);
uint64_t __wrap_perftrace__os_mono_ns(void) {
    return now_ns += 1000;
}

int __wrap_poll(struct pollfd *p, nfds_t n, int timeout_ms);
int __wrap_poll(struct pollfd *p, nfds_t n, int timeout_ms) {
    (void)p;
    (void)n;
    now_ns += (uint64_t)timeout_ms * 1000000u;
    return 0;
}

/* ---- the other side and the way to it ---- */

typedef struct kept_file {
    uint64_t stream;
    perftrace__strbuf_t bytes;
    bool last;
    uint64_t told; /* acknowledged: the sender may count on it */
    uint64_t came; /* bytes of all pieces, again or not */
} kept_file_t;

typedef struct answer {
    bool place;
    uint64_t stream;
    uint64_t offset;
    bool last;
} answer_t;

static struct {
    kept_file_t file[FILES];
    unsigned files;
    answer_t answer[4096]; /* on their way back */
    unsigned answers;
    uint64_t random;
    unsigned percent; /* of calls that fail */
    unsigned breaks;  /* that may still come */
    unsigned opens;
    bool open;
    bool unreachable;
    bool full;    /* takes no pieces, though it tells places */
    bool refuses; /* a piece came meanwhile */
    int clock;    /* 0: answers in the call, 1: nobody there, 2: never, 3: with the next wait */
    char t1[40];
    unsigned asked_clock;
    const perftrace__forward_link_options_t *o;
    bool lost;         /* a piece, on this connection */
    unsigned refused;  /* pieces that fit nowhere */
    unsigned uncalled; /* uses of a way that is closed */
    uint64_t ask_wish; /* tells to begin there instead (at most what is there) */
    bool wish;
    unsigned order[64]; /* which file the first pieces were of */
    unsigned pieces;
} side;

static perftrace__stream_unpacker_t *unpacker;
static unsigned told[5];
static unsigned readings;
static perftrace__reference_t reading;
static char news_text[5000];

static bool chance(unsigned percent) {
    return percent && base_random_below(&side.random, 100) < percent;
}

static bool breaks(void) {
    if (side.breaks && chance((side.percent + 4) / 5)) {
        side.breaks--;
        return true;
    }
    return false;
}

static kept_file_t *kept(uint64_t stream) {
    for (unsigned i = 0; i < side.files; i++) {
        if (side.file[i].stream == stream) {
            return &side.file[i];
        }
    }
    assert_true(side.files < FILES);
    side.file[side.files].stream = stream;
    return &side.file[side.files++];
}

static void answer(bool place, const kept_file_t *k, uint64_t offset) {
    assert_true(side.answers < PT_ARRAY_LEN(side.answer));
    side.answer[side.answers++] =
        (answer_t){place, k->stream, offset, k->last && offset == k->bytes.len};
}

static perftrace__forward_link_t *way_open(const perftrace__forward_link_options_t *o,
                                           char *problem, size_t size) {
    assert_false(side.open);
    side.opens++;
    if (side.unreachable || breaks()) {
        snprintf(problem, size, "nobody there");
        return NULL;
    }
    side.o = o;
    side.open = true;
    side.lost = side.refuses = false;
    side.answers = 0;
    return (perftrace__forward_link_t *)&side;
}

static perftrace__forward_sent_t way_ask(perftrace__forward_link_t *l,
                                         const perftrace__stream_key_t *key) {
    (void)l;
    side.uncalled += !side.open;
    if (breaks()) {
        return PERFTRACE__FORWARD_BROKEN;
    }
    if (chance(side.percent)) {
        return PERFTRACE__FORWARD_FULL;
    }
    kept_file_t *k = kept(key->stream);
    uint64_t offset = side.wish ? PT_MIN(side.ask_wish, k->bytes.len) : k->bytes.len;
    if (chance(50)) { /* as NATS does: within the call */
        k->told = PT_MAX(k->told, offset);
        side.o->placed(side.o->ctx, k->stream, offset, k->last && offset == k->bytes.len);
    } else {
        answer(true, k, offset);
    }
    return PERFTRACE__FORWARD_SENT;
}

static void take(const perftrace__stream_key_t *key, uint64_t offset, uint64_t size, bool last,
                 const void *packed, size_t packed_len) {
    static char plain[PERFTRACE__STREAM_PIECE_MAX];
    kept_file_t *k = kept(key->stream);
    assert_true(size <= sizeof plain && (size == 0) == (packed_len == 0));
    assert_true(size == 0 || perftrace__stream_unpack(unpacker, packed, packed_len, plain, size));
    assert_true(size == 0 || plain[size - 1] == '\n');
    if (side.pieces < PT_ARRAY_LEN(side.order)) {
        side.order[side.pieces] = (unsigned)(k - side.file);
    }
    side.pieces++;
    k->came += size;
    if (offset > k->bytes.len) {
        side.refused++;
        answer(true, k, k->bytes.len); /* a gap: go back */
        return;
    }
    uint64_t both = PT_MIN(size, k->bytes.len - offset); /* was here before: must be the same */
    if (both) {
        assert_memory_equal(k->bytes.data + offset, plain, both);
    }
    perftrace__strbuf_append(&k->bytes, plain + both, size - both);
    k->last = k->last || last;
    answer(false, k, k->bytes.len);
}

static perftrace__forward_sent_t way_send(perftrace__forward_link_t *l,
                                          const perftrace__stream_key_t *key, uint64_t offset,
                                          uint64_t size, uint64_t acked, bool last,
                                          const void *packed, size_t packed_len) {
    (void)l;
    side.uncalled += !side.open;
    assert_true(acked <= kept(key->stream)->told);
    assert_true(offset + size - acked <= PERFTRACE__STREAM_WINDOW + PERFTRACE__STREAM_PIECE_MAX);
    if (breaks()) {
        return PERFTRACE__FORWARD_BROKEN;
    }
    if (chance(side.percent)) {
        return PERFTRACE__FORWARD_FULL;
    }
    if (side.full) {
        side.refuses = true;
        return PERFTRACE__FORWARD_SENT;
    }
    if (side.breaks && chance(side.percent)) {
        side.lost = true; /* what follows leaves a gap; if nothing does, the way breaks some day */
        return PERFTRACE__FORWARD_SENT;
    }
    take(key, offset, size, last, packed, packed_len);
    return breaks() ? PERFTRACE__FORWARD_BROKEN : PERFTRACE__FORWARD_SENT;
}

static void answer_clock(void) {
    char t1[40];
    snprintf(t1, sizeof t1, "%s", side.t1);
    side.t1[0] = '\0';
    now_ns += 500;
    side.o->clock(side.o->ctx, t1, now_ns + 1000000, now_ns + 1000000, "their boot");
    now_ns += 500;
}

static perftrace__forward_sent_t way_clock(perftrace__forward_link_t *l, const char *t1) {
    (void)l;
    side.uncalled += !side.open;
    side.asked_clock++;
    if (breaks()) {
        return PERFTRACE__FORWARD_BROKEN;
    }
    snprintf(side.t1, sizeof side.t1, "%s", t1);
    if (side.clock == 0) {
        answer_clock();
    }
    return side.clock == 1 ? PERFTRACE__FORWARD_FULL : PERFTRACE__FORWARD_SENT;
}

static bool way_wait(perftrace__forward_link_t *l, int wake_fd, uint32_t timeout_ms) {
    (void)l;
    (void)wake_fd;
    side.uncalled += !side.open;
    if (side.refuses) {
        return false;
    }
    if (breaks() || (side.lost && chance(30))) {
        return false; /* acknowledgements on their way are lost */
    }
    if (side.clock == 3 && side.t1[0]) {
        answer_clock();
    }
    unsigned n = side.percent ? base_random_below(&side.random, side.answers + 1) : side.answers;
    for (unsigned i = 0; i < n; i++) {
        answer_t a = side.answer[i];
        kept_file_t *k = kept(a.stream);
        k->told = PT_MAX(k->told, a.offset);
        (a.place ? side.o->placed : side.o->acked)(side.o->ctx, a.stream, a.offset, a.last);
    }
    memmove(side.answer, side.answer + n, (side.answers - n) * sizeof side.answer[0]);
    side.answers -= n;
    now_ns += n ? 1000u : (uint64_t)timeout_ms * 1000000u;
    return !breaks();
}

static const char *way_problem(const perftrace__forward_link_t *l) {
    (void)l;
    return side.refuses ? "it is full" : "it broke";
}

static bool way_refuses(const perftrace__forward_link_t *l) {
    (void)l;
    return side.refuses;
}

static void way_close(perftrace__forward_link_t *l) {
    (void)l;
    side.uncalled += !side.open;
    side.open = false;
    side.t1[0] = '\0';
}

static const perftrace__forward_link_ops_t way = {
    .abi = PERFTRACE__FORWARD_LINK_ABI,
    .open = way_open,
    .ask = way_ask,
    .send = way_send,
    .clock = way_clock,
    .wait = way_wait,
    .problem = way_problem,
    .refuses = way_refuses,
    .close = way_close,
    .orphan = way_close,
};

/* ---- the sender ---- */

static void on_news(void *ctx, perftrace__forward_news_t what, const char *text) {
    (void)ctx;
    told[what]++;
    snprintf(news_text, sizeof news_text, "%s", text);
}

static void on_reading(void *ctx, const perftrace__reference_t *r) {
    (void)ctx;
    readings++;
    reading = *r;
}

static perftrace__forward_sender_t *sender(bool with_clock) {
    const perftrace__forward_sender_options_t o = {
        .ops = &way,
        .link = {.to = "the test", .run = "r", .token = "", .creds = "", .tls_ca = ""},
        .news = on_news,
        .reading = with_clock ? on_reading : NULL,
        .level = 1,
        .wake_fd = -1,
    };
    perftrace__forward_sender_t *s = perftrace__forward_sender_new(&o);
    assert_non_null(s);
    return s;
}

/* A file of about so many bytes; names differ, so do first lines. */
static perftrace__strbuf_t content(unsigned n, size_t size, uint64_t *random) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&text, "{\"file\": %u}\n", n);
    while (text.len < size) {
        perftrace__strbuf_printf(&text, "{\"line\": \"%0*" PRIx64 "\"}\n",
                                 (int)base_random_below(random, 400), base_random(random));
    }
    return text;
}

static perftrace__forward_file_t *given(unsigned n, const perftrace__strbuf_t *text) {
    char name[32];
    const perftrace__stream_key_t key = {.run = "r", .rank = (int64_t)n, .world_size = FILES};
    snprintf(name, sizeof name, "traces-r%u.jsonl", n);
    temp_write(name, text->data, text->len);
    perftrace__forward_file_t *f = perftrace__forward_file_new(name, &key);
    assert_non_null(f);
    f->limit = text->len;
    f->ended = true;
    return f;
}

static void run(perftrace__forward_sender_t *s) {
    for (unsigned i = 0; !perftrace__forward_sender_done(s); i++) {
        assert_true(i < 1000000);
        perftrace__forward_sender_step(s, 100);
    }
}

static void same(const kept_file_t *k, const perftrace__strbuf_t *text) {
    assert_int_equal(k->bytes.len, text->len);
    assert_memory_equal(k->bytes.data, text->data, text->len);
    assert_true(k->last);
}

static int begin(void **state) {
    (void)state;
    temp_enter();
    memset(&side, 0, sizeof side);
    memset(told, 0, sizeof told);
    readings = 0;
    unpacker = perftrace__stream_unpacker_new();
    return unpacker ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    for (unsigned i = 0; i < FILES; i++) {
        perftrace__strbuf_free(&side.file[i].bytes);
    }
    perftrace__stream_unpacker_free(unpacker);
    temp_leave();
    return 0;
}

/* ---- the tests ---- */

static void two_files_go_in_turn(void **state) {
    (void)state;
    uint64_t random = 1;
    perftrace__strbuf_t a = content(0, 3000000, &random);
    perftrace__strbuf_t b = content(1, 2000000, &random);
    perftrace__forward_sender_t *s = sender(false);
    perftrace__forward_sender_add(s, given(0, &a));
    perftrace__forward_sender_add(s, given(1, &b));
    assert_int_equal(perftrace__forward_sender_left(s), a.len + b.len);
    run(s);
    same(&side.file[0], &a);
    same(&side.file[1], &b);
    assert_int_equal(side.file[0].came, a.len); /* nothing twice */
    assert_int_equal(side.file[1].came, b.len);
    assert_int_equal(side.opens, 1);
    assert_int_equal(perftrace__forward_sender_left(s), 0);
    assert_int_equal(perftrace__forward_sender_totals(s)->bytes, a.len + b.len);
    assert_int_equal(perftrace__forward_sender_totals(s)->connects, 1);
    /* While both have something, none has two pieces more than the other. */
    unsigned count[2] = {0, 0};
    for (unsigned i = 0; i < 14; i++) {
        count[side.order[i]]++;
        assert_true(count[0] <= count[1] + 8 && count[1] <= count[0] + 8);
    }
    assert_true(count[0] > 2 && count[1] > 2);
    perftrace__forward_sender_free(s);
    perftrace__strbuf_free(&a);
    perftrace__strbuf_free(&b);
}

static void what_is_there_is_not_sent(void **state) {
    (void)state;
    uint64_t random = 2;
    perftrace__strbuf_t a = content(0, 100000, &random);
    for (unsigned with_end = 0; with_end < 2; with_end++) {
        side.pieces = 0;
        kept_file_t *k = &side.file[0];
        k->came = 0;
        perftrace__forward_sender_t *s = sender(false);
        perftrace__forward_sender_add(s, given(0, &a));
        if (with_end == 0) { /* half of it, up to a line's end */
            run(s);
            k->bytes.len =
                (size_t)((char *)memchr(k->bytes.data + 50000, '\n', 50000) + 1 - k->bytes.data);
            k->last = false;
            size_t half = k->bytes.len;
            perftrace__forward_sender_free(s);
            s = sender(false);
            perftrace__forward_sender_add(s, given(0, &a));
            k->came = k->told = 0;
            side.pieces = 0;
            run(s);
            same(k, &a);
            assert_int_equal(k->came, a.len - half);
            k->last = false; /* and now only the end is not known there */
        } else {
            k->told = 0;
            run(s);
            same(k, &a);
            assert_int_equal(k->came, 0);
            assert_int_equal(side.pieces, 1); /* empty, the last one */
        }
        perftrace__forward_sender_free(s);
    }
    side.pieces = 0;
    perftrace__forward_sender_t *s = sender(false);
    perftrace__forward_sender_add(s, given(0, &a));
    run(s);
    assert_int_equal(side.pieces, 0); /* all is known */
    perftrace__forward_sender_free(s);
    perftrace__strbuf_free(&a);
}

static void a_file_grows_while_it_is_sent(void **state) {
    (void)state;
    uint64_t random = 3;
    perftrace__strbuf_t a = content(0, 1000000, &random);
    perftrace__forward_file_t *f = given(0, &a);
    perftrace__forward_sender_t *s = sender(false);
    f->ended = false;
    f->limit = 0;
    perftrace__forward_sender_add(s, f);
    perftrace__forward_sender_step(s, 1);
    assert_int_equal(side.files, 0); /* nothing is final: which file it is is not known */
    assert_false(perftrace__forward_sender_done(s));
    for (const char *p = a.data; p < a.data + a.len;) {
        size_t step = PT_MIN((size_t)(a.data + a.len - p), 30000u);
        p = (const char *)memchr(p + step - 1, '\n', a.len) + 1;
        f->limit = (uint64_t)(p - a.data);
        for (unsigned i = 0; i < 4; i++) {
            perftrace__forward_sender_step(s, 1);
        }
        assert_int_equal(side.file[0].bytes.len, f->limit);
        assert_false(side.file[0].last);
        assert_int_equal(perftrace__forward_sender_left(s), 0);
        assert_false(perftrace__forward_sender_done(s));
    }
    f->ended = true; /* its last piece is empty */
    run(s);
    same(&side.file[0], &a);
    assert_int_equal(side.file[0].came, a.len);
    perftrace__forward_sender_free(s);
    perftrace__strbuf_free(&a);
}

static void no_more_than_a_window_is_on_its_way(void **state) {
    (void)state;
    uint64_t random = 4;
    perftrace__strbuf_t a = content(0, 20u << 20, &random);
    perftrace__forward_sender_t *s = sender(false);
    perftrace__forward_sender_add(s, given(0, &a));
    do { /* the answer where to begin, at the latest with the second wait */
        perftrace__forward_sender_step(s, 1);
    } while (side.files == 0 || side.file[0].bytes.len == 0);
    assert_true(side.file[0].bytes.len <= PERFTRACE__STREAM_WINDOW + (256u << 10));
    assert_true(side.file[0].bytes.len >= PERFTRACE__STREAM_WINDOW);
    run(s);
    same(&side.file[0], &a);
    perftrace__forward_sender_free(s);
    perftrace__strbuf_free(&a);
}

static void the_other_side_lost_some(void **state) {
    (void)state;
    uint64_t random = 5;
    perftrace__strbuf_t a = content(0, 100000, &random);
    perftrace__forward_sender_t *s = sender(false);
    perftrace__forward_file_t *f = given(0, &a);
    f->ended = false;
    perftrace__forward_sender_add(s, f);
    while (side.files == 0 || side.file[0].told < a.len) {
        perftrace__forward_sender_step(s, 1);
    }
    /* Its machine crashed; after a new connect it asks from an earlier place on. */
    side.file[0].bytes.len = 13;
    side.percent = 100;
    side.breaks = 1;
    while (side.breaks) {
        perftrace__forward_sender_step(s, 1);
    }
    side.percent = 0;
    f->ended = true;
    run(s);
    same(&side.file[0], &a);
    perftrace__forward_sender_free(s);
    perftrace__strbuf_free(&a);
}

static void more_there_than_here(void **state) {
    (void)state;
    uint64_t random = 6;
    perftrace__strbuf_t a = content(0, 1000, &random);
    perftrace__forward_sender_t *s = sender(false);
    perftrace__forward_file_t *f = given(0, &a);
    assert_true(perftrace__forward_file_identify(f));
    perftrace__strbuf_append(&kept(f->key.stream)->bytes, a.data, a.len);
    perftrace__strbuf_puts(&side.file[0].bytes, "{\"more\": 1}\n");
    perftrace__forward_sender_add(s, f);
    run(s);
    assert_int_equal(f->failed, ESTALE);
    assert_int_equal(told[PERFTRACE__FORWARD_UNREADABLE], 1);
    assert_non_null(strstr(news_text, "the other side has more of it than there is"));
    assert_int_equal(side.pieces, 0);
    perftrace__forward_sender_free(s);
    perftrace__strbuf_free(&a);
}

static void a_file_that_is_gone_does_not_stop_others(void **state) {
    (void)state;
    uint64_t random = 7;
    perftrace__strbuf_t a = content(0, 1000, &random);
    perftrace__strbuf_t b = content(1, 1000, &random);
    perftrace__forward_sender_t *s = sender(false);
    perftrace__forward_sender_add(s, given(0, &a));
    perftrace__forward_sender_add(s, given(1, &b));
    assert_int_equal(unlink("traces-r0.jsonl"), 0);
    run(s);
    assert_int_equal(told[PERFTRACE__FORWARD_UNREADABLE], 1);
    assert_non_null(strstr(news_text, "traces-r0.jsonl: No such file"));
    assert_int_equal(side.files, 1);
    same(&side.file[0], &b);
    perftrace__forward_sender_free(s);
    perftrace__strbuf_free(&a);
    perftrace__strbuf_free(&b);
}

static void files_are_given_back(void **state) {
    (void)state;
    uint64_t random = 8;
    perftrace__strbuf_t a = content(0, 1000, &random);
    perftrace__strbuf_t b = content(1, 1000, &random);
    perftrace__forward_sender_t *s = sender(false);
    perftrace__forward_file_t *f = given(0, &a);
    perftrace__forward_file_t *g = given(1, &b);
    perftrace__forward_sender_add(s, f);
    perftrace__forward_sender_add(s, g);
    perftrace__forward_sender_take(s, f);
    perftrace__forward_sender_take(s, f); /* is not there any more */
    perftrace__forward_file_free(f);
    assert_ptr_equal(perftrace__forward_sender_files(s), g);
    run(s);
    same(&side.file[0], &b);
    perftrace__forward_sender_take(s, g);
    assert_null(perftrace__forward_sender_files(s));
    assert_true(perftrace__forward_sender_done(s));
    side.o->acked(side.o->ctx, g->key.stream, 5, true); /* of a file that is not there */
    perftrace__forward_file_free(g);
    perftrace__forward_sender_free(s);
    perftrace__strbuf_free(&a);
    perftrace__strbuf_free(&b);
}

static void an_outage_is_told_once(void **state) {
    (void)state;
    uint64_t random = 9;
    perftrace__strbuf_t a = content(0, 1000, &random);
    perftrace__forward_sender_t *s = sender(false);
    perftrace__forward_sender_add(s, given(0, &a));
    side.unreachable = true;
    uint64_t begun = now_ns;
    while (now_ns - begun < UINT64_C(3600000000000)) { /* an hour */
        perftrace__forward_sender_step(s, 1000);
        assert_false(perftrace__forward_sender_connected(s));
    }
    assert_int_equal(told[PERFTRACE__FORWARD_UNREACHABLE], 1);
    assert_string_equal(news_text, "nobody there");
    /* Attempts are 2.5 to 5 s apart in the end. */
    assert_in_range(side.opens, 720, 1450);
    side.unreachable = false;
    run(s);
    assert_true(perftrace__forward_sender_connected(s));
    assert_int_equal(told[PERFTRACE__FORWARD_REACHED], 1);
    same(&side.file[0], &a);
    perftrace__forward_sender_free(s);
    perftrace__strbuf_free(&a);
}

static void try_for_an_hour(perftrace__forward_sender_t *s) {
    uint64_t begun = now_ns;
    side.opens = 0;
    while (now_ns - begun < UINT64_C(3600000000000)) {
        perftrace__forward_sender_step(s, 1000);
    }
    assert_in_range(side.opens, 720, 1450); /* 2.5 to 5 s apart in the end */
}

/* Such a server answers with places, which must not be taken for success. */
static void a_full_store_is_told_once(void **state) {
    (void)state;
    uint64_t random = 11;
    perftrace__strbuf_t a = content(0, 1000, &random);
    perftrace__forward_sender_t *s = sender(false);
    perftrace__forward_sender_add(s, given(0, &a));
    side.full = true;
    try_for_an_hour(s);
    assert_int_equal(told[PERFTRACE__FORWARD_REFUSED], 1);
    assert_string_equal(news_text, "it is full");
    assert_string_equal(perftrace__forward_sender_problem(s), "it is full");
    /* What happens meanwhile is told once, too. */
    side.unreachable = true;
    try_for_an_hour(s);
    assert_string_equal(perftrace__forward_sender_problem(s), "nobody there");
    side.unreachable = false;
    try_for_an_hour(s);
    assert_int_equal(told[PERFTRACE__FORWARD_UNREACHABLE], 1);
    assert_int_equal(told[PERFTRACE__FORWARD_REFUSED], 1);
    assert_int_equal(told[PERFTRACE__FORWARD_TAKEN] + told[PERFTRACE__FORWARD_REACHED], 0);
    side.full = false;
    run(s);
    assert_int_equal(told[PERFTRACE__FORWARD_TAKEN], 1);
    assert_int_equal(told[PERFTRACE__FORWARD_REACHED], 0);
    assert_string_equal(perftrace__forward_sender_problem(s), "");
    same(&side.file[0], &a);
    perftrace__forward_sender_free(s);
    perftrace__strbuf_free(&a);
}

static void with_nothing_to_send_a_place_is_enough(void **state) {
    (void)state;
    uint64_t random = 12;
    perftrace__strbuf_t a = content(0, 1000, &random);
    perftrace__forward_sender_t *s = sender(false);
    perftrace__forward_sender_add(s, given(0, &a));
    run(s);
    perftrace__forward_sender_free(s);
    s = sender(false);
    perftrace__forward_sender_add(s, given(0, &a));
    side.unreachable = true;
    try_for_an_hour(s);
    assert_int_equal(told[PERFTRACE__FORWARD_UNREACHABLE], 1);
    side.unreachable = false;
    side.pieces = 0;
    run(s);
    assert_int_equal(told[PERFTRACE__FORWARD_REACHED], 1);
    assert_int_equal(side.pieces, 0);
    perftrace__forward_sender_free(s);
    perftrace__strbuf_free(&a);
}

static void the_clock_is_asked_for(void **state) {
    (void)state;
    uint64_t random = 10;
    perftrace__strbuf_t a = content(0, 1000000, &random);
    for (side.clock = 0; side.clock < 4; side.clock++) {
        perftrace__forward_sender_t *s = sender(true);
        perftrace__forward_sender_add(s, given(0, &a));
        readings = side.asked_clock = 0;
        side.files = 0;
        perftrace__strbuf_clear(&side.file[0].bytes);
        side.file[0].last = false;
        side.file[0].told = 0;
        uint64_t began_ns = now_ns;
        run(s);                /* whoever does not answer does not keep files back */
        if (side.clock == 0) { /* nor does a burst, all of whose answers come in the call */
            assert_true(now_ns - began_ns < 1000000000u);
        }
        same(&side.file[0], &a);
        for (unsigned i = 0; i < 200; i++) {
            perftrace__forward_sender_step(s, 1000);
        }
        if (side.clock == 0 || side.clock == 3) {
            assert_true(readings >= 2);
            assert_int_equal(readings, perftrace__forward_sender_totals(s)->readings);
            assert_string_equal(reading.ref, "their boot");
            int64_t off = (int64_t)(reading.ref_ns - reading.mono_ns) - 1000000;
            assert_true(llabs(off) <= (int64_t)reading.error_ns);
            assert_true(side.asked_clock >= 16 * readings);
        } else {
            assert_int_equal(readings, 0);
            assert_true(side.asked_clock >= 2 && side.asked_clock < 200);
        }
        perftrace__forward_sender_free(s);
    }
    perftrace__strbuf_free(&a);
}

static void everything_fails_now_and_then(void **state) {
    (void)state;
    unsigned gaps = 0;
    unsigned opens = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        memset(&side, 0, sizeof side);
        side.random = seed;
        side.percent = 1 + base_random_below(&side.random, 40);
        side.breaks = base_random_below(&side.random, 40);
        side.clock = (int)base_random_below(&side.random, 4);
        side.wish = base_random_below(&side.random, 4) == 0;
        unsigned n = 1 + base_random_below(&side.random, FILES);
        perftrace__strbuf_t text[FILES];
        perftrace__forward_file_t *f[FILES];
        perftrace__forward_sender_t *s = sender(base_random_below(&side.random, 2) == 0);
        for (unsigned i = 0; i < n; i++) {
            text[i] = content(i, base_random_below(&side.random, 700000), &side.random);
            f[i] = given(i, &text[i]);
            f[i]->ended = false;
            f[i]->limit = 0;
            perftrace__forward_sender_add(s, f[i]);
        }
        for (unsigned step = 0; !perftrace__forward_sender_done(s); step++) {
            assert_true(step < 100000);
            unsigned i = base_random_below(&side.random, n);
            size_t more = PT_MIN(text[i].len - f[i]->limit, (size_t)100000);
            if (more) { /* up to a line's end */
                const char *p = text[i].data + f[i]->limit + more - 1;
                p = memchr(p, '\n', (size_t)(text[i].data + text[i].len - p));
                f[i]->limit = (uint64_t)(p + 1 - text[i].data);
            } else {
                f[i]->ended = true;
            }
            perftrace__forward_sender_step(s, 100);
        }
        for (unsigned i = 0; i < n; i++) {
            assert_int_equal(f[i]->failed, 0);
            same(kept(f[i]->key.stream), &text[i]);
            perftrace__strbuf_free(&text[i]);
        }
        assert_int_equal(side.uncalled, 0);
        assert_int_equal(told[PERFTRACE__FORWARD_UNREADABLE], 0);
        perftrace__forward_sender_free(s);
        assert_false(side.open);
        for (unsigned i = 0; i < FILES; i++) {
            perftrace__strbuf_free(&side.file[i].bytes);
        }
        gaps += side.refused;
        opens += side.opens;
    }
    print_message("%u gaps, %u connections\n", gaps, opens);
    assert_true(gaps > 20 && opens > 1000); /* it was that bad */
}

int main(void) {
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(two_files_go_in_turn),
        CASE(what_is_there_is_not_sent),
        CASE(a_file_grows_while_it_is_sent),
        CASE(no_more_than_a_window_is_on_its_way),
        CASE(the_other_side_lost_some),
        CASE(more_there_than_here),
        CASE(a_file_that_is_gone_does_not_stop_others),
        CASE(files_are_given_back),
        CASE(an_outage_is_told_once),
        CASE(a_full_store_is_told_once),
        CASE(with_nothing_to_send_a_place_is_enough),
        CASE(the_clock_is_asked_for),
        CASE(everything_fails_now_and_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
