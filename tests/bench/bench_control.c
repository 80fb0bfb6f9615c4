/* bench_control.c: what clients of the control server cost the program. SPDX-License-Identifier:
 * MIT
 *
 * A loop of steps of 10 ms, each a fixed amount of computing and some scopes, without the control
 * server and while a process asks it 200 times a second. The figure is the 99th percentile of the
 * steps with the clients over that without. Both loops are cut into pieces that take turns, so that
 * whatever else the machine does meets both. */
#include "bench_util.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define COUNT_DEFAULT       1000
#define STEP_NS             10e6
#define REQUESTS_PER_SECOND 200
#define PIECE               50 /* steps */

/* Of both processes. */
static unsigned long *answered;

/* ---- the client: a process, so that its work is on no account of the program ---- */

static void ask(int fd, const char *route) {
    char text[256], answer[16384];
    int len = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", route);
    if (write(fd, text, (size_t)len) != len) {
        _exit(1);
    }
    ssize_t n = read(fd, answer, sizeof answer);
    if (n < 12 || strncmp(answer, "HTTP/1.1 200", 12) != 0) {
        _exit(1);
    }
    __atomic_add_fetch(answered, 1, __ATOMIC_RELAXED);
}

static _Noreturn void client(unsigned port) {
    static const char *const routes[] = {"/health", "/status", "/stats", "/scopes"};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        _exit(1);
    }
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (unsigned i = 0;; i++) {
        ask(fd, routes[i % 4]);
        next.tv_nsec += 1000000000 / REQUESTS_PER_SECOND;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
}

static pid_t start_client(void) {
    char url[512];
    const char *colon = perftrace_control_url(url, sizeof url) > 0 ? strrchr(url, ':') : NULL;
    if (colon == NULL) {
        bench_die("the control server");
    }
    unsigned port = (unsigned)strtoul(colon + 1, NULL, 10);
    pid_t pid = fork();
    if (pid == 0) {
        client(port);
    }
    return pid;
}

/* ---- the steps ---- */

static BENCH_NOINLINE uint64_t compute(uint64_t turns) {
    uint64_t x = 88172645463325252u;
    for (uint64_t i = 0; i < turns; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

/* Turns that take so long, the quickest of some attempts. */
static uint64_t turns_of(double ns) {
    static const uint64_t probe = 1000000;
    double best = 0;
    for (int i = 0; i < 20; i++) {
        double begin = bench_seconds(CLOCK_MONOTONIC);
        BENCH_KEEP(compute(probe));
        double took = (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e9;
        best = best == 0 || took < best ? took : best;
    }
    return (uint64_t)((double)probe * ns / best);
}

static void steps(uint64_t turns, double *ms, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double begin = bench_seconds(CLOCK_MONOTONIC);
        {
            PERFTRACE_SCOPE("step", "compute");
            for (int part = 0; part < 10; part++) {
                PERFTRACE_SCOPE("part", "compute", PERFTRACE_INT("part", part));
                BENCH_KEEP(compute(turns / 10));
            }
        }
        ms[i] = (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e3;
    }
}

/* The control server under its clients, or none; steps of a loop. */
static void piece(const char *dir, bool asked, uint64_t turns, double *ms, size_t count) {
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    config.control = asked ? "on" : "off";
    bench_start(&config, dir, false);
    __atomic_store_n(answered, 0, __ATOMIC_RELAXED);
    pid_t pid = asked ? start_client() : 0;
    while (asked && __atomic_load_n(answered, __ATOMIC_RELAXED) == 0) {
        if (waitpid(pid, NULL, WNOHANG) != 0) {
            bench_die("the client");
        }
        usleep(1000);
    }
    double begin = bench_seconds(CLOCK_MONOTONIC);
    steps(turns, ms, count);
    double seconds = bench_seconds(CLOCK_MONOTONIC) - begin;
    if (asked) {
        unsigned long n = __atomic_load_n(answered, __ATOMIC_RELAXED);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        if ((double)n < 0.9 * REQUESTS_PER_SECOND * seconds - 10) {
            fprintf(stderr, "bench: %lu requests were answered in %.1f s\n", n, seconds);
            exit(1);
        }
    }
    if (perftrace_shutdown() != 0) {
        bench_die("shutdown");
    }
}

int main(int argc, char **argv) {
    static double ratio[BENCH_ROUNDS_MAX], without[BENCH_ROUNDS_MAX], with[BENCH_ROUNDS_MAX];
    bench_args_t a = bench_args(argc, argv);
    size_t count = a.count > 0 ? (size_t)a.count : COUNT_DEFAULT;
    double *ms[2] = {malloc(count * sizeof **ms), malloc(count * sizeof **ms)};
    answered =
        mmap(NULL, sizeof *answered, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ms[0] == NULL || ms[1] == NULL || answered == MAP_FAILED) {
        bench_die("memory");
    }
    uint64_t turns = turns_of(STEP_NS);
    for (unsigned round = 0; round < a.rounds; round++) {
        bool first = false;
        for (size_t at = 0; at < count; at += PIECE) {
            size_t n = count - at < PIECE ? count - at : PIECE;
            piece(a.dir, first, turns, ms[first] + at, n);
            piece(a.dir, !first, turns, ms[!first] + at, n);
            first = !first;
        }
        without[round] = bench_percentile(ms[false], count, 0.99);
        with[round] = bench_percentile(ms[true], count, 0.99);
        ratio[round] = with[round] / without[round];
    }
    bench_result("control", ratio, a.rounds);
    bench_detail("control", "p99 of a step %.2f ms, without the server %.2f ms",
                 bench_percentile(with, a.rounds, 0.5), bench_percentile(without, a.rounds, 0.5));
    free(ms[0]);
    free(ms[1]);
    return 0;
}
