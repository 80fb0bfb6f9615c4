/* test_endpoint.c: the file that tells where a rank listens. SPDX-License-Identifier: MIT */
#include "endpoint.h"
#include "os.h"
#include "traced_case.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* This process as the owner. */
static perftrace__endpoint_t ours(int64_t rank) {
    perftrace__endpoint_t e = {.rank = rank, .world_size = 8, .token = true};
    snprintf(e.url, sizeof e.url, "http://127.0.0.1:40123");
    snprintf(e.role, sizeof e.role, "actor");
    e.pid = (int64_t)perftrace__os_pid();
    e.process_start = (int64_t)perftrace__os_process_start((uint32_t)e.pid);
    e.pid_namespace = (int64_t)perftrace__os_pid_namespace();
    perftrace__os_boot_id(e.boot_id);
    perftrace__os_hostname(e.host, sizeof e.host);
    return e;
}

/* A process that was and is no more: the same pid, another start. */
static perftrace__endpoint_t dead(int64_t rank) {
    perftrace__endpoint_t e = ours(rank);
    e.process_start++;
    return e;
}

static void write_text(const char *name, const char *text, size_t len) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    fclose(f);
}

static void write_endpoint_file(const char *name, const perftrace__endpoint_t *e) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    perftrace__endpoint_put(&text, e);
    write_text(name, text.data, text.len);
    perftrace__strbuf_free(&text);
}

static size_t entries(void) {
    size_t n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    }
    closedir(d);
    return n;
}

/* Writes, and checks that the file has this name, whole, and nothing else was left. */
static void expect_name(const perftrace__endpoint_t *e, const char *name, size_t files) {
    char path[4096], expected[128];
    snprintf(expected, sizeof expected, "%s/%s", dir, name);
    assert_int_equal(perftrace__endpoint_write(dir, e, path, sizeof path), 0);
    assert_string_equal(path, expected);
    perftrace__endpoint_t back;
    assert_int_equal(perftrace__endpoint_read(path, &back), 0);
    assert_int_equal(back.process_start, e->process_start);
    assert_int_equal(entries(), files);
}

/* ---- text ---- */

static void must_be_equal(const perftrace__endpoint_t *a, const perftrace__endpoint_t *b) {
    assert_string_equal(a->url, b->url);
    assert_string_equal(a->role, b->role);
    assert_string_equal(a->host, b->host);
    assert_string_equal(a->boot_id, b->boot_id);
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->world_size, b->world_size);
    assert_int_equal(a->pid, b->pid);
    assert_int_equal(a->process_start, b->process_start);
    assert_int_equal(a->pid_namespace, b->pid_namespace);
    assert_int_equal(a->token, b->token);
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    perftrace__endpoint_t e[4] = {ours(3), ours(-1), ours(0), ours(INT32_MAX)};
    snprintf(e[1].role, sizeof e[1].role, "\"\\\n\t\x01 r\xc3\xb4le");
    e[1].world_size = -1;
    e[1].token = false;
    memset(e[2].role, '\x01', sizeof e[2].role - 1); /* the longest texts, each byte escaped */
    memset(e[2].url, '"', sizeof e[2].url - 1);
    memset(e[2].host, '\x1f', sizeof e[2].host - 1);
    e[2].pid = INT32_MAX;
    e[2].process_start = INT64_MAX;
    e[2].pid_namespace = INT64_MAX - 1;
    e[3].role[0] = '\0';
    for (int i = 0; i < 4; i++) {
        char path[4096];
        perftrace__endpoint_t back;
        assert_int_equal(perftrace__endpoint_write(dir, &e[i], path, sizeof path), 0);
        assert_int_equal(perftrace__endpoint_read(path, &back), 0);
        must_be_equal(&back, &e[i]);
    }
}

#define GOOD                                                                                       \
    "\"url\": \"u\", \"host\": \"h\", \"boot_id\": \"b\", \"process_start\": \"1\", "              \
    "\"pid_namespace\": 2"

static void other_texts_are_no_endpoints(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        {"{\"pid\": 1, " GOOD "}", true},
        {"{\"pid\": 1, \"more\": [], " GOOD "}", true},
        {"{\"pid\": 0, " GOOD "}", false},
        {"{\"pid\": -1, " GOOD "}", false}, /* kill(-1) would mean everybody */
        {"{\"pid\": 2147483648, " GOOD "}", false},
        {"{\"pid\": 1.5, " GOOD "}", false},
        {"{\"pid\": 1e300, " GOOD "}", false},
        {"{\"pid\": null, " GOOD "}", false},
        {"{" GOOD "}", false},
        {"{\"pid\": 1, " GOOD, false},
        {"{\"pid\": 1, " GOOD "} {}", false},
        {"{\"pid\": 1, \"process_start\": \"1x\"}", false},
        {"[]", false},
        {"null", false},
        {"", false},
        {"\xff\xfe", false},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__endpoint_t e;
        if (perftrace__endpoint_parse(cases[i].text, strlen(cases[i].text), &e) != cases[i].good) {
            print_error("case %zu: %s\n", i, cases[i].text);
            fail();
        }
    }
    char text[1024];
    perftrace__endpoint_t e;
    memset(text, 'b', sizeof text); /* longer than a boot's id can be */
    int len = snprintf(text, sizeof text,
                       "{\"pid\": 1, \"url\": \"u\", \"host\": \"h\", "
                       "\"process_start\": 1, \"pid_namespace\": 2, "
                       "\"boot_id\": \"%0100d\"}",
                       1);
    assert_false(perftrace__endpoint_parse(text, (size_t)len, &e));
}

/* Cut at any byte it is none: nobody takes half a file for a whole one. */
static void half_a_text_is_no_endpoint(void **state) {
    (void)state;
    perftrace__endpoint_t e = ours(0), back;
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    perftrace__endpoint_put(&text, &e);
    for (size_t len = 0; len < text.len - 1; len++) { /* the last byte is a line end */
        assert_false(perftrace__endpoint_parse(text.data, len, &back));
    }
    assert_true(perftrace__endpoint_parse(text.data, text.len, &back));
    perftrace__strbuf_free(&text);
}

/* ---- owners ---- */

static void an_owner_is_known_by_its_start(void **state) {
    (void)state;
    perftrace__endpoint_t e = ours(0);
    assert_int_equal(perftrace__endpoint_owner(&e), PERFTRACE__ENDPOINT_ALIVE);
    e.process_start++;
    assert_int_equal(perftrace__endpoint_owner(&e), PERFTRACE__ENDPOINT_DEAD);
    e = ours(0);
    e.process_start = 0; /* its system did not tell */
    assert_int_equal(perftrace__endpoint_owner(&e), PERFTRACE__ENDPOINT_HIDDEN);
    e = ours(0);
    e.pid_namespace++;
    assert_int_equal(perftrace__endpoint_owner(&e), PERFTRACE__ENDPOINT_HIDDEN);
    e = ours(0);
    e.boot_id[0] ^= 1; /* this machine's earlier boot */
    assert_int_equal(perftrace__endpoint_owner(&e), PERFTRACE__ENDPOINT_DEAD);
    snprintf(e.host, sizeof e.host, "elsewhere");
    assert_int_equal(perftrace__endpoint_owner(&e), PERFTRACE__ENDPOINT_HIDDEN);
}

static void an_ended_process_is_dead(void **state) {
    (void)state;
    perftrace__endpoint_t e = ours(0);
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    e.pid = pid;
    e.process_start = (int64_t)perftrace__os_process_start((uint32_t)pid);
    assert_int_equal(perftrace__endpoint_owner(&e), PERFTRACE__ENDPOINT_ALIVE);
    kill(pid, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT); /* a zombie now */
    assert_int_equal(perftrace__endpoint_owner(&e), PERFTRACE__ENDPOINT_DEAD);
    waitpid(pid, NULL, 0);
    assert_int_equal(perftrace__endpoint_owner(&e), PERFTRACE__ENDPOINT_DEAD);
}

/* ---- names ---- */

static void names_go_by_rank_and_number(void **state) {
    (void)state;
    perftrace__endpoint_t e = ours(3);
    expect_name(&e, "control-r3.endpoint", 1);
    expect_name(&e, "control-r3.1.endpoint", 2);
    expect_name(&e, "control-r3.2.endpoint", 3);
    e.rank = 0;
    expect_name(&e, "control-r0.endpoint", 4);
    e.rank = -1;
    char name[64];
    snprintf(name, sizeof name, "control-p%lld.endpoint", (long long)e.pid);
    expect_name(&e, name, 5);
}

static void a_dead_ones_file_is_replaced(void **state) {
    (void)state;
    perftrace__endpoint_t was = dead(3), e = ours(3);
    write_endpoint_file("control-r3.endpoint", &was);
    expect_name(&e, "control-r3.endpoint", 1);
    was = dead(3);
    was.boot_id[0] ^= 1;
    write_endpoint_file("control-r3.1.endpoint", &was);
    expect_name(&e, "control-r3.1.endpoint", 2);
    was = ours(3);
    was.pid_namespace++; /* may live */
    write_endpoint_file("control-r3.2.endpoint", &was);
    expect_name(&e, "control-r3.3.endpoint", 4);
}

/* What else may lie there is left alone, and nothing hangs in it. */
static void hostile_files_are_left_alone(void **state) {
    (void)state;
    char path[128], target[128];
    perftrace__endpoint_t e = ours(0), was = dead(0);
    write_text("control-r0.endpoint", "not json", 8);
    write_text("control-r0.1.endpoint", "", 0);
    snprintf(path, sizeof path, "%s/control-r0.2.endpoint", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/control-r0.3.endpoint", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/control-r0.4.endpoint", dir);
    assert_int_equal(symlink("nowhere", path), 0);
    snprintf(path, sizeof path, "%s/control-r0.5.endpoint", dir);
    assert_int_equal(symlink("/dev/zero", path), 0);
    static char much[100000];
    memset(much, '[', sizeof much);
    write_text("control-r0.6.endpoint", much, sizeof much);
    expect_name(&e, "control-r0.7.endpoint", 8);
    /* A link to a dead one's file elsewhere: the link goes, what it leads to stays. */
    write_endpoint_file("other", &was);
    snprintf(path, sizeof path, "%s/control-r0.8.endpoint", dir);
    snprintf(target, sizeof target, "%s/other", dir);
    assert_int_equal(symlink(target, path), 0);
    expect_name(&e, "control-r0.8.endpoint", 10);
    perftrace__endpoint_t back;
    assert_int_equal(perftrace__endpoint_read(target, &back), 0);
    assert_int_equal(back.process_start, was.process_start);
}

static void failures_are_told(void **state) {
    (void)state;
    char path[4096];
    perftrace__endpoint_t e = ours(0);
    char file[128];
    write_text("plain", "x", 1);
    snprintf(file, sizeof file, "%s/plain/below", dir);
    assert_int_equal(perftrace__endpoint_write(file, &e, path, sizeof path), -ENOTDIR);
    assert_int_equal(perftrace__endpoint_write(dir, &e, path, 8), -ENAMETOOLONG);
    assert_int_equal(entries(), 1); /* and nothing is left */
    snprintf(file, sizeof file, "%s/a/b/c", dir);
    assert_int_equal(perftrace__endpoint_write(file, &e, path, sizeof path), 0);
    assert_int_equal(perftrace__endpoint_read("/nowhere/at/all", &e), -ENOENT);
    assert_int_equal(perftrace__endpoint_read(dir, &e), -EISDIR);
}

/* ---- races ---- */

#define PROCESSES 8

typedef struct race {
    int ready, go, written;
    char path[PROCESSES][256];
} race_t;

static void racer(race_t *race, int i) {
    char path[4096] = "";
    perftrace__endpoint_t e = ours(5);
    e.world_size = i;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nobody behind */
    __atomic_add_fetch(&race->ready, 1, __ATOMIC_ACQ_REL);
    while (!__atomic_load_n(&race->go, __ATOMIC_ACQUIRE)) {
    }
    CHILD_CHECK(perftrace__endpoint_write(dir, &e, path, sizeof path) == 0);
    snprintf(race->path[i], sizeof race->path[i], "%.255s", path);
    __atomic_add_fetch(&race->written, 1, __ATOMIC_ACQ_REL);
    pause();
    _exit(0);
}

/* They start at once where a killed run left its files: each has a file of its own in the end. */
static void processes_that_start_at_once_do_not_lose_files(void **state) {
    (void)state;
    race_t *race =
        mmap(NULL, sizeof *race, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t round = 0; round < traced_scale(60); round++) {
        pid_t pids[PROCESSES];
        char name[128];
        memset(race, 0, sizeof *race);
        if (round == 0) {
            perftrace__endpoint_t was = dead(5);
            write_endpoint_file("control-r5.endpoint", &was);
            write_endpoint_file("control-r5.1.endpoint", &was);
        }
        for (int i = 0; i < PROCESSES; i++) {
            pids[i] = fork();
            if (pids[i] == 0) {
                racer(race, i);
            }
        }
        while (__atomic_load_n(&race->ready, __ATOMIC_ACQUIRE) < PROCESSES) {
            usleep(100);
        }
        __atomic_store_n(&race->go, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&race->written, __ATOMIC_ACQUIRE) < PROCESSES) {
            usleep(100);
        }
        for (int i = 0; i < PROCESSES; i++) {
            perftrace__endpoint_t e;
            assert_int_equal(perftrace__endpoint_read(race->path[i], &e), 0);
            if (e.pid != pids[i] || e.world_size != i) {
                print_error("round %zu: %s is of another process\n", round, race->path[i]);
                fail();
            }
        }
        for (int i = 0; i < PROCESSES; i++) { /* their files stay for the next round */
            kill(pids[i], SIGKILL);
            waitpid(pids[i], NULL, 0);
        }
        snprintf(name, sizeof name, "%s/control-r5.%d.endpoint", dir, PROCESSES * 4);
        assert_int_not_equal(access(name, F_OK), 0); /* dead ones' names are used again */
    }
    munmap(race, sizeof *race);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_is_written_is_read_back),
        CASE(other_texts_are_no_endpoints),
        CASE(half_a_text_is_no_endpoint),
        CASE(an_owner_is_known_by_its_start),
        CASE(an_ended_process_is_dead),
        CASE(names_go_by_rank_and_number),
        CASE(a_dead_ones_file_is_replaced),
        CASE(hostile_files_are_left_alone),
        CASE(failures_are_told),
        CASE(processes_that_start_at_once_do_not_lose_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
