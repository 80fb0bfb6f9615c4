/* bench_sustained.c: how many scopes a second get into a closed file. SPDX-License-Identifier: MIT
 *
 * One producer at full speed, block policy, nothing lost: from init to the return of shutdown. The
 * floor formats the same lines by hand: the text around the numbers is taken from the library's own
 * file, the numbers have as many digits, and 1 MiB pieces are written. With --swallow and shim.c
 * preloaded no byte reaches a file after the first, short run: what is left is the programs' own
 * work, without the kernel's. */
#include "bench_util.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define COUNT_DEFAULT 10000000
#define PIECE         (1u << 20)
#define PART          128u /* longest part of a line around its numbers */

static char trace_path[4096];

/* On a virtual machine memory that lay idle may have to come from the host again, page by page, on
 * the first touch; that costs more than all that is measured here. So it is touched beforehand, by
 * both sides alike: what the file's pages take next is what was freed last. */
static void warm_memory(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
                   -1, 0);
    if (p != MAP_FAILED) {
        munmap(p, bytes);
    }
}

/* ---- ours ---------------------------------------------------------------------------------------
 */

/* CPU seconds of the library's thread so far; 0 where the system does not tell. */
static double drain_cpu(void) {
    DIR *tasks = opendir("/proc/self/task");
    double seconds = 0;
    for (struct dirent *e; tasks && (e = readdir(tasks));) {
        char path[512];
        char name[64] = "";
        unsigned long long ns = 0;
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        if (f) {
            if (!fgets(name, sizeof(name), f)) {
                name[0] = '\0';
            }
            fclose(f);
        }
        snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", e->d_name);
        f = strncmp(name, "perftrace", 9) == 0 ? fopen(path, "r") : NULL;
        if (f) {
            seconds += fscanf(f, "%llu", &ns) == 1 ? (double)ns * 1e-9 : 0;
            fclose(f);
        }
    }
    if (tasks) {
        closedir(tasks);
    }
    return seconds;
}

static double record(long count, const char *dir, double *ret_drain_cpu) {
    double begin = bench_seconds(CLOCK_MONOTONIC);
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    config.overflow = PERFTRACE_OVERFLOW_BLOCK;
    config.rank = 0;
    config.world_size = 1;
    bench_start(&config, dir, false);
    for (long i = 0; i < count; i++) {
        PERFTRACE_SCOPE("bench.sustained", "bench");
        BENCH_KEEP(i);
    }
    perftrace_save(-1, 0);
    *ret_drain_cpu = drain_cpu();
    if (perftrace_shutdown() != 0) {
        fprintf(stderr, "bench: the trace could not be finished\n");
        exit(1);
    }
    return bench_seconds(CLOCK_MONOTONIC) - begin;
}

/* Every scope is a line of the file. */
static void check(long count) {
    FILE *f = fopen(trace_path, "rb");
    char *line = NULL;
    size_t room = 0;
    long scopes = 0;
    if (!f) {
        bench_die(trace_path);
    }
    while (getline(&line, &room, f) > 0) {
        scopes += strstr(line, "\"ph\": \"X\"") != NULL;
    }
    free(line);
    fclose(f);
    if (scopes != count) {
        fprintf(stderr, "bench: %ld scopes were emitted, %ld are in the file\n", count, scopes);
        exit(1);
    }
}

/* ---- the floor ----------------------------------------------------------------------------------
 */

/* A line is head, time, middle, duration, tail. All parts are copied at full length, whatever
 * theirs is: a copy of constant length is a few vector moves. */
typedef struct line {
    char head[PART];
    char middle[16];
    char tail[PART];
    size_t head_len;
    size_t middle_len;
    size_t tail_len;
} line_t;

static void take(char *part, size_t room, size_t *ret_len, const char *from, const char *to) {
    size_t len = (size_t)(to - from);
    if (len > room) {
        fprintf(stderr, "bench: a line is longer than expected\n");
        exit(1);
    }
    memcpy(part, from, len);
    *ret_len = len;
}

static void learn_line(line_t *l) {
    FILE *f = fopen(trace_path, "rb");
    char *text = NULL;
    size_t room = 0;
    memset(l, 0, sizeof(*l));
    while (f && getline(&text, &room, f) > 0) {
        char *ts = strstr(text, "\"ph\": \"X\", \"ts\": ");
        if (ts) {
            ts += sizeof("\"ph\": \"X\", \"ts\": ") - 1;
            char *ts_end = ts + strspn(ts, "0123456789.");
            char *dur = ts_end + sizeof(", \"dur\": ") - 1;
            char *dur_end = dur + strspn(dur, "0123456789.");
            take(l->head, sizeof(l->head), &l->head_len, text, ts);
            take(l->middle, sizeof(l->middle), &l->middle_len, ts_end, dur);
            take(l->tail, sizeof(l->tail), &l->tail_len, dur_end, text + strlen(text));
            break;
        }
    }
    free(text);
    if (!f || !l->head_len) {
        fprintf(stderr, "bench: no scope in %s\n", trace_path);
        exit(1);
    }
    fclose(f);
}

static char fractions[1000][4]; /* ".000" to ".999" */

static void fill_fractions(void) {
    for (unsigned i = 0; i < 1000; i++) {
        char text[8];
        snprintf(text, sizeof(text), ".%03u", i % 1000);
        memcpy(fractions[i], text, 4);
    }
}

/* Eight digits as bytes, the first one lowest: halves, then quarters, then single digits at once.
 */
static inline uint64_t eight_digits(uint32_t v) {
    uint64_t half = v / 10000 | (uint64_t)(v % 10000) << 32;
    uint64_t pairs = (half * 10486 >> 20) & 0x0000007F0000007F;
    pairs |= (half - pairs * 100) << 16;
    uint64_t tens = (pairs * 103 >> 10) & 0x000F000F000F000F;
    return tens | (pairs - tens * 10) << 8;
}

static inline char *put_us(char *p, uint64_t ns) {
    uint64_t us = ns / 1000;
    unsigned fraction = (unsigned)(ns - us * 1000);
    if (us < 10) {
        *p++ = (char)('0' + us);
    } else {
        uint64_t big = us / 100000000;
        if (big) {
            p += sprintf(p, "%llu", (unsigned long long)big);
        }
        uint64_t digits = eight_digits((uint32_t)(us - big * 100000000));
        unsigned skip = big ? 0 : (unsigned)__builtin_ctzll(digits) & ~7u;
        digits = (digits | 0x3030303030303030) >> skip;
        memcpy(p, &digits, 8);
        p += 8 - skip / 8;
    }
    memcpy(p, fractions[fraction], 4);
    return p + 4;
}

static double format_by_hand(long count, const line_t *l, const char *path) {
    double begin = bench_seconds(CLOCK_MONOTONIC);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    char *buffer = malloc(PIECE + 1024);
    if (fd < 0 || !buffer) {
        bench_die(path);
    }
    char *p = buffer;
    uint64_t ns = 123456;
    for (long i = 0; i < count; i++) {
        memcpy(p, l->head, sizeof(l->head));
        p = put_us(p + l->head_len, ns);
        memcpy(p, l->middle, sizeof(l->middle));
        p = put_us(p + l->middle_len, 10 + ((uint64_t)i & 31));
        memcpy(p, l->tail, sizeof(l->tail));
        p += l->tail_len;
        ns += 40 + ((uint64_t)i & 31);
        if (p - buffer >= (ptrdiff_t)PIECE) {
            if (write(fd, buffer, PIECE) != (ssize_t)PIECE) {
                bench_die(path);
            }
            size_t rest = (size_t)(p - buffer) - PIECE;
            memcpy(buffer, buffer + PIECE, rest);
            p = buffer + rest;
        }
    }
    if (write(fd, buffer, (size_t)(p - buffer)) != p - buffer || close(fd) != 0) {
        bench_die(path);
    }
    free(buffer);
    return bench_seconds(CLOCK_MONOTONIC) - begin;
}

enum { SWALLOW = 2 };

static void swallow_writes(void) {
    long (*shim_set)(int);
    void *symbol = dlsym(RTLD_DEFAULT, "shim_set");
    memcpy(&shim_set, &symbol, sizeof(symbol));
    if (!shim_set) {
        fprintf(stderr, "bench: libbench_shim.so is not preloaded\n");
        exit(2);
    }
    shim_set(SWALLOW);
}

static off_t size_of(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? st.st_size : 0;
}

int main(int argc, char **argv) {
    double ratio[BENCH_ROUNDS_MAX];
    double ours[BENCH_ROUNDS_MAX];
    double floor[BENCH_ROUNDS_MAX];
    double ours_cpu[BENCH_ROUNDS_MAX];
    double floor_cpu[BENCH_ROUNDS_MAX];
    double cpu_ratio[BENCH_ROUNDS_MAX];
    char floor_path[4096];
    line_t line;
    bool swallow = argc > 1 && strcmp(argv[1], "--swallow") == 0;
    argc -= swallow;
    argv += swallow;
    bench_args_t a = bench_args(argc, argv);
    long count = a.count ? a.count : COUNT_DEFAULT;
    snprintf(trace_path, sizeof(trace_path), "%s/traces-r0.jsonl", a.dir);
    snprintf(floor_path, sizeof(floor_path), "%s/by-hand.jsonl", a.dir);
    unlink(trace_path);
    fill_fractions();
    off_t ours_size = 0;
    off_t floor_size = 0;
    double unused;
    record(1000, a.dir, &unused);
    learn_line(&line);
    unlink(trace_path);
    if (swallow) {
        swallow_writes();
    }
    size_t file_bytes = swallow ? 0 : (size_t)count * 160;
    for (unsigned round = 0; round < a.rounds; round++) {
        warm_memory(file_bytes);
        ours[round] = (double)count / record(count, a.dir, &ours_cpu[round]) / 1e6;
        if (round == 0 && !swallow) {
            check(count);
            ours_size = size_of(trace_path);
        }
        unlink(trace_path);
        warm_memory(file_bytes);
        double cpu = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        floor[round] = (double)count / format_by_hand(count, &line, floor_path) / 1e6;
        floor_cpu[round] = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
        cpu_ratio[round] = floor_cpu[round] / ours_cpu[round];
        floor_size = size_of(floor_path);
        unlink(floor_path);
        ratio[round] = ours[round] / floor[round];
    }
    if (swallow) {
        bench_result("sustained.no_file", ratio, a.rounds);
        bench_detail(
            "sustained.no_file",
            "as sustained, every write returns at once: %.1f million lines/s, by hand %.1f",
            bench_percentile(ours, a.rounds, 0.5), bench_percentile(floor, a.rounds, 0.5));
        bench_detail("sustained.no_file", "CPU time of the library's thread %.1f ns a line",
                     bench_percentile(ours_cpu, a.rounds, 0.5) * 1e9 / (double)count);
        return 0;
    }
    bench_result("sustained", ratio, a.rounds);
    bench_detail("sustained", "%.1f million lines/s, by hand %.1f; %.1f and %.1f bytes a line",
                 bench_percentile(ours, a.rounds, 0.5), bench_percentile(floor, a.rounds, 0.5),
                 (double)ours_size / (double)count, (double)floor_size / (double)count);
    if (ours_cpu[0] > 0) {
        bench_result("sustained.cpu", cpu_ratio, a.rounds);
        bench_detail("sustained.cpu",
                     "CPU time by hand / of the library's thread: %.1f and %.1f ns a line",
                     bench_percentile(floor_cpu, a.rounds, 0.5) * 1e9 / (double)count,
                     bench_percentile(ours_cpu, a.rounds, 0.5) * 1e9 / (double)count);
    }
    return 0;
}
