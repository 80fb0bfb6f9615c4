/* stream_life.c: what a program may do while its trace is forwarded. SPDX-License-Identifier: MIT
 *
 * stream_life WHAT [N]:
 *   close   all descriptors from 3 up are closed, and others of its own take their numbers; ends N
 *           milliseconds later
 *   cycles  N times init, events, shutdown; prints what memory and descriptors it has left since
 *           the tenth: in memory, of the allocator's, of addresses
 *   forks   N children from 4 threads, which end by _exit or with a shutdown of their own
 *   race    N times init, events, shutdown, while another thread forks
 *   rank    the rank becomes known after the first half
 *   remove  the trace is removed after the first half
 *   early   a child is forked right after init, while it connects
 *   hang    the name of the other side is looked up for longer than two runs
 * Prints one JSON line. */
#include <perftrace/perftrace.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 5000

static void produce(int from, int count) {
    for (int i = from; i < from + count; i++) {
        PERFTRACE_SCOPE("work", "compute", PERFTRACE_INT("i", i));
    }
}

static int descriptors(void) {
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;
    while (dir && readdir(dir)) {
        count++;
    }
    if (dir) {
        closedir(dir);
    }
    return count - 3; /* ".", ".." and its own */
}

typedef struct taken {
    int descriptors;
    long mapped; /* pages */
    long resident;
    long allocated; /* bytes */
} taken_t;

static taken_t taken(void) {
    char line[256] = "";
    char *end = line;
    taken_t t = {descriptors(), 0, 0, 0};
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fgets(line, sizeof line, f)) {
            t.mapped = strtol(line, &end, 10);
            t.resident = strtol(end, NULL, 10);
        }
        fclose(f);
    }
#if __GLIBC_PREREQ(2, 33)
    t.allocated = (long)mallinfo2().uordblks;
#endif
    return t;
}

/* Its own sockets take the numbers: bytes that come to them were meant for somebody else. */
/* Until no thread of this process has had anything to do for a while: what libnats has in its
 * buffer already is not to be told from what it is given later. */
static void wait_until_idle(void) {
    clock_t before = clock();
    for (int idle = 0, i = 0; idle < 3 && i < 200; i++) {
        usleep(100000);
        const clock_t now = clock();
        idle = now - before < CLOCKS_PER_SEC / 500 ? idle + 1 : 0;
        before = now;
    }
}

static int do_close(useconds_t more_ms) {
    int pair[32][2];
    long strays = 0;
    produce(0, EVENTS);
    usleep(300000); /* connected, and some of it sent */
    wait_until_idle();
    for (int fd = 3; fd < 1024; fd++) {
        close(fd);
    }
    for (int i = 0; i < 32; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair[i]) != 0) {
            return 1;
        }
    }
    produce(EVENTS, EVENTS);
    usleep(more_ms * 1000u);
    int status = perftrace_shutdown();
    for (int i = 0; i < 64; i++) {
        char some[4096];
        int fd = pair[i / 2][i % 2];
        if (fcntl(fd, F_GETFD) < 0) {
            strays += 1000000;
        }
        for (ssize_t n; (n = read(fd, some, sizeof some)) > 0;) {
            strays += n;
        }
    }
    printf("{\"status\": %d, \"strays\": %ld}\n", status, strays);
    return 0;
}

static int do_cycles(int count) {
    taken_t first = {0};
    int status = 0;
    for (int i = 0; i < count; i++) {
        produce(0, 100);
        status |= perftrace_shutdown();
        if (i == 9) { /* what is made once is there */
            first = taken();
        }
        status |= i + 1 < count ? perftrace_init(NULL) : 0;
    }
    const taken_t last = taken();
    printf("{\"status\": %d, \"descriptors\": %d, \"resident\": %ld, \"allocated\": %ld, "
           "\"mapped\": %ld}\n",
           status, last.descriptors - first.descriptors, last.resident - first.resident,
           last.allocated - first.allocated, last.mapped - first.mapped);
    return 0;
}

static void *fork_some(void *arg) {
    int count = *(int *)arg;
    int failed = 0;
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            produce(0, 10);
            _exit(i % 2 ? 0 : perftrace_shutdown() != PERFTRACE_OK);
        }
        int status = 1;
        failed += child < 0 || waitpid(child, &status, 0) != child || status != 0;
        produce(i * 100, 100);
    }
    *(int *)arg = failed;
    return NULL;
}

static int do_forks(int count) {
    pthread_t thread[4];
    int each[4];
    int failed = 0;
    for (int i = 0; i < 4; i++) {
        each[i] = count / 4;
        pthread_create(&thread[i], NULL, fork_some, &each[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        failed += each[i];
    }
    printf("{\"status\": %d, \"failed\": %d}\n", perftrace_shutdown(), failed);
    return 0;
}

static void *fork_until_over(void *over) {
    while (!atomic_load((atomic_bool *)over)) {
        pid_t child = fork();
        if (child == 0) {
            _exit(0);
        }
        int status;
        if (child > 0) {
            waitpid(child, &status, 0);
        }
    }
    return NULL;
}

static int do_race(int count) {
    pthread_t thread;
    atomic_bool over = false;
    int status = 0;
    pthread_create(&thread, NULL, fork_until_over, &over);
    for (int i = 0; i < count; i++) {
        produce(0, 100);
        status |= perftrace_shutdown();
        status |= i + 1 < count ? perftrace_init(NULL) : 0;
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    printf("{\"status\": %d}\n", status);
    return 0;
}

static int do_early(void) {
    pid_t child = fork();
    produce(0, EVENTS);
    if (child == 0) {
        _exit(perftrace_shutdown() != PERFTRACE_OK);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        return 1;
    }
    printf("{\"status\": %d}\n", perftrace_shutdown());
    return 0;
}

/* The library looks names up by this one. */
static atomic_bool look_up_hangs;
__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **list) {
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    while (atomic_load(&look_up_hangs)) {
        usleep(1000);
    }
    *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    return next(name, service, hints, list);
}

static bool has_thread(const char *name) {
    DIR *dir = opendir("/proc/self/task");
    bool found = false;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[512];
        char comm[64] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        if (f) {
            found = found || (fgets(comm, sizeof comm, f) && strstr(comm, name));
            fclose(f);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return found;
}

static int do_hang(void) {
    int status = 0;
    for (int run = 0; run < 3; run++) {
        if (run == 2) {
            atomic_store(&look_up_hangs, false);
            while (has_thread("perftrace-fwd")) {
                usleep(1000);
            }
        }
        status |= run > 0 ? perftrace_init(NULL) : 0;
        produce(0, EVENTS);
        status |= perftrace_shutdown();
    }
    printf("{\"status\": %d}\n", status);
    return 0;
}

static int in_halves(const char *what) {
    produce(0, EVENTS);
    usleep(300000); /* written, and sent */
    if (strcmp(what, "rank") == 0) {
        perftrace_set_rank(7, 8);
    } else {
        const char *dir = getenv("PERFTRACE_DIR");
        char path[4096];
        snprintf(path, sizeof path, "%s/traces-r0.jsonl", dir ? dir : ".");
        unlink(path);
    }
    produce(EVENTS, EVENTS);
    int status = perftrace_shutdown();
    struct sigaction sigpipe;
    sigaction(SIGPIPE, NULL, &sigpipe);
    printf("{\"status\": %d, \"sigpipe\": %s}\n", status,
           sigpipe.sa_handler == SIG_DFL ? "\"default\"" : "\"changed\"");
    return 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
    atomic_store(&look_up_hangs, strcmp(what, "hang") == 0);
    if (perftrace_init(NULL) != PERFTRACE_OK) {
        return 1;
    }
    return strcmp(what, "close") == 0    ? do_close(count > 1 ? (useconds_t)count : 1500)
           : strcmp(what, "cycles") == 0 ? do_cycles(count)
           : strcmp(what, "forks") == 0  ? do_forks(count)
           : strcmp(what, "race") == 0   ? do_race(count)
           : strcmp(what, "early") == 0  ? do_early()
           : strcmp(what, "hang") == 0   ? do_hang()
                                         : in_halves(what);
}
