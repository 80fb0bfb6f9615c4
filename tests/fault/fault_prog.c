/* fault_prog.c: traced programs to which bad things happen; each mode is a small job.
 * SPDX-License-Identifier: MIT */
#include <perftrace/perftrace.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void tick(int64_t n) {
    PERFTRACE_SCOPE("tick", "compute", PERFTRACE_INT("n", n));
}

static void ticks(int64_t count, unsigned period_us) {
    for (int64_t n = 0; n < count; n++) {
        tick(n);
        if (period_us) {
            usleep(period_us);
        }
    }
}

static void say_ready(void) {
    puts("ready");
    fflush(stdout);
}

/* ---- ticks COUNT PERIOD_US END ------------------------------------------------------------------
 */

static volatile sig_atomic_t asked_to_end;

static void on_own_term(int sig) {
    (void)sig;
    asked_to_end = 1;
}

static void *exit_here(void *unused) {
    (void)unused;
    exit(0);
}

static int do_ticks(char **argv) {
    const char *end = argv[4];
    if (strcmp(end, "handler") == 0) {
        signal(SIGTERM, on_own_term);
    }
    perftrace_init(NULL);
    ticks(atoll(argv[2]), (unsigned)atoi(argv[3]));
    if (strcmp(end, "return") == 0) {
        return 0;
    }
    if (strcmp(end, "_exit") == 0) {
        _exit(0);
    }
    if (strcmp(end, "exit-thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, exit_here, NULL);
    }
    say_ready();
    while (!asked_to_end) {
        usleep(1000);
    }
    return 5; /* the program's own handler has ended the loop */
}

/* ---- stall FILE: a ring of 1024 entries, nothing written while FILE exists
 * ------------------------
 */

/* The longest of 10000 calls, without tracing when enabled is 0. */
static uint64_t longest_emit(void) {
    uint64_t longest = 0;
    for (int64_t n = 0; n < 10000; n++) {
        uint64_t begin = now_ns();
        /* With six arguments a record is 8 words: 1024 of them in the smallest ring. */
        PERFTRACE_INSTANT("burst", "compute", PERFTRACE_INT("n", n), PERFTRACE_INT("b", 2),
                          PERFTRACE_INT("c", 3), PERFTRACE_INT("d", 4), PERFTRACE_INT("e", 5),
                          PERFTRACE_INT("f", 6));
        uint64_t took = now_ns() - begin;
        longest = took > longest ? took : longest;
    }
    return longest;
}

static int do_stall(char **argv) {
    uint64_t bare = longest_emit();
    perftrace_init(NULL);
    int fd = open(argv[2], O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    uint64_t traced = longest_emit();
    close(fd);
    unlink(argv[2]);
    if (perftrace_save(-1, 0) != 0) {
        return 1;
    }
    for (int64_t n = 0; n < 10; n++) {
        PERFTRACE_INSTANT("afterwards", "compute", PERFTRACE_INT("n", n));
    }
    printf("%llu %llu\n", (unsigned long long)traced, (unsigned long long)bare);
    return 0;
}

/* ---- steps: 2 threads of 100 steps of 10 ms, 50 scopes each, then shutdown
 * ------------------------
 */

#define STEPS 100

static uint64_t step_ns[2][STEPS];

static void *steps_main(void *arg) {
    uint64_t *took = arg;
    for (int64_t step = 0; step < STEPS; step++) {
        uint64_t begin = now_ns();
        for (int64_t n = 0; n < 50; n++) {
            PERFTRACE_SCOPE("part", "compute", PERFTRACE_INT("step", step), PERFTRACE_INT("n", n));
        }
        uint64_t spent = now_ns() - begin;
        if (spent < 10000000) {
            struct timespec rest = {0, (long)(10000000 - spent)};
            nanosleep(&rest, NULL);
        }
        took[step] = now_ns() - begin;
    }
    return NULL;
}

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static long resident_kib(void) {
    long kib = 0;
    char line[256];
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof(line), f)) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kib = atol(line + 6);
        }
    }
    if (f) {
        fclose(f);
    }
    return kib;
}

/* Prints p99 of a step in us, the time of shutdown in ms, resident memory in KiB. */
static int do_steps(void) {
    pthread_t thread[2];
    perftrace_init(NULL);
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread[i], NULL, steps_main, step_ns[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
    }
    qsort(step_ns, 2 * STEPS, sizeof(uint64_t), by_size);
    uint64_t begin = now_ns();
    perftrace_shutdown();
    printf("%llu %llu %ld\n", (unsigned long long)(step_ns[1][STEPS - 3] / 1000),
           (unsigned long long)((now_ns() - begin) / 1000000), resident_kib());
    return 0;
}

/* ---- forks N: as many children, each traces a little; some only end
 * ------------------------------
 */

static int do_forks(char **argv) {
    int count = atoi(argv[2]);
    perftrace_init(NULL);
    tick(0);
    for (int i = 0; i < count; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            ticks(20, i % 5 ? 0 : 2000);
            exit(0);
        }
        tick(i + 1);
    }
    int bad = 0;
    for (int status; wait(&status) > 0;) {
        bad += status != 0;
    }
    return bad;
}

/* ---- leader: the first thread ends, another goes on
 * ----------------------------------------------
 */

static void *leader_rest(void *unused) {
    (void)unused;
    ticks(300, 10000);
    exit(0);
}

static int do_leader(void) {
    pthread_t thread;
    perftrace_init(NULL);
    tick(-1);
    pthread_create(&thread, NULL, leader_rest, NULL);
    say_ready();
    pthread_exit(NULL);
}

/* ---- files FILLER: 100k scopes on a small disk, then the filler goes, 1000 more
 * --------------------
 */

static int do_filler(char **argv) {
    perftrace_init(NULL);
    for (int64_t n = 0; n < 100000; n++) {
        tick(n);
        if (n % 1000 == 999) {
            usleep(1000);
        }
    }
    perftrace_save(-1, 0);
    unlink(argv[2]);
    for (int i = 0; i < 100 && perftrace_save(-1, 0) != 0; i++) {
        usleep(20000);
    }
    for (int64_t n = 0; n < 1000; n++) {
        PERFTRACE_SCOPE("later", "compute", PERFTRACE_INT("n", n));
    }
    return 0;
}

/* ---- again: shutdown, start and shutdown in one process
 * ------------------------------------------
 */

static int do_again(void) {
    int status[3];
    for (int i = 0; i < 3; i++) {
        status[i] = perftrace_init(NULL);
        ticks(100, 0);
        perftrace_shutdown();
    }
    printf("%d %d %d\n", status[0], status[1], status[2]);
    return 0;
}

/* ---- starts COUNT: as many runs in one process, three events each
 * ------------------------------------------------
 */

static int do_starts(char **argv) {
    for (int64_t run = 0; run < atoll(argv[2]); run++) {
        if (perftrace_init(NULL) != 0) {
            return 1;
        }
        for (int i = 0; i < 3; i++) {
            tick(run);
        }
        perftrace_shutdown();
    }
    return 0;
}

/* ---- closes: every descriptor is closed, files of the program take their numbers
 * ----------------------------------------------------------------------------------
 */

static void *hundred(void *unused) {
    (void)unused;
    ticks(100, 0);
    return NULL;
}

#define OWN_FILES 8

/* Prints how many of the program's own files are as it left them. */
static int do_closes(void) {
    int own[OWN_FILES];
    perftrace_init(NULL);
    ticks(100, 0);
    for (int fd = 3; fd < 1024; fd++) {
        close(fd);
    }
    for (int i = 0; i < OWN_FILES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "own-%d", i);
        own[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
        if (write(own[i], "mine", 4) != 4) {
            return 1;
        }
    }
    ticks(100, 0);
    pthread_t thread; /* needs room in the ring file */
    pthread_create(&thread, NULL, hundred, NULL);
    pthread_join(thread, NULL);
    if (perftrace_save(-1, 1) != 0) {
        return 1;
    }
    ticks(100, 0);
    perftrace_shutdown();
    int well = 0;
    for (int i = 0; i < OWN_FILES; i++) {
        struct stat st;
        well += fstat(own[i], &st) == 0 && st.st_size == 4;
    }
    printf("%d\n", well);
    return 0;
}

/* ---- streams: prints and traces in turn
 * --------------------------------------------------------------------------------------------------
 */

static int do_streams(void) {
    perftrace_init(NULL);
    for (int64_t n = 0; n < 100; n++) {
        tick(n);
        printf("a line of the program\n");
        fflush(stdout);
        fprintf(stderr, "another line of the program\n");
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "ticks") == 0 && argc == 5) {
        return do_ticks(argv);
    }
    if (strcmp(mode, "stall") == 0 && argc == 3) {
        return do_stall(argv);
    }
    if (strcmp(mode, "steps") == 0) {
        return do_steps();
    }
    if (strcmp(mode, "forks") == 0 && argc == 3) {
        return do_forks(argv);
    }
    if (strcmp(mode, "leader") == 0) {
        return do_leader();
    }
    if (strcmp(mode, "filler") == 0 && argc == 3) {
        return do_filler(argv);
    }
    if (strcmp(mode, "closes") == 0) {
        return do_closes();
    }
    if (strcmp(mode, "streams") == 0) {
        return do_streams();
    }
    if (strcmp(mode, "again") == 0) {
        return do_again();
    }
    if (strcmp(mode, "starts") == 0 && argc == 3) {
        return do_starts(argv);
    }
    if (strcmp(mode, "chdir") == 0 && argc == 3) {
        perftrace_init(NULL);
        if (chdir(argv[2]) != 0) {
            return 1;
        }
        ticks(10, 0);
        return 0;
    }
    return 2;
}
