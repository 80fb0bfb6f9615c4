/* control_prog.c: a program that is controlled; it does what the lines of its standard input say
 * and answers each with a line. SPDX-License-Identifier: MIT */
#include <perftrace/perftrace.h>
#include <perftrace/profiler.h>

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say_url(const char *word) {
    char url[1024] = "";
    int status = perftrace_control_url(url, sizeof url);
    if (status >= 0 && (size_t)status != strlen(url)) {
        status = -1000; /* the length is wrong */
    }
    printf("%s %s\n", word, status >= 0 ? url : perftrace_status_text(status));
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- threads ---- */

static int stop_all; /* threads of all kinds end */

static bool stopped(void) {
    return __atomic_load_n(&stop_all, __ATOMIC_ACQUIRE) != 0;
}

static void start(void *(*fn)(void *), void *arg) {
    pthread_t t;
    if (pthread_create(&t, NULL, fn, arg) != 0) {
        printf("no thread\n");
        exit(1);
    }
    pthread_detach(t);
}

static void *stand(void *arg) {
    perftrace_thread_set_name(arg);
    free(arg);
    PERFTRACE_SCOPE("outer", "compute");
    {
        PERFTRACE_SCOPE("in\"ner\\\xff", "comm");
        printf("standing\n");
        while (!stopped()) {
            usleep(1000);
        }
    }
    return NULL;
}

static void *spin(void *arg) {
    perftrace_thread_set_name("spin");
    while (!stopped()) {
        PERFTRACE_SCOPE("a", "compute");
        for (int i = 0; i < 3; i++) {
            PERFTRACE_SCOPE("b", "comm", PERFTRACE_INT("i", i));
            PERFTRACE_SCOPE("c", "io");
            PERFTRACE_INSTANT("point");
        }
    }
    return arg;
}

typedef struct hold {
    char where[64];
    unsigned ms;
} hold_t;

static void *hold(void *arg) {
    hold_t *h = arg;
    double begin = now_ms();
    int result = perftrace_hold(h->where[0] == '-' ? NULL : h->where, h->ms);
    printf("held %s %d %.0f\n", h->where, result, now_ms() - begin);
    free(h);
    return NULL;
}

static void *stop_quietly(void *arg) {
    *(int *)arg = perftrace_shutdown();
    return NULL;
}

/* ---- what it costs ---- */

static size_t entries_of(const char *path) {
    size_t n = 0;
    DIR *d = opendir(path);
    while (d != NULL && readdir(d) != NULL) {
        n++;
    }
    if (d != NULL) {
        closedir(d);
    }
    return n;
}

static long status_kb(const char *key) {
    char line[256];
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            kb = strtol(line + strlen(key) + 1, NULL, 10);
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return kb;
}

/* Threads that were joined may be listed for a moment longer. */
static size_t threads_settled(void) {
    size_t least = entries_of("/proc/self/task");
    for (int i = 0; i < 50; i++) {
        usleep(2000);
        size_t n = entries_of("/proc/self/task");
        least = n < least ? n : least;
    }
    return least;
}

static void say_cost(void) {
    size_t threads = threads_settled();
    printf("cost %zu %zu %ld\n", entries_of("/proc/self/fd"), threads, status_kb("VmRSS"));
}

static int sockets(void) {
    int n = 0;
    for (int fd = 3; fd < 1024; fd++) {
        int type;
        socklen_t len = sizeof type;
        n += getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0;
    }
    return n;
}

/* ---- a profiler of the program's own, which writes files ---- */

static int write_file(void *user, const perftrace_profiler_window_t *w) {
    FILE *f = fopen(w->path, "r+");
    (void)user;
    if (f == NULL) {
        return -1;
    }
    fprintf(f, "%s %lld\n", w->stage, (long long)w->first_step);
    return fclose(f) != 0;
}

static void say_log(int level, const char *message, void *user) {
    (void)user;
    fprintf(stderr, "own %d: %s\n", level, message);
}

/* The options made none, or one that is replaced. */
static void own_profiler(const char *dir) {
    static const perftrace_profiler_back_end_t writer = {
        .struct_size = sizeof writer, .name = "writer", .extension = ".txt", .stop = write_file};
    perftrace_profiler_options_t o = PERFTRACE_PROFILER_OPTIONS_INIT;
    perftrace_profiler_t *p = NULL;
    o.callback = &writer;
    o.dir = dir;
    o.log = say_log;
    int status = perftrace_profiler_open(&o, &p);
    perftrace_profiler_set_main(p);
    printf("own %d\n", status);
}

static void do_stage(const char *name) {
    perftrace_profiler_t *p = perftrace_profiler_main();
    int64_t token = perftrace_profiler_stage_begin(p, name, 0);
    PERFTRACE_INSTANT("in stage", "io");
    perftrace_profiler_stage_end(p, token, 0);
    printf("staged %d\n", token > 0);
}

/* ---- commands ---- */

static void fork_child(void) {
    pid_t pid = fork();
    if (pid == 0) {
        int held = perftrace_hold("child", 0);
        char url[64];
        int status = perftrace_control_url(url, sizeof url);
        printf("child %d %d %d %d\n", (int)getpid(), sockets(), held, status);
        while (getppid() != 1) {
            usleep(1000);
        }
        sleep(60);
        _exit(0);
    }
}

/* While clients are busy: no child may have kept a socket. */
static void fork_often(int n) {
    int with_sockets = 0;
    for (int i = 0; i < n; i++) {
        pid_t pid = fork();
        int status = 0;
        if (pid == 0) {
            _exit(sockets());
        }
        waitpid(pid, &status, 0);
        with_sockets += status != 0;
    }
    printf("forked %d %d\n", n, with_sockets);
}

static void cycle(int n) {
    int failed = 0;
    for (int i = 0; i < n; i++) {
        perftrace_control_url((char[512]){0}, 512);
        failed += perftrace_shutdown() != 0 || perftrace_init(NULL) != 0;
        PERFTRACE_INSTANT("cycle");
    }
    printf("cycled %d\n", failed);
}

static void shut_down(int threads) {
    pthread_t t[8];
    int status[8] = {0};
    double begin = now_ms();
    for (int i = 1; i < threads; i++) {
        pthread_create(&t[i], NULL, stop_quietly, &status[i]);
    }
    status[0] = perftrace_shutdown();
    for (int i = 1; i < threads; i++) {
        pthread_join(t[i], NULL);
        status[0] = status[0] != 0 ? status[0] : status[i];
    }
    printf("shut %d %.0f\n", status[0], now_ms() - begin);
}

static void start_hold(const char *where, int ms) {
    hold_t *h = calloc(1, sizeof *h);
    snprintf(h->where, sizeof h->where, "%s", where);
    h->ms = (unsigned)ms;
    start(hold, h);
    printf("holding\n");
}

static bool obey(char *line) {
    char word[32] = "", text[256] = "-";
    int n = 0;
    if (sscanf(line, "%31s %d", word, &n) < 2) {
        (void)sscanf(line, "%31s %255s %d", word, text, &n);
    }
    if (strcmp(word, "stand") == 0) {
        start(stand, strdup(text));
    } else if (strcmp(word, "spin") == 0) {
        for (int i = 0; i < n; i++) {
            start(spin, NULL);
        }
        printf("spinning\n");
    } else if (strcmp(word, "halt") == 0) {
        __atomic_store_n(&stop_all, 1, __ATOMIC_RELEASE);
        printf("halted\n");
    } else if (strcmp(word, "step") == 0) {
        perftrace_step(n);
        PERFTRACE_INSTANT("step", "compute");
        printf("stepped\n");
    } else if (strcmp(word, "points") == 0) {
        PERFTRACE_INSTANT("point of io", "io");
        PERFTRACE_INSTANT("point of comm", "comm");
        printf("pointed\n");
    } else if (strcmp(word, "own") == 0) {
        own_profiler(text);
    } else if (strcmp(word, "stage") == 0) {
        do_stage(text);
    } else if (strcmp(word, "hold") == 0) {
        start_hold(text, n);
    } else if (strcmp(word, "fork") == 0) {
        fork_child();
    } else if (strcmp(word, "forks") == 0) {
        fork_often(n);
    } else if (strcmp(word, "cost") == 0) {
        say_cost();
    } else if (strcmp(word, "chdir") == 0) {
        printf("moved %d\n", chdir(text));
    } else if (strcmp(word, "closefds") == 0) {
        for (int fd = 3; fd < 1024; fd++) {
            close(fd);
        }
        printf("closed\n");
    } else if (strcmp(word, "cycle") == 0) {
        cycle(n);
    } else if (strcmp(word, "shutdown") == 0) {
        shut_down(n > 1 ? n : 1);
    } else if (strcmp(word, "init") == 0) {
        int status = perftrace_init(NULL);
        printf("init %d\n", status);
    } else if (strcmp(word, "url") == 0) {
        say_url("url");
    } else {
        return false;
    }
    return true;
}

int main(void) {
    char line[512];
    setvbuf(stdout, NULL, _IOLBF, 0);
    int status = perftrace_init(NULL);
    printf("started %d\n", status);
    say_url("url");
    while (fgets(line, sizeof line, stdin) != NULL && obey(line)) {
    }
    return 0; /* threads may still be there */
}
