/* nvtx_client.c: a program with NVTX ranges that knows nothing of libperftrace.
 * SPDX-License-Identifier: MIT */
#include "mini_nvtx.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static mini_attributes_t text(const char *s) {
    mini_attributes_t a = {.version = 3, .size = sizeof a, .message_type = 1};
    a.message.ascii = s;
    return a;
}

static void *other_thread(void *arg) {
    mini_name_thread((uint32_t)syscall(SYS_gettid), "loader");
    mini_push("load");
    mini_end(*(uint64_t *)arg); /* begun by another thread */
    mini_pop();
    return NULL;
}

static void plain(void) {
    char buffer[16] = "buffer 1";
    int level[5];
    level[0] = mini_push("outer");
    level[1] = mini_push_w(L"wide \x00e4\x20ac\x1f600");
    level[2] = mini_pop();
    level[3] = mini_pop();
    level[4] = mini_pop(); /* one too many */
    printf("levels %d %d %d %d %d\n", level[0], level[1], level[2], level[3], level[4]);
    mini_push(buffer);
    mini_pop();
    memcpy(buffer, "buffer 2", 9); /* the same address, another text */
    mini_push(buffer);
    mini_pop();
    mini_mark("mark \"quoted\"");
    mini_push(NULL);
    mini_pop();
}

/* Texts of every length around a word, at one address, and at the end of what may be read. */
static void texts(void) {
    static const char *const all[] = {"",
                                      "a",
                                      "abcdefg",
                                      "abcdefgh",
                                      "abcdefghi",
                                      "abcdefgX",
                                      "abcdefghijklmno",
                                      "abcdefghijklmnop",
                                      "abcdefghijklmnopq",
                                      "abcd"};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *two = mmap(NULL, page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (two == MAP_FAILED || mprotect(two + page, page, PROT_NONE) != 0) {
        printf("no pages\n");
        return;
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const size_t size = strlen(all[i]) + 1;
        char *const places[] = {two, two + 3, two + page - size};
        for (size_t at = 0; at < 3; at++) {
            memset(two, 'z', page);
            memcpy(places[at], all[i], size);
            for (int again = 0; again < 3; again++) {
                mini_push(places[at]);
                mini_pop();
            }
        }
    }
    munmap(two, page * 2);
}

static void domains(void) {
    const void *a = mini_domain("PyTorch"), *b = mini_domain("NCCL"), *again = mini_domain("NCCL");
    const void *name = mini_register(b, "allreduce");
    mini_attributes_t bytes = {
        .version = 3, .size = sizeof bytes, .message_type = 3, .payload_type = 1};
    bytes.message.registered = name;
    bytes.payload.u64 = 18446744073709551615u;
    mini_attributes_t step = text("step"), ratio = text("ratio"), old = text("old");
    step.payload_type = 5;
    step.payload.i32 = -7;
    ratio.payload_type = 6;
    ratio.payload.f32 = 0.5F;
    old.size = 8; /* a structure that is not known */
    printf("same %d %d\n", b == again, mini_register(b, "allreduce") == name);
    mini_domain_push(a, &step);
    mini_domain_push(b, &bytes);
    mini_domain_pop(a); /* each domain has its own order */
    mini_domain_pop(b);
    mini_domain_mark(a, &ratio);
    uint64_t id = mini_domain_start(b, &bytes);
    mini_domain_end(b, id);
    mini_domain_push(a, &old);
    mini_domain_pop(a);
    mini_domain_end(b, 0);
    mini_domain_end(b, UINT64_MAX);
}

static void deep(void) {
    int taken = 0;
    for (int i = 0; i < 400; i++) {
        taken += mini_push("deep") >= 0;
    }
    for (int i = 0; i < 400; i++) {
        mini_pop();
    }
    printf("taken %d after %d\n", taken, mini_push("after"));
    mini_pop();
}

/* Children are forked while other threads make names. */
static int stop_naming;

static void *make_names(void *arg) {
    char name[32];
    for (int i = 0; !__atomic_load_n(&stop_naming, __ATOMIC_RELAXED); i++) {
        snprintf(name, sizeof name, "%s %d", (const char *)arg, i % 500);
        mini_push(name);
        mini_pop();
    }
    return NULL;
}

static void forks(void) {
    pthread_t threads[2];
    int good = 0;
    alarm(200);
    static char first[] = "a", second[] = "b";
    pthread_create(&threads[0], NULL, make_names, first);
    pthread_create(&threads[1], NULL, make_names, second);
    for (int i = 0; i < 30; i++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60); /* a signal's death is no 0 */
            mini_push("in the child");
            mini_pop();
            _exit(0);
        }
        int status = 1;
        waitpid(child, &status, 0);
        good += status == 0;
    }
    __atomic_store_n(&stop_naming, 1, __ATOMIC_RELAXED);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("children %d\n", good);
}

int main(int argc, char **argv) {
    printf("loaded %d\n", mini_nvtx_load());
    if (argc > 1 && strcmp(argv[1], "forks") == 0) {
        forks();
        return 0;
    }
    plain();
    texts();
    domains();
    deep();
    uint64_t id = mini_start("crossing");
    pthread_t thread;
    if (pthread_create(&thread, NULL, other_thread, &id) == 0) {
        pthread_join(thread, NULL);
    }
    return 0;
}
