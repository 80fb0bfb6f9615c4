/* 05_threads_and_fork.c: threads and forked processes need no care. SPDX-License-Identifier: MIT */
#include <perftrace/perftrace.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *evaluate(void *argument) {
    char name[32];
    const int number = *(int *)argument;
    snprintf(name, sizeof(name), "eval-%d", number);
    perftrace_thread_set_name(name);
    for (int i = 0; i < 100; i++) {
        PERFTRACE_SCOPE("eval", "compute", PERFTRACE_INT("sample", i));
    }
    return NULL; /* the thread's last events are written although its ring goes away */
}

static void evaluate_alone(void) {
    PERFTRACE_FUNCTION("compute");
    PERFTRACE_INSTANT("in the child", "scheduler", PERFTRACE_INT("parent", getppid()));
}

int main(void) {
    /* Options may also be set by the program; what it leaves out still comes from the environment
     * or the configuration file. */
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    config.role = "rollout";
    config.log_stderr = 1;
    perftrace_init(&config);
    PERFTRACE_INSTANT("before fork", "scheduler");

    /* The child starts its own ring and its own file; what the parent emitted before stands once,
     * in the parent's file. */
    const pid_t child = fork();
    if (child == 0) {
        evaluate_alone();
        exit(0); /* exit() writes what is left, as return from main does */
    }
    pthread_t threads[4];
    int numbers[4];
    for (int i = 0; i < 4; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, evaluate, &numbers[i]) != 0) {
            perror("thread");
            return 1;
        }
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    int status = 1;
    waitpid(child, &status, 0);
    perftrace_shutdown();
    return status == 0 ? 0 : 1;
}
