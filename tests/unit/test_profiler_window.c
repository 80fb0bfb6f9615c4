/* test_profiler_window.c: windows by schedule, gate and request. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler_book.h"

#include <sys/wait.h>

#define NEXT PERFTRACE_PROFILER_NEXT

static perftrace_schedule_t cycles(int64_t skip_first, int64_t wait, int64_t warmup, int64_t active,
                                   int64_t repeat) {
    perftrace_schedule_t s = PERFTRACE_SCHEDULE_INIT;
    s.skip_first = skip_first;
    s.wait = wait;
    s.warmup = warmup;
    s.active = active;
    s.repeat = repeat;
    return s;
}

static int state_now(void) {
    perftrace_profiler_status_t s = {.struct_size = sizeof(s)};
    assert_int_equal(perftrace_profiler_get_status(&s), 0);
    return s.state;
}

/* ---- the armed schedule ---- */

/* n steps as torch's loop has them: one call before, one at the end of each. */
static void pt21_run(int n, int numbered) {
    perftrace_profiler_options_t o = book_options();
    o.schedule = cycles(0, 1, 1, 3, 2);
    perftrace_profiler_t *p = book_open(&o);
    if (!numbered && n) {
        perftrace_profiler_step(p, NEXT);
    }
    for (int i = 0; i < n; i++) {
        int action = perftrace_profiler_step(p, numbered ? i : NEXT);
        assert_int_equal(action,
                         perftrace_schedule_action(&o.schedule, numbered ? i : i + 1, NULL));
    }
    assert_int_equal(perftrace_profiler_close(p), 0);
}

static void pt21_windows_that_are_not_reached_are_told(void **state) {
    (void)state;
    for (int numbered = 0; numbered < 2; numbered++) {
        pt21_run(0, numbered);
        assert_int_equal(files_of(0), 0);
        assert_int_equal(message_count, 1);
        assert_int_equal(told("0 of 2 windows recorded, first active step is 2\n"), 1);

        pt21_run(4, numbered);
        assert_int_equal(files_of(0), 1);
        assert_string_equal(book.all, "2-3[partial 2/3]");
        assert_non_null(strstr(book.path, "step2-3_"));
        assert_non_null(strstr(book.path, "_partial2-of-3.txt"));
        assert_int_equal(told("(partial 2/3)"), 1);
        files_of(1);

        book.all[0] = '\0';
        pt21_run(12, numbered);
        assert_int_equal(files_of(0), 2);
        assert_string_equal(book.all, "2-4 7-9");
        assert_null(strstr(book.path, "partial"));
        assert_non_null(strstr(book.path, "step7-9_rank0_@"));
        assert_non_null(strstr(book.path, "_cycle1.txt")); /* of the second window on */
        assert_int_equal(told("windows recorded"), 2);     /* not again */
        files_of(1);
        messages[0] = book.all[0] = '\0';
        message_count = 0;
    }
    assert_true(book.warmups > 0);
}

static void at_exit_all_that_and_the_status_is_untouched(void **state) {
    (void)state;
    int out[2];
    assert_int_equal(pipe(out), 0);
    pid_t pid = fork();
    if (pid == 0) {
        perftrace_profiler_options_t o = book_options();
        o.schedule = cycles(0, 1, 1, 3, 2);
        perftrace_profiler_t *p = NULL;
        if (perftrace_profiler_open(&o, &p)) {
            _exit(99);
        }
        for (int i = 0; i < 4; i++) {
            perftrace_profiler_step(p, i);
        }
        exit(7); /* nobody closes */
    }
    int status;
    close(out[0]);
    close(out[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_int_equal(files_of(0), 1);
}

static void a_directory_that_was_removed_is_made_again(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    perftrace_profiler_t *p = book_open(&o);
    assert_int_equal(perftrace_profiler_start(p, NULL), 0);
    assert_int_equal(rmdir(dir), 0);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_int_equal(told("no file can be made"), 0);
    assert_int_equal(files_of(0), 1);
    perftrace_profiler_close(p);
}

static void an_endless_schedule_tells_only_that_nothing_came(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.schedule = cycles(3, 1, 1, 1, 0);
    perftrace_profiler_t *p = book_open(&o);
    perftrace_profiler_step(p, 0);
    perftrace_profiler_close(p);
    assert_int_equal(told("no window recorded, first active step is 5\n"), 1);
    messages[0] = '\0';
    p = book_open(&o);
    for (int i = 0; i < 20; i++) {
        perftrace_profiler_step(p, i);
    }
    perftrace_profiler_close(p);
    assert_string_equal(book.all, "5-5 8-8 11-11 14-14 17-17");
    assert_int_equal(told("no window"), 0);
}

static void a_run_that_begins_in_the_middle_records_the_rest(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.schedule = cycles(10, 0, 0, 4, 1);
    perftrace_profiler_t *p = book_open(&o);
    for (int i = 12; i < 16; i++) { /* from a checkpoint */
        perftrace_profiler_step(p, i);
    }
    assert_int_equal(state_now(), PERFTRACE_PROFILER_IDLE);
    assert_string_equal(book.all, "12-13[partial 2/4]");
    assert_int_equal(book.first_step, 12);
    perftrace_profiler_close(p);
}

/* ---- failures ---- */

typedef struct failing {
    perftrace_profiler_t *p;
    int at, calls;
} failing_t;

static int failing_body(void *arg) {
    failing_t *f = arg;
    int at = f->at;
    f->calls++;
    perftrace_profiler_step(f->p, at);
    return at == 1 ? 4711 : 0; /* the KeyError */
}

static void pt12_a_failure_ends_the_window_and_passes(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.schedule = cycles(0, 0, 0, 3, 0);
    perftrace_profiler_t *p = book_open(&o);
    failing_t f = {p, 0, 0};
    assert_int_equal(perftrace_profiler_run(p, "train", 0, failing_body, &f), 0);
    f.at = 1;
    assert_int_equal(perftrace_profiler_run(p, "train", 0, failing_body, &f), 4711);
    assert_int_equal(f.calls, 2); /* each body once */
    assert_int_equal(book.stops, 1);
    assert_string_equal(book.mark, "aborted at step 2 of 3");
    assert_true(book.last.aborted);
    assert_non_null(strstr(book.path, "_aborted2-of-3.txt"));
    /* Ten more steps: the next cycle is a window of its own. */
    for (f.at = 2; f.at < 12; f.at++) {
        assert_int_equal(perftrace_profiler_run(p, "train", 0, failing_body, &f), 0);
    }
    assert_string_equal(book.all, "0-1[aborted at step 2 of 3] 3-5 6-8");
    /* Stop while idle, twice: no error, one line. */
    perftrace_profiler_stop(p); /* ends 9-11 */
    assert_int_equal(book.stops, 4);
    message_count = 0;
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_int_equal(message_count, 1);
    assert_int_equal(told("there is no window to stop"), 1);
    assert_int_equal(book.stops, 4);
    perftrace_profiler_close(p);
}

static void a_failing_start_leaves_the_program_alone(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.schedule = cycles(0, 0, 0, 2, 3);
    book.fail_start = 1;
    perftrace_profiler_t *p = book_open(&o);
    failing_t f = {p, 0, 0};
    for (; f.at < 1; f.at++) {
        assert_int_equal(perftrace_profiler_run(p, "train", 0, failing_body, &f), 0);
    }
    assert_int_equal(f.calls, 1);
    assert_int_equal(state_now(), PERFTRACE_PROFILER_IDLE);
    assert_int_equal(told("book does not record: "), 1);
    for (int i = 1; i < 6; i++) {
        perftrace_profiler_step(p, i);
    }
    perftrace_profiler_close(p);
    /* Not tried again in its window; later ones are. Each start that worked has its stop. */
    assert_int_equal(book.starts, 3);
    assert_int_equal(book.stops, 2);
    assert_string_equal(book.all, "2-3 4-5");
    assert_int_equal(told("2 of 3 windows recorded"), 1);
}

static void a_failing_stop_is_told_and_leaves_no_empty_file(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.name.role = "actor";
    book.fail_stop = 1;
    perftrace_profiler_t *p = book_open(&o);
    assert_int_equal(perftrace_profiler_start(p, NULL), 0);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_int_equal(files_of(1), 0);
    assert_int_equal(told("0 profiler of actor: book lost the window"), 1);
    book.fail_stop = 0;
    assert_int_equal(perftrace_profiler_start(p, NULL), 0); /* the next is not hindered */
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_int_equal(files_of(0), 1);
    perftrace_profiler_close(p);
}

/* ---- the gate ---- */

static void listed_steps_are_windows(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.steps = "1,3,5-7";
    for (int apart = 0; apart < 2; apart++) {
        o.steps_apart = apart;
        book.all[0] = '\0';
        perftrace_profiler_t *p = book_open(&o);
        for (int i = 0; i < 9; i++) {
            perftrace_profiler_step(p, i);
            perftrace_profiler_step(p, NEXT); /* mini-batches: nothing without a schedule */
            bool listed = i == 1 || i == 3 || (i >= 5 && i <= 7);
            assert_int_equal(state_now(),
                             listed ? PERFTRACE_PROFILER_RECORDING : PERFTRACE_PROFILER_IDLE);
        }
        perftrace_profiler_close(p);
        assert_string_equal(book.all, apart ? "1-1 3-3 5-5 6-6 7-7" : "1-1 3-3 5-7");
        assert_int_equal(book.first_step, apart ? 7 : 5);
    }
    assert_int_equal(files_of(0), 8);
    assert_int_equal(told("windows recorded"), 0);
    book.all[0] = '\0';
    o.steps_apart = 0;
    perftrace_profiler_t *p = book_open(&o);
    perftrace_profiler_step(p, 5);
    perftrace_profiler_step(p, 6);
    perftrace_profiler_close(p); /* the run ends early */
    assert_string_equal(book.all, "5-6[partial 2/3]");
    assert_int_equal(told("1 of 3 windows recorded"), 1);
}

/* verl's continuous mode with a schedule: mini-batches of the listed step; repeat 0 is once. */
static void the_schedule_rules_within_listed_steps(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.steps = "4";
    o.schedule = cycles(1, 1, 1, 2, 0);
    perftrace_profiler_t *p = book_open(&o);
    perftrace_profiler_step(p, 3);
    for (int i = 0; i < 20; i++) {
        perftrace_profiler_step(p, NEXT); /* another step's */
    }
    assert_int_equal(book.starts, 0);
    static const char want[] = "..wrs..............";
    perftrace_profiler_step(p, 4); /* opens the collection: mini-batch 0 begins */
    for (int i = 1; want[i]; i++) {
        assert_int_equal(perftrace_profiler_step(p, NEXT), strchr(".wrs.", want[i]) - ".wrs.");
    }
    perftrace_profiler_step(p, 5);
    perftrace_profiler_close(p);
    assert_string_equal(book.all, "4-4");
    assert_int_equal(book.first_step, 4);
    assert_non_null(strstr(book.path, "_mb3-4"));
    assert_non_null(strstr(book.path, "step4_"));
}

static void a_cut_schedule_within_a_step_is_partial(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.steps = "4";
    o.schedule = cycles(0, 0, 0, 3, 1);
    perftrace_profiler_t *p = book_open(&o);
    perftrace_profiler_step(p, 4);
    perftrace_profiler_step(p, NEXT); /* mini-batch 0 has ended */
    perftrace_profiler_step(p, 5);    /* no trailing step: 1 has not */
    assert_string_equal(book.all, "4-4[partial 1/3]");
    assert_int_equal(perftrace_profiler_close(p), 0);
    assert_int_equal(book.stops, 1);
}

/* ---- requests ---- */

static void a_request_counts_its_iterations(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    perftrace_profiler_t *p = book_open(&o);
    perftrace_profiler_request_t r = PERFTRACE_PROFILER_REQUEST_INIT;
    r.label = "by hand";
    r.schedule.delay_iterations = 2;
    r.schedule.max_iterations = 3;
    r.at_next_step = 1;
    for (int i = 100; i < 103; i++) {
        perftrace_profiler_step(p, i);
    }
    assert_int_equal(perftrace_profiler_start(p, &r), 0);
    assert_int_equal(state_now(), PERFTRACE_PROFILER_WAITING);
    perftrace_profiler_status_t waiting = {.struct_size = sizeof(waiting)};
    assert_int_equal(perftrace_profiler_get_status(&waiting), 0);
    assert_string_equal(waiting.stage, "by hand"); /* whose steps are waited for */
    assert_int_equal(perftrace_profiler_start(p, &r), PERFTRACE_ERR_STATE);
    for (int i = 103; i < 110; i++) {
        perftrace_profiler_step(p, i);
        assert_int_equal(state_now() == PERFTRACE_PROFILER_RECORDING, i >= 105 && i < 108);
        assert_int_equal(state_now() == PERFTRACE_PROFILER_WAITING, i < 105);
    }
    assert_string_equal(book.all, "105-107");
    assert_int_equal(book.first_step, 105); /* known at the start */
    assert_string_equal(book.stage, "by hand");
    assert_non_null(strstr(book.path, "_by-hand.txt"));
    /* The next one is taken; stopped before its window, it leaves nothing. */
    assert_int_equal(perftrace_profiler_start(p, &r), 0);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    perftrace_profiler_step(p, 110);
    perftrace_profiler_step(p, 111);
    perftrace_profiler_step(p, 112);
    assert_int_equal(book.starts, 1);
    /* vLLM's rule: one more. */
    r.schedule.delay_iterations = 0;
    r.schedule.max_iterations_exceeded = 1;
    r.at_next_step = 0;
    assert_int_equal(perftrace_profiler_start(p, &r), 0);
    assert_int_equal(state_now(), PERFTRACE_PROFILER_RECORDING);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(state_now(), PERFTRACE_PROFILER_RECORDING);
        perftrace_profiler_step(p, NEXT);
    }
    assert_int_equal(state_now(), PERFTRACE_PROFILER_IDLE);
    assert_int_equal(book.last.steps_done, 4);
    r.schedule.steps = "1";
    r.schedule.max_iterations = 0;
    assert_int_equal(perftrace_profiler_start(p, &r), PERFTRACE_ERR_INVALID);
    r.schedule.steps = NULL;
    r.schedule.wait = -1;
    assert_int_equal(perftrace_profiler_start(p, &r), PERFTRACE_ERR_INVALID);
    perftrace_profiler_close(p);
}

static void a_request_leaves_the_armed_schedule_its_steps(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.schedule = cycles(6, 0, 0, 2, 1);
    perftrace_profiler_t *p = book_open(&o);
    perftrace_profiler_request_t r = PERFTRACE_PROFILER_REQUEST_INIT;
    r.schedule.max_iterations = 2;
    r.at_next_step = 1;
    perftrace_profiler_step(p, NEXT);
    assert_int_equal(perftrace_profiler_start(p, &r), 0);
    for (int i = 1; i < 12; i++) {
        perftrace_profiler_step(p, NEXT);
    }
    perftrace_profiler_close(p);
    assert_string_equal(book.all, "1-2 6-7");
    assert_int_equal(told("windows recorded"), 0);
}

static void without_a_schedule_until_the_stop(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    perftrace_profiler_t *p = book_open(&o);
    assert_int_equal(perftrace_profiler_start(p, NULL), 0);
    for (int i = 7; i < 30; i++) {
        assert_int_equal(perftrace_profiler_step(p, i), PERFTRACE_PROFILER_RECORD);
    }
    perftrace_profiler_status_t s = {.struct_size = sizeof(s)};
    perftrace_profiler_get_status(&s);
    assert_true(s.state == PERFTRACE_PROFILER_RECORDING && s.steps_wanted == -1);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_string_equal(book.all, "7-29");
    assert_string_equal(book.mark, "");
    perftrace_profiler_get_status(&s);
    assert_int_equal(s.state, PERFTRACE_PROFILER_IDLE);
    assert_string_equal(s.last_path, book.path);
    perftrace_profiler_close(p);
}

/* verl: "only the first start in a process opens a collection; stop of any closes it; steps of both
 * count, stop adds one not". */
static void two_roles_share_one_collection(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.schedule = cycles(0, 0, 0, 6, 1);
    o.discrete = 0;
    o.name.role = "actor";
    o.steps = ""; /* a gate that is never open: nothing is armed */
    perftrace_profiler_t *actor = book_open(&o);
    o.name.role = "critic";
    perftrace_profiler_t *critic = book_open(&o);
    assert_int_equal(perftrace_profiler_start(actor, NULL), 0);
    assert_int_equal(perftrace_profiler_start(critic, NULL), PERFTRACE_ERR_STATE);
    perftrace_profiler_step(actor, NEXT);
    perftrace_profiler_step(critic, NEXT);
    perftrace_profiler_step(critic, NEXT);
    assert_int_equal(perftrace_profiler_stop(critic), 0);
    assert_int_equal(book.starts, 1);
    assert_int_equal(book.stops, 1);
    assert_string_equal(book.mark, "partial 3/6");
    assert_string_equal(book.role, "actor");
    assert_int_equal(perftrace_profiler_stop(actor), 0);
    assert_int_equal(book.stops, 1);
    assert_int_equal(perftrace_profiler_start(critic, NULL), 0); /* a later one is honoured */
    perftrace_profiler_close(critic);
    assert_string_equal(book.role, "critic");
    assert_int_equal(book.stops, 2);
    perftrace_profiler_close(actor);
}

/* verl's trainer: worker groups that share a process are driven once. */
static void two_roles_with_one_list_are_one_window(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.steps = "2-3";
    o.name.role = "actor";
    perftrace_profiler_t *actor = book_open(&o);
    o.name.role = "critic";
    perftrace_profiler_t *critic = book_open(&o);
    for (int i = 0; i < 6; i++) {
        perftrace_profiler_step(actor, i);
        perftrace_profiler_step(critic, i);
    }
    assert_string_equal(book.all, "2-3");
    assert_string_equal(book.role, "actor");
    assert_int_equal(book.starts, 1);
    perftrace_profiler_close(actor);
    perftrace_profiler_close(critic);
    assert_int_equal(book.stops, 1);
    assert_int_equal(told("windows recorded"), 0);
}

/* ---- who profiles ---- */

static void ranks_are_chosen_as_in_verl(void **state) {
    (void)state;
    static const struct {
        int enable, all;
        const char *ranks;
        int rank, records;
    } cases[] = {
        {1, 0, NULL, 0, 1},    {1, 0, NULL, 1, 0},    {1, 0, "", 0, 1},   {1, 0, NULL, -1, 1},
        {1, 0, "1,4-5", 0, 0}, {1, 0, "1,4-5", 5, 1}, {1, 1, NULL, 9, 1}, {1, 1, "1", 9, 1},
        {0, 1, NULL, 0, 0},    {0, 0, "0", 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        perftrace_profiler_options_t o = book_options();
        o.schedule = cycles(0, 0, 0, 2, 1);
        o.enable = cases[i].enable;
        o.all_ranks = cases[i].all;
        o.ranks = cases[i].ranks;
        o.name.rank = cases[i].rank;
        book.starts = 0;
        messages[0] = '\0';
        perftrace_profiler_t *p = book_open(&o);
        for (int step = 0; step < 4; step++) {
            perftrace_profiler_step(p, step);
        }
        failing_t f = {p, 1, 0};
        assert_int_equal(perftrace_profiler_run(p, "s", 0, failing_body, &f), 4711);
        assert_int_equal(f.calls, 1);
        if (!cases[i].records) {
            assert_int_equal(perftrace_profiler_start(p, NULL), 0);
            assert_int_equal(perftrace_profiler_stop(p), 0);
            assert_int_equal(messages[0], '\0');
        }
        perftrace_profiler_close(p);
        assert_int_equal(book.starts, cases[i].records);
    }
}

static void bad_options_are_told(void **state) {
    (void)state;
    perftrace_profiler_t *p = NULL;
    perftrace_profiler_options_t o = book_options();
#define REFUSED(text)                                                                              \
    do {                                                                                           \
        assert_int_equal(perftrace_profiler_open(&o, &p), PERFTRACE_ERR_INVALID);                  \
        assert_null(p);                                                                            \
        assert_int_equal(told(text), 1);                                                           \
        o = book_options();                                                                        \
    } while (0)
    o.callback = NULL;
    REFUSED("no back end is given (there are self cuda roc perf nvtx)");
    o.back_ends = "self,nsys";
    REFUSED("there is no back end nsys, only self cuda roc perf nvtx");
    o.steps = "3-1";
    REFUSED("steps is no list");
    o.ranks = "x";
    REFUSED("ranks is no list");
    o.schedule.wait = -1;
    REFUSED("negative");
    o.steps = o.schedule.steps = "1";
    REFUSED("given twice");
    assert_int_equal(perftrace_profiler_open(NULL, &p), PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_profiler_open(&o, NULL), PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_profiler_step(NULL, 0), PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_profiler_start(NULL, NULL), PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_profiler_stop(NULL), PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_profiler_close(NULL), 0);
}

/* ---- directories ---- */

static void pt42_the_directory_is_made_or_refused_at_the_start(void **state) {
    (void)state;
    char path[200];
    perftrace_profiler_options_t o = book_options();
    snprintf(path, sizeof(path), "%s/a/b", dir);
    o.dir = path;
    perftrace_profiler_t *p = book_open(&o);
    assert_int_equal(access(path, F_OK), -1); /* not before it is needed */
    assert_int_equal(perftrace_profiler_start(p, NULL), 0);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_int_equal(strncmp(book.path, path, strlen(path)), 0);
    perftrace_profiler_close(p);
    char in_file[4200];
    snprintf(in_file, sizeof(in_file), "%s/x", book.path); /* a path through a file */
    o.dir = in_file;
    p = book_open(&o);
    int starts = book.starts;
    assert_true(perftrace_profiler_start(p, NULL) < 0);
    assert_int_equal(book.starts, starts);
    assert_int_equal(told("Not a directory"), 1);
    perftrace_profiler_close(p);
    unlink(book.path);
    rmdir(path);
    snprintf(path, sizeof(path), "%s/a", dir);
    rmdir(path);
    /* A relative one is that of the open. */
    char before[4096];
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(dir), 0);
    o.dir = NULL;
    p = book_open(&o);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(perftrace_profiler_start(p, NULL), 0);
    perftrace_profiler_close(p);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(files_of(0), 1);
}

static void path_and_size_are_told_once(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.name.role = "actor/ref v2";
    o.schedule = cycles(10, 0, 0, 3, 1);
    perftrace_profiler_t *p = book_open(&o);
    for (int i = 0; i < 20; i++) {
        perftrace_profiler_step(p, i);
    }
    perftrace_profiler_close(p);
    char want[4400];
    snprintf(want, sizeof(want),
             "2 profiler of actor/ref v2: book recorded step 10 to 12: %s (9 bytes)\n", book.path);
    assert_string_equal(messages, want);
    assert_string_equal(book.role, "actor/ref v2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BOOK_CASE(pt21_windows_that_are_not_reached_are_told),
        BOOK_CASE(at_exit_all_that_and_the_status_is_untouched),
        BOOK_CASE(a_directory_that_was_removed_is_made_again),
        BOOK_CASE(an_endless_schedule_tells_only_that_nothing_came),
        BOOK_CASE(a_run_that_begins_in_the_middle_records_the_rest),
        BOOK_CASE(pt12_a_failure_ends_the_window_and_passes),
        BOOK_CASE(a_failing_start_leaves_the_program_alone),
        BOOK_CASE(a_failing_stop_is_told_and_leaves_no_empty_file),
        BOOK_CASE(listed_steps_are_windows),
        BOOK_CASE(the_schedule_rules_within_listed_steps),
        BOOK_CASE(a_cut_schedule_within_a_step_is_partial),
        BOOK_CASE(a_request_counts_its_iterations),
        BOOK_CASE(a_request_leaves_the_armed_schedule_its_steps),
        BOOK_CASE(without_a_schedule_until_the_stop),
        BOOK_CASE(two_roles_share_one_collection),
        BOOK_CASE(two_roles_with_one_list_are_one_window),
        BOOK_CASE(ranks_are_chosen_as_in_verl),
        BOOK_CASE(bad_options_are_told),
        BOOK_CASE(pt42_the_directory_is_made_or_refused_at_the_start),
        BOOK_CASE(path_and_size_are_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
