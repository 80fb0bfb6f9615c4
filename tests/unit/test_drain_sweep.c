/* test_drain_sweep.c: rings, a sink that fails at will, and what reaches it.
 * SPDX-License-Identifier: MIT
 *
 * The producer is the test itself: it writes records into slots as the core does. */
#include "atomics.h"
#include "base_random.h"
#include "drain.h"
#include "traced_child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define WORDS ((uint64_t)PERFTRACE__RING_MIN_WORDS)
#define SLOTS 5

/* Takes events; flush fails while told to; what was flushed counts as written. */
typedef struct book {
    perftrace__sink_t base;
    bool broken;
    bool hangs;            /* flush does not return meanwhile */
    uint64_t taken[SLOTS]; /* events by slot, text that waits included */
    uint64_t next[SLOTS];  /* the number expected next */
    uint64_t waiting;      /* events not flushed */
    uint64_t flushed;
    uint64_t batch; /* full at */
    uint64_t offset;
    uint64_t drops;
    uint64_t drop_lines;
    uint64_t first_ns, last_ns;
    unsigned threads;
    char name[64];
    unsigned unfinished;
    unsigned footers;
    perftrace__account_t account;
    uint64_t last_time;
} book_t;

static book_t *self(perftrace__sink_t *s) {
    return (book_t *)s;
}

static bool on_event(perftrace__sink_t *s, const perftrace__event_t *ev) {
    book_t *b = self(s);
    assert_int_equal(ev->args[0], b->next[ev->slot]);
    b->next[ev->slot]++;
    b->taken[ev->slot]++;
    b->waiting++;
    assert_true(ev->end >= b->last_time);
    b->last_time = ev->end;
    return true;
}

static void on_thread(perftrace__sink_t *s, uint32_t tid, const char *name) {
    (void)tid;
    self(s)->threads++;
    snprintf(self(s)->name, sizeof(self(s)->name), "%s", name);
}

static void on_drop(perftrace__sink_t *s, const perftrace__drop_t *d) {
    self(s)->drops += d->count;
    self(s)->drop_lines++;
    self(s)->first_ns = d->first_ns;
    self(s)->last_ns = d->last_ns;
}

static void on_clock(perftrace__sink_t *s, const perftrace__clock_reading_t *r) {
    (void)s;
    (void)r;
}

static void on_unfinished(perftrace__sink_t *s, const perftrace__event_t *ev) {
    (void)ev;
    self(s)->unfinished++;
}

static void on_footer(perftrace__sink_t *s, const perftrace__account_t *account) {
    self(s)->footers++;
    self(s)->account = *account;
}

static bool is_full(const perftrace__sink_t *s) {
    const book_t *b = (const book_t *)s;
    return b->waiting >= b->batch;
}

static int flush(perftrace__sink_t *s, perftrace__flush_t how) {
    (void)how;
    book_t *b = self(s);
    while (pt_load_acquire(&b->hangs)) {
        usleep(1000);
    }
    if (b->broken) {
        return PERFTRACE_ERR_IO;
    }
    b->flushed += b->waiting;
    b->offset += b->waiting * 10;
    b->waiting = 0;
    return PERFTRACE_OK;
}

static uint64_t offset(const perftrace__sink_t *s) {
    return ((const book_t *)s)->offset;
}

static bool replaced(perftrace__sink_t *s) {
    (void)s;
    return false;
}

static void no_close(perftrace__sink_t *s) {
    (void)s;
}

static const perftrace__sink_ops_t book_ops = {.event = on_event,
                                               .thread = on_thread,
                                               .drop = on_drop,
                                               .clock = on_clock,
                                               .unfinished = on_unfinished,
                                               .footer = on_footer,
                                               .full = is_full,
                                               .flush = flush,
                                               .offset = offset,
                                               .replaced = replaced,
                                               .close = no_close};

typedef struct fixture {
    char dir[64];
    perftrace__ring_t ring;
    perftrace__slot_t *slots[SLOTS];
    uint64_t emitted[SLOTS];
    perftrace__drain_t drain;
    book_t book;
    uint64_t clock;
} fixture_t;

static void make(fixture_t *f, uint32_t slots, uint64_t batch) {
    memset(f, 0, sizeof(*f));
    traced_dir_make(f->dir);
    const perftrace__run_meta_t meta = {.rank = 0};
    const char *dirs[] = {f->dir};
    assert_int_equal(perftrace__ring_create(&f->ring, dirs, 1, WORDS, SLOTS, &meta), 0);
    f->ring.header->anchors[0] = (perftrace__anchor_t){0, 0, (uint64_t)1 << 32};
    f->ring.header->anchor_count = 1;
    static const perftrace_i_arg_t arg = {"n", PERFTRACE_I_TYPE_U64};
    const perftrace_i_site_t site = {
        .kind = PERFTRACE_I_KIND_INSTANT, .name = "i", .category = "c", .nargs = 1, .args = &arg};
    const perftrace_i_site_t scope = {.kind = PERFTRACE_I_KIND_SCOPE, .name = "s", .category = "c"};
    perftrace__strbuf_t entry = PERFTRACE__STRBUF_INIT;
    perftrace__log_site(&entry, 1, &site, "c");
    perftrace__log_site(&entry, 2, &scope, "c");
    assert_true(perftrace__ring_log_append(&f->ring, entry.data, entry.len));
    perftrace__strbuf_free(&entry);
    for (uint32_t i = 0; i < slots; i++) {
        f->slots[i] = perftrace__ring_slot_take(&f->ring, 100 + i, 1, "name");
    }
    f->book.base.ops = &book_ops;
    f->book.batch = batch;
    perftrace__drain_init(&f->drain, &f->ring);
    f->drain.sinks[f->drain.nsinks++] = &f->book.base;
}

static void drop(fixture_t *f) {
    perftrace__drain_free(&f->drain);
    perftrace__ring_unlink(&f->ring);
    perftrace__ring_unmap(&f->ring);
    traced_dir_remove(f->dir);
}

/* One event, when there is room. */
static bool emit(fixture_t *f, uint32_t i) {
    perftrace__slot_t *s = f->slots[i];
    uint64_t head = s->hot.word >> 8;
    if (head + 3 - pt_load_acquire(&s->tail) > WORDS) {
        return false;
    }
    uint64_t *at = perftrace_i_record_at(&s->hot, s->hot.word, s->hot.mask);
    at[0] = PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_INSTANT, 0, 3, 1);
    at[1] = ++f->clock;
    at[2] = f->emitted[i]++;
    pt_store_release(&s->hot.word, s->hot.word + (3u << 8));
    return true;
}

static uint64_t emitted(const fixture_t *f) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < SLOTS; i++) {
        n += f->emitted[i];
    }
    return n;
}

static void everything_arrives_once_and_in_order_whatever_fails(void **state) {
    (void)state;
    uint64_t seed = 70;
    fixture_t f;
    make(&f, SLOTS, 40);
    uint64_t refused = 0;
    for (int round = 0; round < 3000; round++) {
        for (uint32_t k = base_random_below(&seed, 400); k > 0; k--) {
            refused += !emit(&f, base_random_below(&seed, SLOTS));
        }
        f.book.broken = round / 100 % 2 || base_random_below(&seed, 3) == 0;
        int status = perftrace__drain_sweep(&f.drain, round % 5 == 0);
        assert_int_equal(status != 0, f.book.broken);
        /* What the ring says was committed is what the file has. */
        const perftrace__commit_t *c = &f.ring.header->commit[f.ring.header->commit_seq & 1];
        assert_true(c->written <= f.book.flushed && c->file_offset <= f.book.offset);
        if (status == 0) {
            assert_int_equal(c->written, emitted(&f));
            assert_int_equal(c->file_offset, f.book.offset);
            assert_int_equal(perftrace__drain_backlog(&f.ring), 0);
        }
    }
    f.book.broken = false;
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(f.book.flushed, emitted(&f));
    assert_true(refused > 0); /* the broken disk did fill a ring */
    assert_int_equal(f.book.threads, SLOTS);
    drop(&f);
}

static uint64_t now_ticks;
static uint64_t ticks(void) {
    return now_ticks;
}

static void what_comes_during_a_sweep_waits_for_the_next(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 2, 1000);
    f.drain.ticks = ticks;
    for (int i = 0; i < 10; i++) {
        emit(&f, i & 1);
    }
    now_ticks = f.clock; /* the sweep begins at the time of the last of these */
    for (int i = 0; i < 10; i++) {
        emit(&f, 1); /* the second slot goes on before it is looked at */
    }
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(f.book.taken[0], 5);
    assert_int_equal(f.book.taken[1], 5);
    now_ticks = f.clock - 1;
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(f.book.taken[1], 14);
    /* A clock that was set back by more than a sweep can last holds nothing up. */
    f.clock = now_ticks + ((uint64_t)1 << 29);
    emit(&f, 0);
    emit(&f, 1);
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(f.book.taken[1], 14); /* its next is one tick ahead: so is what follows */
    now_ticks++;
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(f.book.taken[0], 6);
    assert_int_equal(f.book.taken[1], 16);
    /* The end takes everything. */
    emit(&f, 0);
    now_ticks = f.clock - 1;
    assert_int_equal(perftrace__drain_finish(&f.drain, 0), 0);
    assert_int_equal(f.book.taken[0], 7);
    assert_int_equal(f.book.account.written, emitted(&f));
    drop(&f);
}

static void losses_are_told_once_with_their_range(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 1, 1000);
    perftrace__slot_t *s = f.slots[0];
    s->drops[0] = 3;
    s->drop_first = 1000;
    s->drop_last = 5000;
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(f.book.drops, 3);
    assert_int_equal(f.book.first_ns, 1000);
    assert_int_equal(f.book.last_ns, 5000);
    assert_int_equal(s->drop_first, 0);
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(f.book.drop_lines, 1);
    s->drops[1] = 2;
    s->too_long = 4;
    f.ring.header->no_slot = 5;
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(f.book.drop_lines, 4);
    assert_int_equal(perftrace__drain_finish(&f.drain, 7), 0);
    assert_int_equal(f.book.footers, 1);
    assert_int_equal(f.book.account.dropped[PERFTRACE_DROP_ring_full], 3);
    assert_int_equal(f.book.account.dropped[PERFTRACE_DROP_block_timeout], 2);
    assert_int_equal(f.book.account.dropped[PERFTRACE_DROP_too_long], 4);
    assert_int_equal(f.book.account.dropped[PERFTRACE_DROP_no_slot], 5);
    assert_int_equal(f.book.account.dropped[PERFTRACE_DROP_late], 7);
    drop(&f);
}

static void a_damaged_record_costs_its_lane_only(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 2, 1000);
    for (int i = 0; i < 10; i++) {
        emit(&f, 0);
        emit(&f, 1);
    }
    perftrace_i_record_at(&f.slots[0]->hot, 9 << 8, WORDS - 1)[0] = 0; /* its fourth */
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(f.book.taken[0], 3);
    assert_int_equal(f.book.taken[1], 10);
    assert_int_equal(f.drain.dropped[PERFTRACE_DROP_damaged], 1);
    f.book.next[0] = f.emitted[0];
    assert_true(emit(&f, 0)); /* the lane goes on behind it */
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(f.book.taken[0], 4);
    drop(&f);
}

static void open_scopes_are_told_at_the_end(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 1, 1000);
    perftrace__slot_t *s = f.slots[0];
    s->open[0] = (perftrace_i_open_t){10, 2, 0};
    s->open[1] = (perftrace_i_open_t){11, 0, 0}; /* closed out of order */
    s->open[2] = (perftrace_i_open_t){12, 2, 0};
    s->hot.word = s->hot.word + 3;
    assert_int_equal(perftrace__drain_finish(&f.drain, 0), 0);
    assert_int_equal(f.book.unfinished, 2);
    assert_int_equal(f.book.account.unfinished, 2);
    drop(&f);
}

static void a_slot_is_free_when_its_thread_is_gone_and_all_is_written(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 1, 1000);
    perftrace__slot_t *s = f.slots[0];
    emit(&f, 0);
    pt_store_release(&s->state, PERFTRACE__SLOT_EXITED);
    f.book.broken = true;
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), PERFTRACE_ERR_IO);
    assert_int_equal(s->state, PERFTRACE__SLOT_EXITED);
    f.book.broken = false;
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(s->state, PERFTRACE__SLOT_FREE);
    assert_ptr_equal(perftrace__ring_slot_take(&f.ring, 200, 5, "other"), s);
    emit(&f, 0);
    assert_int_equal(perftrace__drain_sweep(&f.drain, false), 0);
    assert_int_equal(f.book.threads, 2);
    assert_string_equal(f.book.name, "other");
    drop(&f);
}

static void a_request_waits_for_a_sweep_of_its_own(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 1, 1000);
    assert_int_equal(perftrace__drain_thread_start(&f.drain, 60000000000ull), 0);
    for (int i = 0; i < 200; i++) {
        emit(&f, 0);
        assert_int_equal(perftrace__drain_request(&f.drain, i % 2), 0);
        assert_int_equal(__atomic_load_n(&f.drain.written, __ATOMIC_ACQUIRE), i + 1);
    }
    int status = -1;
    assert_true(perftrace__drain_thread_finish(&f.drain, 0, 60000000000ull, &status));
    assert_int_equal(status, 0);
    assert_int_equal(f.book.footers, 1);
    drop(&f);
}

static void the_end_is_not_waited_for_when_the_disk_hangs_meanwhile(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 1, 1000);
    assert_int_equal(perftrace__drain_thread_start(&f.drain, 60000000000ull), 0);
    assert_int_equal(perftrace__drain_request(&f.drain, false), 0); /* the thread sleeps now */
    pt_store_release(&f.book.hangs, true);
    emit(&f, 0);
    int status = -1;
    assert_false(perftrace__drain_thread_finish(&f.drain, 0, 50000000u, &status));
    pt_store_release(&f.book.hangs, false);
    while (!pt_load_acquire(&f.drain.ended)) {
        usleep(1000);
    }
    assert_int_equal(f.book.footers, 1);
    assert_int_equal(f.book.flushed, 1);
    drop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_arrives_once_and_in_order_whatever_fails),
        cmocka_unit_test(what_comes_during_a_sweep_waits_for_the_next),
        cmocka_unit_test(losses_are_told_once_with_their_range),
        cmocka_unit_test(a_damaged_record_costs_its_lane_only),
        cmocka_unit_test(open_scopes_are_told_at_the_end),
        cmocka_unit_test(a_slot_is_free_when_its_thread_is_gone_and_all_is_written),
        cmocka_unit_test(a_request_waits_for_a_sweep_of_its_own),
        cmocka_unit_test(the_end_is_not_waited_for_when_the_disk_hangs_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
