/* needs_recording.c: what users of tracers have asked for, the recording side. Each test carries
 * the number of its row in shared/cases/needs.tsv. SPDX-License-Identifier: MIT */
#include "traced_case.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- PT-05: buffered events lost at exit ---- */

static void emit_for_two_seconds(const char *where, int rank, bool sigterm) {
    perftrace_config_t c = traced_config(where);
    c.rank = rank;
    c.flush_ms = 200;
    c.sigterm = sigterm;
    CHILD_CHECK(perftrace_init(&c) == 0);
    for (int i = 0; i < 200; i++) {
        PERFTRACE_SCOPE("s", "compute", PERFTRACE_INT("i", i));
        usleep(10000);
    }
}

static void *exit_there(void *arg) {
    (void)arg;
    exit(0);
}

static void end_in_way(const char *where, int way) {
    emit_for_two_seconds(where, way, way == 3);
    pthread_t t;
    switch (way) {
    case 0:
        return; /* as from main */
    case 1:
        pthread_create(&t, NULL, exit_there, NULL);
        pause();
        break;
    case 2:
        _exit(0);
    case 3:
        raise(SIGTERM);
        break;
    default:
        raise(SIGKILL);
    }
}

static void pt05_the_end_of_a_process_loses_little_or_nothing(void **state) {
    (void)state;
    pid_t pids[5];
    for (int way = 0; way < 5; way++) {
        fflush(NULL);
        pids[way] = fork();
        if (pids[way] == 0) {
            alarm(60);
            end_in_way(dir, way);
            exit(0);
        }
    }
    for (int way = 0; way < 5; way++) {
        int status = -1;
        assert_int_equal(waitpid(pids[way], &status, 0), pids[way]);
        const int want = way == 3 ? SIGTERM : way == 4 ? SIGKILL : 0;
        assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0, want);
        char name[64];
        snprintf(name, sizeof(name), "traces-r%d.jsonl", way);
        traced_file_t f = traced_read(dir, name);
        const size_t n = traced_count(&f, "s");
        const bool hard = way == 2 || way == 4;
        assert_true(hard ? n >= 150 : n == 200);
        assert_int_equal(traced_count(&f, "perftrace_footer"), hard ? 0 : 1);
        traced_free(&f);
    }
    /* What the two had not written yet is in their rings; the next start finishes their files. */
    traced_run(traced_start, dir);
    static const int hard[] = {2, 4};
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof(name), "traces-r%d.jsonl", hard[i]);
        traced_file_t f = traced_read(dir, name);
        assert_int_equal(traced_count(&f, "s"), 200);
        assert_true(cJSON_IsTrue(traced_arg(traced_line(&f, "perftrace_footer", 0), "recovered")));
        traced_free(&f);
    }
}

/* ---- PT-17: silent loss at a fixed cap ---- */

static void limit_files(rlim_t bytes) {
    const struct rlimit l = {bytes, RLIM_INFINITY};
    CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &l) == 0);
}

static unsigned failures;

static void count_failures(int level, const char *message, void *user) {
    (void)user;
    failures += level == PERFTRACE_LOG_WARNING && strstr(message, "cannot be written") != NULL;
}

static void block_the_writer(const char *where) {
    signal(SIGXFSZ, SIG_IGN);
    perftrace_config_t c = traced_config(where);
    c.ring_size = 65536;
    c.flush_ms = 10;
    c.log = count_failures;
    CHILD_CHECK(perftrace_init(&c) == 0);
    PERFTRACE_STEP(0);
    CHILD_CHECK(perftrace_save(-1, 1) == 0);
    limit_files(100); /* no file grows any more */
    for (int i = 0; i < 10000; i++) {
        PERFTRACE_INSTANT("blocked", "misc", PERFTRACE_INT("i", i));
    }
    CHILD_CHECK(perftrace_save(-1, 0) == PERFTRACE_ERR_IO ||
                perftrace_save(-1, 0) == PERFTRACE_ERR_FULL);
    CHILD_CHECK(failures == 1); /* said once, however often it is retried */
    limit_files(RLIM_INFINITY);
    CHILD_CHECK(perftrace_save(-1, 0) == 0);
    CHILD_CHECK(perftrace_save(-1, 0) == 0);
    for (int i = 0; i < 10; i++) {
        PERFTRACE_INSTANT("after", "misc", PERFTRACE_INT("i", i));
    }
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    CHILD_CHECK(perftrace_save(-1, 0) == 0 && perftrace_get_stats(&s) == 0);
    CHILD_CHECK(s.emitted == 10010 && s.dropped[PERFTRACE_DROP_ring_full] > 0);
    CHILD_CHECK(s.written + s.dropped[PERFTRACE_DROP_ring_full] == 10010 && s.write_errors > 0);
}

static void pt17_a_full_ring_counts_and_recording_goes_on(void **state) {
    (void)state;
    traced_file_t f = run(block_the_writer);
    const double lost = traced_dropped(&f, "ring_full");
    assert_true(lost > 0 && traced_footer(&f, "written") + lost == 10010);
    assert_true((double)traced_count(&f, "blocked") + 10 == traced_footer(&f, "written"));
    assert_int_equal(traced_count(&f, "after"), 10);
    const cJSON *drop = traced_line(&f, "perftrace_drop", 0);
    assert_true(traced_arg_number(drop, "count") > 0);
    assert_true(traced_arg_number(drop, "first_ts") > 0);
    assert_true(traced_arg_number(drop, "last_ts") >= traced_arg_number(drop, "first_ts"));
    traced_free(&f);
}

/* ---- PT-18: precision ---- */

static void touch(const char *where) {
    traced_start(where);
    for (int i = 0; i < 1000; i++) {
        PERFTRACE_LAP_BEGIN(lap, "a");
        PERFTRACE_LAP(lap, "b");
    }
}

static int64_t ns(double us) {
    return (int64_t)llround(us * 1000.0);
}

static void pt18_touching_events_touch_to_the_nanosecond(void **state) {
    (void)state;
    traced_file_t f = run(touch);
    for (size_t i = 0; i < 1000; i++) {
        const cJSON *a = traced_line(&f, "a", i);
        const cJSON *b = traced_line(&f, "b", i);
        /* A phase of no length is written with the least there is. */
        const int64_t short_of = ns(traced_number(a, "dur")) == 1;
        const int64_t gap =
            ns(traced_number(b, "ts")) - ns(traced_number(a, "ts") + traced_number(a, "dur"));
        assert_true(gap == 0 || gap == -short_of);
    }
    /* The base is an integer that no double has touched. */
    const char *epoch =
        cJSON_GetStringValue(traced_arg(traced_line(&f, "perftrace_header", 0), "epoch_ns"));
    assert_true(strlen(epoch) == 19 && strspn(epoch, "0123456789") == 19);
    traced_free(&f);
}

/* ---- PT-25: a span without an end, an end without a begin ---- */

static void *stray_end(void *arg) {
    (void)arg;
    perftrace_span_t never;
    memset(&never, 0, sizeof(never));
    PERFTRACE_END(&never);
    PERFTRACE_SCOPE("C");
    return NULL;
}

static void leave_a_open(const char *where) {
    traced_start(where);
    static perftrace_span_t a;
    perftrace_span_t b;
    PERFTRACE_BEGIN(&a, "A");
    PERFTRACE_BEGIN(&b, "B");
    PERFTRACE_END(&b);
    PERFTRACE_END(&b); /* once more: nothing */
    PERFTRACE_INSTANT("point");
    pthread_t t;
    CHILD_CHECK(pthread_create(&t, NULL, stray_end, NULL) == 0);
    pthread_join(t, NULL);
}

static void pt25_a_missing_end_is_told_and_shifts_nothing(void **state) {
    (void)state;
    traced_file_t f = run(leave_a_open);
    assert_int_equal(traced_count(&f, "A"), 1);
    assert_non_null(strstr(traced_text(&f, "A", 0), "\"ph\": \"B\""));
    assert_true(cJSON_IsTrue(traced_arg(traced_line(&f, "A", 0), "unfinished")));
    assert_int_equal(traced_count(&f, "B"), 1);
    assert_int_equal(traced_count(&f, "C"), 1);
    assert_true(traced_number(traced_line(&f, "B", 0), "dur") > 0);
    assert_true(traced_footer(&f, "unfinished") == 1 && traced_footer(&f, "emitted") == 3);
    traced_free(&f);
}

/* ---- PT-30: NaN and infinity ---- */

static void count_losses(const char *where) {
    traced_start(where);
    const double values[] = {1.5, (double)NAN, (double)INFINITY, -(double)INFINITY, 2.5};
    for (int i = 0; i < 5; i++) {
        PERFTRACE_COUNTER("loss", values[i]);
    }
    PERFTRACE_SCOPE("s", "compute", PERFTRACE_DOUBLE("lr", (double)NAN));
}

static void pt30_non_finite_numbers_stay_strict_json(void **state) {
    (void)state;
    traced_run(count_losses, dir);
    traced_file_t f = traced_read(dir, "traces-r0.jsonl"); /* strict, or it fails */
    double sum = 0;
    unsigned nulls = 0;
    for (size_t i = 0; i < 5; i++) {
        const cJSON *value = traced_arg(traced_line(&f, "loss", i), "value");
        sum += cJSON_IsNumber(value) ? value->valuedouble : 0;
        nulls += cJSON_IsNull(value) ? 1 : 0;
    }
    assert_true(sum == 4.0 && nulls == 3);
    assert_string_equal(cJSON_GetStringValue(traced_arg(traced_line(&f, "s", 0), "lr")), "NaN");
    traced_free(&f);
}

/* ---- PT-35: the same pid on two hosts, or twice on one ---- */

static void name_a_thread(const char *where) {
    traced_start(where);
    perftrace_thread_set_name("sampler");
    PERFTRACE_SCOPE("step");
}

static void pt35_a_header_tells_processes_apart(void **state) {
    (void)state;
    traced_run(name_a_thread, dir);
    traced_file_t a = run(name_a_thread);
    traced_file_t b = traced_read(dir, "traces-r0.1.jsonl");
    const cJSON *ha = traced_line(&a, "perftrace_header", 0);
    const cJSON *hb = traced_line(&b, "perftrace_header", 0);
    static const char *const texts[] = {"host", "boot_id", "process_start", "epoch_ns", "run_id"};
    for (size_t i = 0; i < 5; i++) {
        assert_non_null(cJSON_GetStringValue(traced_arg(ha, texts[i])));
    }
    assert_string_not_equal(cJSON_GetStringValue(traced_arg(ha, "epoch_ns")),
                            cJSON_GetStringValue(traced_arg(hb, "epoch_ns")));
    assert_true(traced_arg_number(ha, "pid") == traced_number(traced_line(&a, "step", 0), "pid"));
    assert_string_equal(cJSON_GetStringValue(traced_arg(traced_line(&a, "thread_name", 0), "name")),
                        "sampler");
    traced_free(&a);
    traced_free(&b);
}

/* ---- PT-42: a directory that is missing, not writable, no directory, relative ---- */

static unsigned errors;
static char last_error[512];

static void keep_error(int level, const char *message, void *user) {
    (void)user;
    if (level == PERFTRACE_LOG_ERROR) {
        errors++;
        snprintf(last_error, sizeof(last_error), "%s", message);
    }
}

static void emit_ten(void) {
    for (int i = 0; i < 10; i++) {
        PERFTRACE_SCOPE("ten");
    }
}

static void use_missing_directory(const char *where) {
    char path[128];
    snprintf(path, sizeof(path), "%s/a/b/c", where);
    perftrace_config_t c = traced_config(path);
    c.ring_dir = where;
    CHILD_CHECK(perftrace_init(&c) == 0);
    emit_ten();
}

static void use_bad_directory(const char *path, const char *text) {
    perftrace_config_t c = traced_config(path);
    c.ring_dir = "/tmp";
    c.log = keep_error;
    errors = 0;
    CHILD_CHECK(perftrace_init(&c) != 0 && !perftrace_is_active());
    CHILD_CHECK(errors == 1 && strstr(last_error, text) && strstr(last_error, path));
    emit_ten();
    CHILD_CHECK(errors == 1 && perftrace_shutdown() == 0);
}

static void use_bad_directories(const char *where) {
    char path[128];
    snprintf(path, sizeof(path), "%s/file", where);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    use_bad_directory(path, strerror(ENOTDIR));
    snprintf(path, sizeof(path), "%s/closed", where);
    CHILD_CHECK(mkdir(path, 0555) == 0);
    if (getuid() == 0) {
        CHILD_CHECK(chmod(where, 0755) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
    }
    use_bad_directory(path, strerror(EACCES));
}

static void use_relative_directory(const char *where) {
    CHILD_CHECK(chdir(where) == 0);
    perftrace_config_t c = traced_config("relative");
    c.ring_dir = where;
    CHILD_CHECK(perftrace_init(&c) == 0);
    CHILD_CHECK(chdir("/") == 0);
    emit_ten();
}

static void pt42_directories_are_made_or_refused_at_the_start(void **state) {
    (void)state;
    traced_run(use_missing_directory, dir);
    traced_file_t f = traced_read(dir, "a/b/c/traces-r0.jsonl");
    assert_int_equal(traced_count(&f, "ten"), 10);
    traced_free(&f);
    traced_run(use_relative_directory, dir);
    f = traced_read(dir, "relative/traces-r0.jsonl");
    assert_int_equal(traced_count(&f, "ten"), 10);
    traced_free(&f);
    traced_run(use_bad_directories, dir);
}

/* ---- PT-46: disabled tracing still costs ---- */

static unsigned long called;

static unsigned long f(void) {
    return ++called;
}

static void loop_while_off(const char *where) {
    traced_start(where);
    CHILD_CHECK(perftrace_set_enabled(0) == 0);
    for (size_t i = 0; i < traced_scale(10000000); i++) {
        PERFTRACE_SCOPE("off", "compute", PERFTRACE_UINT("f", f()));
        PERFTRACE_INSTANT("off", "compute", PERFTRACE_UINT("f", f()));
    }
    CHILD_CHECK(called == 0);
}

static void pt46_arguments_are_not_evaluated_while_off(void **state) {
    (void)state;
    traced_run(loop_while_off, dir);
    traced_file_t file = traced_read(dir, "traces-r0.jsonl");
    assert_true(traced_footer(&file, "emitted") == 0);
    traced_free(&file);
}

/* ---- PT-48: names and paths that are too long ---- */

/* 400 characters of two bytes; they differ at character 390. */
static void make_label(char label[801], char different) {
    for (int i = 0; i < 400; i++) {
        memcpy(label + 2 * i, "\xC3\xA4", 2);
    }
    label[2 * 390 + 1] = different;
    label[800] = '\0';
}

static void use_label(const char *where, char different) {
    char label[801];
    make_label(label, different);
    perftrace_config_t c = traced_config(NULL);
    c.ring_dir = where;
    c.fileroot = where;
    c.experiment_name = label;
    c.trial_name = "t";
    CHILD_CHECK(perftrace_init(&c) == 0);
    emit_ten();
}

static void use_first_label(const char *where) {
    use_label(where, '\xA4');
}

static void use_second_label(const char *where) {
    use_label(where, '\xB6');
}

static void use_endless_path(const char *where) {
    char path[6000];
    snprintf(path, sizeof(path), "%s", where);
    size_t n = strlen(path);
    while (n < sizeof(path) - 12) {
        n += (size_t)snprintf(path + n, sizeof(path) - n, "/0123456789");
    }
    perftrace_config_t c = traced_config(path);
    c.log = keep_error;
    CHILD_CHECK(perftrace_init(&c) == PERFTRACE_ERR_TOO_LONG);
    CHILD_CHECK(errors == 1 && !perftrace_is_active());
    emit_ten();
}

/* 1 when the header names the experiment in full: with the first of the two characters, 2 with the
 * second. */
static unsigned label_of(const char *path) {
    traced_file_t f = traced_read(path, "traces-r0.jsonl");
    const char *said = cJSON_GetStringValue(traced_arg(f.lines[0], "experiment_name"));
    assert_non_null(said);
    unsigned found = 0;
    for (unsigned i = 0; i < 2; i++) {
        char label[801];
        make_label(label, i ? '\xB6' : '\xA4');
        found += strcmp(said, label) == 0 ? i + 1 : 0;
    }
    assert_string_equal(cJSON_GetStringValue(traced_arg(f.lines[0], "trial_name")), "t");
    traced_free(&f);
    return found;
}

/* Walks down one name at a time; counts the trace files and checks every name's length. Adds up
 * their labels. */
static size_t count_traces(const char *path, unsigned *labels) {
    size_t n = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.') {
            continue;
        }
        assert_true(strlen(e->d_name) <= 255);
        char inner[4096];
        struct stat st;
        snprintf(inner, sizeof(inner), "%s/%s", path, e->d_name);
        assert_int_equal(stat(inner, &st), 0);
        if (S_ISDIR(st.st_mode)) {
            n += count_traces(inner, labels);
        } else if (strcmp(e->d_name, "traces-r0.jsonl") == 0) {
            n++;
            *labels += label_of(path);
        }
    }
    closedir(d);
    return n;
}

static void pt48_long_labels_make_two_files_and_long_paths_a_message(void **state) {
    (void)state;
    traced_run(use_first_label, dir);
    traced_run(use_second_label, dir);
    unsigned labels = 0;
    assert_int_equal(count_traces(dir, &labels), 2);
    assert_int_equal(labels, 3); /* one of each */
    traced_run(use_endless_path, dir);
}

/* ---- PT-53: flow arrows ---- */

static void send(const char *name, int phase, uint64_t id) {
    PERFTRACE_SCOPE_NAMED(name, "ipc");
    if (phase == 0) {
        PERFTRACE_FLOW_START("send", "ipc", id);
    } else {
        PERFTRACE_FLOW_END("send", "ipc", id);
    }
}

static void draw_arrows(const char *where) {
    traced_start(where);
    send("A", 0, 5);
    send("B", 1, 5);
    send("C", 0, 5);
    send("D", 1, 5);
    send("E", 0, 6);
}

static void pt53_flow_ends_lie_in_their_scopes(void **state) {
    (void)state;
    traced_run(draw_arrows, dir);
    traced_file_t file = traced_read(dir, "traces-r0.jsonl");
    static const char *const scopes[] = {"A", "B", "C", "D", "E"};
    assert_int_equal(traced_count(&file, "send"), 5);
    for (size_t i = 0; i < 5; i++) {
        const cJSON *flow = traced_line(&file, "send", i);
        const cJSON *scope = traced_line(&file, scopes[i], 0);
        const double at = traced_number(flow, "ts");
        const double from = traced_number(scope, "ts");
        assert_true(at >= from && at <= from + traced_number(scope, "dur") + 0.0005);
        assert_non_null(
            strstr(traced_text(&file, "send", i), i < 4 ? "\"id\": \"0x5\"" : "\"id\": \"0x6\""));
    }
    assert_int_equal(traced_phase(&file, "s"), 3);
    assert_int_equal(traced_phase(&file, "f"), 2);
    traced_free(&file);
}

/* ---- PT-59: a restart after a torn line ---- */

static void pt59_a_restart_leaves_the_torn_file_alone(void **state) {
    (void)state;
    char path[128];
    char text[32];
    snprintf(path, sizeof(path), "%s/traces-r0.jsonl", dir);
    FILE *torn = fopen(path, "w");
    assert_true(torn && fputs("{\"name\": \"s\", \"ph\": \"X\", \"ts", torn) >= 0);
    fclose(torn);
    traced_run(name_a_thread, dir);
    torn = fopen(path, "r");
    assert_non_null(torn);
    assert_non_null(fgets(text, sizeof(text), torn));
    assert_string_equal(text, "{\"name\": \"s\", \"ph\": \"X\", \"ts");
    fclose(torn);
    traced_file_t file = traced_read(dir, "traces-r0.1.jsonl");
    assert_int_equal(traced_count(&file, "step"), 1);
    assert_int_equal(traced_count(&file, "perftrace_header"), 1);
    traced_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(pt05_the_end_of_a_process_loses_little_or_nothing),
        CASE(pt17_a_full_ring_counts_and_recording_goes_on),
        CASE(pt18_touching_events_touch_to_the_nanosecond),
        CASE(pt25_a_missing_end_is_told_and_shifts_nothing),
        CASE(pt30_non_finite_numbers_stay_strict_json),
        CASE(pt35_a_header_tells_processes_apart),
        CASE(pt42_directories_are_made_or_refused_at_the_start),
        CASE(pt46_arguments_are_not_evaluated_while_off),
        CASE(pt48_long_labels_make_two_files_and_long_paths_a_message),
        CASE(pt53_flow_ends_lie_in_their_scopes),
        CASE(pt59_a_restart_leaves_the_torn_file_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
