/* live_worker.c: a traced process for the tests of perf-trace-live; see each mode.
 * SPDX-License-Identifier: MIT */
#include <perftrace/perftrace.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void ready(void) {
    puts("ready");
    fflush(stdout);
}

static void for_ever(void) {
    for (;;) {
        pause();
    }
}

/* collective NAME: in NAME, of category "compute", in step 12, for ever. */
static void collective(const char *name) {
    PERFTRACE_STEP(12);
    PERFTRACE_SCOPE("train.step", "compute");
    PERFTRACE_SCOPE_NAMED(name, "compute");
    ready();
    for_ever();
}

/* elsewhere: in load_batch, in step 12, for ever, with an event a moment ago. */
static void elsewhere(void) {
    PERFTRACE_STEP(11);
    PERFTRACE_STEP(12);
    PERFTRACE_SCOPE("train.step", "compute");
    PERFTRACE_SCOPE("load_batch", "io", PERFTRACE_STRING("file", "part-7"));
    PERFTRACE_INSTANT("opened", "io");
    ready();
    for_ever();
}

/* Stacks of these threads, in which each scope's name says what it may lie in: b or c in a, d in b,
 * e in c, the digit is the thread's. */
static void nest(int digit) {
    char names[5][8];
    for (int i = 0; i < 5; i++) {
        snprintf(names[i], sizeof(names[i]), "%c%d", 'a' + i, digit);
    }
    for (uint64_t i = 0;; i++) {
        PERFTRACE_SCOPE_NAMED(names[0], "busy");
        if (i % 3 == 0) {
            PERFTRACE_SCOPE_NAMED(names[1], "busy");
            PERFTRACE_SCOPE_NAMED(names[3], "busy");
        } else {
            PERFTRACE_SCOPE_NAMED(names[2], "busy");
            PERFTRACE_SCOPE_NAMED(names[4], "busy", PERFTRACE_INT("i", (int64_t)i));
        }
    }
}

/* The same through the inline path: names that are known when it is compiled. */
static void nest_inline(void) {
    for (uint64_t i = 0;; i++) {
        PERFTRACE_SCOPE("a", "busy");
        if (i % 3 == 0) {
            PERFTRACE_SCOPE("b", "busy");
            PERFTRACE_SCOPE("d", "busy");
        } else {
            PERFTRACE_SCOPE("c", "busy");
            PERFTRACE_LAP_BEGIN(lap, "e", "busy");
            PERFTRACE_LAP(lap, "f", "busy");
            PERFTRACE_LAP_END(lap);
        }
    }
}

static pthread_barrier_t all_there;

static void *busy_thread(void *arg) {
    long digit = (long)arg;
    { PERFTRACE_SCOPE("a", "busy"); /* it has a ring from here on */ }
    pthread_barrier_wait(&all_there);
    if (digit % 2) {
        nest_inline();
    } else {
        nest((int)digit);
    }
    return NULL;
}

/* busy N: N threads at full speed. */
static void busy(int n) {
    pthread_barrier_init(&all_there, NULL, (unsigned)n + 1);
    for (long i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, busy_thread, (void *)i) != 0) {
            exit(1);
        }
    }
    pthread_barrier_wait(&all_there);
    ready();
    for_ever();
}

/* coming: threads come and go; each is in one scope that has its own name. */
static void *short_thread(void *arg) {
    char name[32];
    snprintf(name, sizeof(name), "life %ld", (long)arg);
    perftrace_thread_set_name(name);
    PERFTRACE_SCOPE_NAMED(name, "life");
    usleep(500);
    return NULL;
}

static void coming(void) {
    ready();
    for (long i = 0;; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, short_thread, (void *)i) == 0) {
            pthread_join(thread, NULL);
        }
    }
}

/* forked: the parent waits in "parent", its child is in "child". */
static void forked(void) {
    PERFTRACE_SCOPE("parent", "compute");
    pid_t pid = fork();
    if (pid == 0) {
        PERFTRACE_SCOPE("child", "compute");
        ready();
        for_ever();
    }
    waitpid(pid, NULL, 0);
}

/* beating: one scope is open, and an event comes every now and then. */
static void beating(void) {
    PERFTRACE_SCOPE("wait", "compute");
    ready();
    for (;;) {
        PERFTRACE_INSTANT("beat", "compute");
        usleep(20000);
    }
}

static void *lost_thread(void *arg) {
    (void)arg;
    for (int i = 0; i < 7; i++) {
        PERFTRACE_INSTANT("lost", "misc");
    }
    return NULL;
}

/* losses: seven events of a thread that has no ring, where PERFTRACE_MAX_THREADS is 1. */
static void losses(void) {
    pthread_t thread;
    PERFTRACE_SCOPE("main", "compute");
    if (pthread_create(&thread, NULL, lost_thread, NULL) == 0) {
        pthread_join(thread, NULL);
    }
    ready();
    for_ever();
}

/* short: ends well at once when its standard input ends. */
static void brief(void) {
    char line[8];
    PERFTRACE_SCOPE("brief", "compute");
    ready();
    while (fgets(line, sizeof(line), stdin) != NULL) {
    }
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (perftrace_init(NULL) != PERFTRACE_OK) {
        return 1;
    }
    if (strcmp(mode, "collective") == 0) {
        collective(argv[2]);
    } else if (strcmp(mode, "elsewhere") == 0) {
        elsewhere();
    } else if (strcmp(mode, "hang") == 0) {
        /* hang RANK: that rank is elsewhere, all others wait for it. */
        const char *rank = getenv("OMPI_COMM_WORLD_RANK");
        if (rank != NULL && strcmp(rank, argv[2]) == 0) {
            elsewhere();
        }
        collective("all_reduce");
    } else if (strcmp(mode, "busy") == 0) {
        busy(atoi(argv[2]));
    } else if (strcmp(mode, "coming") == 0) {
        coming();
    } else if (strcmp(mode, "forked") == 0) {
        forked();
    } else if (strcmp(mode, "beating") == 0) {
        beating();
    } else if (strcmp(mode, "losses") == 0) {
        losses();
    } else if (strcmp(mode, "brief") == 0) {
        brief();
    } else {
        return 2;
    }
    perftrace_shutdown();
    return 0;
}
