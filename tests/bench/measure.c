/* measure.c: runs a command and tells what it took. SPDX-License-Identifier: MIT
 *
 * Usage: measure OUT COMMAND [ARG ...]. Standard output of the command goes to the file OUT ("-":
 * thrown away), which is made anew. Prints wall seconds, CPU seconds and the peak of the resident
 * size in MB, tab-separated; ends with the command's status. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s OUT COMMAND [ARG ...]\n", argv[0]);
        return 2;
    }
    const char *out = strcmp(argv[1], "-") == 0 ? "/dev/null" : argv[1];
    double begin = now();
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
            fprintf(stderr, "measure: %s: %s\n", out, strerror(errno));
            _exit(126);
        }
        execvp(argv[2], argv + 2);
        fprintf(stderr, "measure: %s: %s\n", argv[2], strerror(errno));
        _exit(127);
    }
    int status = 0;
    struct rusage u;
    if (pid < 0 || wait4(pid, &status, 0, &u) != pid) {
        fprintf(stderr, "measure: %s\n", strerror(errno));
        return 126;
    }
    printf("%.4f\t%.4f\t%.1f\n", now() - begin, seconds(u.ru_utime) + seconds(u.ru_stime),
           (double)u.ru_maxrss / 1024);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
