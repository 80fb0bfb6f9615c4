/* bench_stacks.c: writes a file of collapsed stacks as perf's scripts make them, for
 * tests/bench/run.sh. SPDX-License-Identifier: MIT
 *
 * bench_stacks --file FILE --bytes N: threads, 6 to 30 frames a stack with the lengths that symbols
 * of C++ and Python have, a few thousand functions, most stacks seen before. The same bytes each
 * time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS 4000
#define DEEPEST   30

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 33) % n);
}

/* A few functions are in most stacks: the cube of a random number favours the first of them. */
static uint32_t pick(void) {
    uint64_t u = below(1 << 20);
    return (uint32_t)((u * u * u >> 40) * FUNCTIONS >> 20);
}

static int put_line(FILE *out) {
    static const char *const thread[] = {"python3", "pt_autograd_0", "ray::IDLE", "raylet",
                                         "cuda-EvtHandlr"};
    static const char *const space[] = {"at::native::",    "c10::detail::", "torch::autograd::", "",
                                        "std::__detail::", "_PyEval_",      "ray::rpc::"};
    char line[DEEPEST * 64 + 64];
    uint32_t frames = 6 + below(DEEPEST - 6);
    size_t at = (size_t)snprintf(line, sizeof line, "%s", thread[below(5)]);
    for (uint32_t i = 0; i < frames; i++) {
        uint32_t function = pick();
        at += (size_t)snprintf(line + at, sizeof line - at, ";%sfunction_%u%s", space[function % 7],
                               function, function % 5 == 0 ? "_[k]" : "");
    }
    return fprintf(out, "%s %u\n", line, 1 + below(500));
}

int main(int argc, char **argv) {
    const char *path = NULL;
    uint64_t bytes = 0, written = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--file") == 0) {
            path = argv[i + 1];
        } else if (strcmp(argv[i], "--bytes") == 0) {
            bytes = strtoull(argv[i + 1], NULL, 10);
        }
    }
    FILE *out = path != NULL && bytes > 0 ? fopen(path, "w") : NULL;
    if (out == NULL) {
        fprintf(stderr, "usage: bench_stacks --file FILE --bytes N\n");
        return 2;
    }
    while (written < bytes) {
        int n = put_line(out);
        if (n < 0) {
            perror(path);
            return 1;
        }
        written += (uint64_t)n;
    }
    if (fclose(out) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}
