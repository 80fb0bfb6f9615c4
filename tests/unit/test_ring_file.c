/* test_ring_file.c: the ring file from inside and from outside. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "base_random.h"
#include "os.h"
#include "ring_file.h"
#include "ring_reader.h"
#include "traced_child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define WORDS ((uint64_t)PERFTRACE__RING_MIN_WORDS)

typedef struct fixture {
    char dir[64];
    perftrace__ring_t ring;
} fixture_t;

static void make(fixture_t *f, uint32_t max_slots) {
    traced_dir_make(f->dir);
    perftrace__run_meta_t meta = {.rank = 3, .pid = perftrace__os_pid()};
    meta.process_start = perftrace__os_process_start(meta.pid);
    perftrace__os_boot_id(meta.boot_id);
    strcpy(meta.trace_path, "/nowhere/traces-r3.jsonl");
    const char *dirs[] = {"/no/such/folder", f->dir};
    assert_int_equal(perftrace__ring_create(&f->ring, dirs, 2, WORDS, max_slots, &meta), 0);
    assert_false(f->ring.anonymous);
}

static void drop(fixture_t *f) {
    perftrace__ring_unlink(&f->ring);
    perftrace__ring_unmap(&f->ring);
    assert_int_equal(traced_files(f->dir, "*.ring"), 0);
    traced_dir_remove(f->dir);
}

static uint64_t *data_of(perftrace__slot_t *s) {
    return (uint64_t *)(void *)((char *)s + PERFTRACE_I_DATA_AT);
}

static void a_new_ring_is_what_the_reader_expects(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 5);
    struct stat st;
    assert_int_equal(stat(f.ring.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    perftrace__ring_view_t *v = calloc(1, sizeof(*v));
    const char *problem = NULL;
    assert_int_equal(perftrace__ring_view_open(v, f.ring.path, &problem), 0);
    assert_null(v->problem);
    assert_int_equal(v->slot_count, 0);
    assert_int_equal(v->header.meta.rank, 3);
    assert_int_equal(v->header.ring_words, WORDS);
    assert_string_equal(v->header.meta.trace_path, "/nowhere/traces-r3.jsonl");
    perftrace__ring_view_close(v);
    free(v);
    drop(&f);
}

static void the_ring_lies_twice_in_a_row(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 2);
    perftrace__slot_t *s = perftrace__ring_slot_take(&f.ring, 11, 1, "one");
    assert_non_null(s);
    uint64_t *data = data_of(s);
    for (uint64_t i = 0; i < WORDS; i++) {
        data[WORDS + i] = i * 3 + 1; /* through the second mapping */
    }
    for (uint64_t i = 0; i < WORDS; i++) {
        assert_int_equal(data[i], i * 3 + 1);
    }
    assert_int_equal(s->hot.mask, WORDS - 1);
    drop(&f);
}

static void slots_are_used_again_and_end_at_their_number(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 2);
    perftrace__slot_t *a = perftrace__ring_slot_take(&f.ring, 11, 1, "one");
    perftrace__slot_t *b = perftrace__ring_slot_take(&f.ring, 12, 2, "two");
    assert_true(a && b && a != b);
    assert_null(perftrace__ring_slot_take(&f.ring, 13, 3, "three"));
    assert_int_equal(a->generation, 1);
    a->hot.word = 40 << 8 | 3;
    pt_store_release(&a->state, PERFTRACE__SLOT_EXITED);
    assert_null(perftrace__ring_slot_take(&f.ring, 13, 3, "three")); /* not drained yet */
    pt_store_release(&a->state, PERFTRACE__SLOT_FREE);
    char name[200];
    memset(name, 'n', sizeof(name));
    memcpy(name + 62, "\xC3\xA4", 3);
    assert_ptr_equal(perftrace__ring_slot_take(&f.ring, 14, 4, name), a);
    assert_int_equal(a->generation, 2);
    assert_int_equal(a->tid, 14);
    assert_int_equal(a->born, 4);
    assert_int_equal(a->hot.word, 40 << 8); /* the position stays, no scope is open */
    assert_int_equal(strlen(a->name), 62);  /* cut on a character */
    assert_int_equal(f.ring.header->slot_count, 2);
    drop(&f);
}

static void view_equals(const perftrace__ring_t *r, uint64_t from, uint64_t to) {
    perftrace__ring_view_t *v = calloc(1, sizeof(*v));
    assert_int_equal(perftrace__ring_view_open(v, r->path, NULL), 0);
    assert_int_equal(v->slot_count, 1);
    perftrace__slot_view_t *s = calloc(1, sizeof(*s));
    assert_int_equal(perftrace__ring_view_slot(v, 0, s), 0);
    assert_false(s->damaged);
    assert_int_equal(s->nwords, to - from);
    for (uint64_t i = 0; i < s->nwords; i++) {
        assert_int_equal(s->words[i], from + i);
    }
    perftrace__slot_view_free(s);
    perftrace__slot_view_free(NULL);
    free(s);
    perftrace__ring_view_close(v);
    free(v);
}

static void the_view_of_a_ring_is_what_was_written_at_every_turn(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 1);
    uint64_t seed = 50;
    perftrace__slot_t *s = perftrace__ring_slot_take(&f.ring, 11, 1, "one");
    uint64_t tail = 0;
    uint64_t head = 0;
    for (int round = 0; round < 100; round++) {
        uint64_t more = base_random_below(&seed, (uint32_t)(WORDS - (head - tail)) + 1);
        for (uint64_t i = 0; i < more; i++) {
            data_of(s)[(head + i) & (WORDS - 1)] = head + i;
        }
        head += more;
        pt_store_release(&s->hot.word, head << 8);
        view_equals(&f.ring, tail, head);
        /* Commits in turns, as the drain does: the other copy does not count. */
        tail += base_random_below(&seed, (uint32_t)(head - tail) + 1);
        uint32_t seq = f.ring.header->commit_seq + 1;
        s->commit[seq & 1].pos = tail;
        pt_store_release(&f.ring.header->commit_seq, seq);
        view_equals(&f.ring, tail, head);
    }
    assert_true(head > 4 * WORDS);
    drop(&f);
}

static void the_log_takes_entries_up_to_its_size(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 1);
    static char entry[100000];
    uint64_t len = 0;
    while (perftrace__ring_log_append(&f.ring, entry, sizeof(entry))) {
        memset(entry, (int)(len / sizeof(entry)), sizeof(entry));
        len += sizeof(entry);
        assert_int_equal(f.ring.header->log_len, len);
    }
    assert_int_equal(len, PERFTRACE__RING_LOG_CAP / sizeof(entry) * sizeof(entry));
    assert_int_equal(f.ring.log[2 * sizeof(entry)], 1);
    drop(&f);
}

/* One word at two addresses, which no compiler would expect. */
static void check_twice(perftrace__slot_t *s) {
    assert_non_null(s);
    volatile uint64_t *data = data_of(s);
    data[2 * WORDS - 1] = 9;
    assert_int_equal(data[WORDS - 1], 9);
    data[0] = 8;
    assert_int_equal(data[WORDS], 8);
}

static void without_a_folder_the_ring_lies_in_memory(void **state) {
    (void)state;
    perftrace__ring_t r;
    perftrace__run_meta_t meta = {.rank = 0};
    const char *dirs[] = {"/no/such/folder", "/proc"};
    assert_int_equal(perftrace__ring_create(&r, dirs, 2, WORDS, 3, &meta), 0);
    assert_true(r.anonymous);
    assert_string_equal(r.path, "");
    check_twice(perftrace__ring_slot_take(&r, 1, 1, ""));
    static const char entry[1000];
    for (int i = 0; i < 1000; i++) {
        assert_true(perftrace__ring_log_append(&r, entry, sizeof(entry)));
    }
    perftrace__ring_unlink(&r);
    perftrace__ring_unmap(&r);
}

static void need_mremap(void) {
    char *p = mmap(NULL, 65536, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    char *again = mremap(p, 0, 65536, MREMAP_MAYMOVE);
    if (again == MAP_FAILED) {
        print_message("valgrind and qemu-user cannot map the same memory twice\n");
        skip();
    }
    munmap(again, 65536);
    munmap(p, 65536);
}

static void limit_files(rlim_t bytes) {
    const struct rlimit l = {bytes, RLIM_INFINITY};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* Growing a file beyond the limit would end the test by a signal. */
static void where_no_file_may_grow_slots_lie_in_memory(void **state) {
    (void)state;
    need_mremap();
    fixture_t f;
    make(&f, 3);
    check_twice(perftrace__ring_slot_take(&f.ring, 1, 1, "in the file"));
    limit_files(100);
    perftrace__slot_t *s = perftrace__ring_slot_take(&f.ring, 2, 1, "in memory");
    check_twice(s);
    assert_int_equal(f.ring.memory_slots, 1);
    limit_files(RLIM_INFINITY);
    check_twice(perftrace__ring_slot_take(&f.ring, 3, 1, "in the file"));
    assert_int_equal(f.ring.memory_slots, 1);
    /* Outside the place of the one in memory is free. */
    perftrace__ring_view_t *v = calloc(1, sizeof(*v));
    assert_int_equal(perftrace__ring_view_open(v, f.ring.path, NULL), 0);
    assert_int_equal(v->slot_count, 3);
    static const uint32_t states[] = {PERFTRACE__SLOT_LIVE, PERFTRACE__SLOT_FREE,
                                      PERFTRACE__SLOT_LIVE};
    for (uint32_t i = 0; i < 3; i++) {
        perftrace__slot_view_t view;
        assert_int_equal(perftrace__ring_view_slot(v, i, &view), 0);
        assert_int_equal(view.slot.state, states[i]);
        perftrace__slot_view_free(&view);
    }
    perftrace__ring_view_close(v);
    free(v);
    perftrace__ring_unlink(&f.ring);
    perftrace__ring_retire(&f.ring);
    assert_int_equal(data_of(s)[0], 0);
    data_of(s)[0] = 1;
    assert_string_equal(s->name, "in memory");
    traced_dir_remove(f.dir);
}

static void where_no_file_may_be_made_the_ring_lies_in_memory(void **state) {
    (void)state;
    need_mremap();
    char dir[64];
    traced_dir_make(dir);
    const char *dirs[] = {dir};
    perftrace__run_meta_t meta = {.rank = 0};
    perftrace__ring_t r;
    limit_files(100);
    assert_int_equal(perftrace__ring_create(&r, dirs, 1, WORDS, 3, &meta), 0);
    assert_true(r.anonymous);
    check_twice(perftrace__ring_slot_take(&r, 1, 1, ""));
    limit_files(RLIM_INFINITY);
    check_twice(perftrace__ring_slot_take(&r, 2, 1, ""));
    assert_int_equal(r.memory_slots, 2);
    perftrace__ring_unmap(&r);
    assert_int_equal(traced_files(dir, "*.ring"), 0);
    traced_dir_remove(dir);
}

static void a_retired_ring_can_still_be_written(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 2);
    perftrace__slot_t *s = perftrace__ring_slot_take(&f.ring, 11, 1, "one");
    data_of(s)[0] = 77;
    perftrace__ring_unlink(&f.ring);
    perftrace__ring_header_t *h = f.ring.header;
    perftrace__ring_retire(&f.ring);
    assert_int_equal(data_of(s)[0], 0);
    data_of(s)[2 * WORDS - 1] = 5; /* a late thread */
    s->hot.word += 256;
    assert_int_equal(h->ring_words, WORDS);
    assert_int_equal(h->slot_count, 1);
    munmap(s, PERFTRACE_I_DATA_AT + WORDS * 16);
    munmap(h, PERFTRACE__RING_HEADER_AT + PERFTRACE__RING_LOG_CAP);
    traced_dir_remove(f.dir);
}

/* Changes bytes of a ring file and says how opening it ends. */
static int open_changed(const perftrace__ring_t *r, size_t at, const void *bytes, size_t len) {
    char copy[4200];
    char command[9000];
    snprintf(copy, sizeof(copy), "%s.copy", r->path);
    snprintf(command, sizeof(command), "cp --sparse=always %s %s", r->path, copy);
    assert_int_equal(system(command), 0);
    FILE *f = fopen(copy, "r+b");
    assert_true(f && fseek(f, (long)at, SEEK_SET) == 0 && fwrite(bytes, 1, len, f) == len);
    fclose(f);
    perftrace__ring_view_t *v = calloc(1, sizeof(*v));
    const char *problem = NULL;
    int status = perftrace__ring_view_open(v, copy, &problem);
    assert_true(status == 0 || problem != NULL);
    if (status == 0) {
        perftrace__ring_view_close(v);
    }
    free(v);
    unlink(copy);
    return status;
}

#define AT(field) offsetof(perftrace__ring_header_t, field)

static void a_header_that_cannot_be_is_refused(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 2);
    (void)perftrace__ring_slot_take(&f.ring, 11, 1, "one");
    static const uint64_t big = (uint64_t)1 << 40;
    static const uint64_t odd = WORDS + 1;
    static const uint32_t many = PERFTRACE__RING_MAX_SLOTS + 1;
    static const uint32_t zero = 0;
    assert_int_equal(open_changed(&f.ring, 0, "P", 1), 0);
    assert_int_equal(open_changed(&f.ring, 0, "X", 1), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(open_changed(&f.ring, AT(version), &many, 4), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(open_changed(&f.ring, AT(endian), &zero, 4), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(open_changed(&f.ring, AT(header_bytes), &zero, 4), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(open_changed(&f.ring, AT(log_at), &big, 8), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(open_changed(&f.ring, AT(log_cap), &big, 8), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(open_changed(&f.ring, AT(log_len), &big, 8), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(open_changed(&f.ring, AT(slots_at), &big, 8), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(open_changed(&f.ring, AT(slot_stride), &big, 8), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(open_changed(&f.ring, AT(ring_words), &odd, 8), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(open_changed(&f.ring, AT(ring_words), &big, 8), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(open_changed(&f.ring, AT(max_slots), &many, 4), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(open_changed(&f.ring, AT(slot_count), &many, 4), PERFTRACE_ERR_CORRUPT);
    drop(&f);
}

static void a_position_that_cannot_be_leaves_the_slot_empty(void **state) {
    (void)state;
    fixture_t f;
    make(&f, 1);
    perftrace__slot_t *s = perftrace__ring_slot_take(&f.ring, 11, 1, "one");
    perftrace__ring_view_t *v = calloc(1, sizeof(*v));
    perftrace__slot_view_t *view = calloc(1, sizeof(*view));
    s->hot.word = (WORDS + 1) << 8 | 250;
    assert_int_equal(perftrace__ring_view_open(v, f.ring.path, NULL), 0);
    assert_int_equal(perftrace__ring_view_slot(v, 0, view), 0);
    assert_true(view->damaged);
    assert_int_equal(view->nwords, 0);
    assert_int_equal(view->depth, 0);
    perftrace__slot_view_free(view);
    perftrace__ring_view_close(v);
    free(view);
    free(v);
    drop(&f);
}

static void what_is_no_ring_is_said_to_be_none(void **state) {
    (void)state;
    perftrace__ring_view_t *v = calloc(1, sizeof(*v));
    const char *problem = NULL;
    assert_int_equal(perftrace__ring_view_open(v, "/no/such/file", &problem),
                     PERFTRACE_ERR_NOT_FOUND);
    assert_int_equal(perftrace__ring_view_open(v, "/dev/null", &problem), PERFTRACE_ERR_CORRUPT);
    assert_int_equal(perftrace__ring_view_open(v, "/tmp", &problem), PERFTRACE_ERR_CORRUPT);
    assert_non_null(problem);
    perftrace__ring_view_close(NULL);
    free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_ring_is_what_the_reader_expects),
        cmocka_unit_test(the_ring_lies_twice_in_a_row),
        cmocka_unit_test(slots_are_used_again_and_end_at_their_number),
        cmocka_unit_test(the_view_of_a_ring_is_what_was_written_at_every_turn),
        cmocka_unit_test(the_log_takes_entries_up_to_its_size),
        cmocka_unit_test(without_a_folder_the_ring_lies_in_memory),
        cmocka_unit_test(where_no_file_may_grow_slots_lie_in_memory),
        cmocka_unit_test(where_no_file_may_be_made_the_ring_lies_in_memory),
        cmocka_unit_test(a_retired_ring_can_still_be_written),
        cmocka_unit_test(a_header_that_cannot_be_is_refused),
        cmocka_unit_test(a_position_that_cannot_be_leaves_the_slot_empty),
        cmocka_unit_test(what_is_no_ring_is_said_to_be_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
