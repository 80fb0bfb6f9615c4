/* bench_sessions.c: session records to summarise. SPDX-License-Identifier: MIT
 *
 * Usage: bench_sessions --dir DIR --count N [--ranks N]. Writes sessions-r<rank>.jsonl, N records
 * in all, about 600 bytes each, in the layout of AReaL and of the library: four samples a task, a
 * long-tailed generate phase in one to three spans, tool calls, a reward, counters of tokens. The
 * same arguments give the same bytes. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct span {
    double start, end;
} span_t;

static uint64_t random_state = 88172645463325252u;

static double random_unit(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

/* Long-tailed, median about 1. */
static double random_length(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += random_unit();
    }
    return exp(0.7 * sum);
}

/* A number as Python's repr writes it: no more digits than it takes. */
static const char *text_of(double v) {
    static char text[8][32];
    static unsigned next;
    char *to = text[next++ % 8];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(to, sizeof(text[0]), "%.*g", digits, v);
        if (strtod(to, NULL) == v) {
            break;
        }
    }
    return to;
}

static void put_spans(FILE *out, const char *name, const span_t *span, int count,
                      const char *comma) {
    fprintf(out, "%s\"%s\": [", comma, name);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s{\"start_ts\": %s, \"end_ts\": %s}", i > 0 ? ", " : "",
                text_of(span[i].start), text_of(span[i].end));
    }
    fprintf(out, "]");
}

static void put_record(FILE *out, long task, long session, int rank, double submit) {
    span_t generate[3], tool[2], reward;
    int spans = 1 + (int)(random_unit() * 3), tools = spans - 1;
    double now = submit + 0.001 + 0.05 * random_unit();
    for (int i = 0; i < spans; i++) {
        generate[i].start = now;
        now += 2 * random_length();
        generate[i].end = now;
        if (i < tools) {
            tool[i].start = now + 1e-5;
            now += 0.2 * random_length();
            tool[i].end = now;
        }
    }
    reward.start = now + 1e-5;
    now += 0.1 * random_length();
    reward.end = now;
    double draw = random_unit();
    const char *status = draw < 0.7 ? "accepted" : draw < 0.9 ? "rejected" : "failed";
    fprintf(out,
            "{\"task_id\": %ld, \"session_id\": %ld, \"rank\": %d, \"role\": \"rollout\", "
            "\"status\": \"%s\", ",
            task, session, rank, status);
    if (draw >= 0.7) {
        fprintf(out, "\"reason\": \"%s\", ", draw < 0.9 ? "stale_weight" : "workflow_exception");
    }
    double sum = 0, tool_sum = 0;
    for (int i = 0; i < spans; i++) {
        sum += generate[i].end - generate[i].start;
        tool_sum += i < tools ? tool[i].end - tool[i].start : 0;
    }
    fprintf(out, "\"submit_ts\": %s, \"finalized_ts\": %s, \"total_s\": %s, ", text_of(submit),
            text_of(now), text_of(now - submit));
    fprintf(out, "\"generate_s\": %s, \"reward_s\": %s, ", text_of(sum),
            text_of(reward.end - reward.start));
    if (tools > 0) {
        fprintf(out, "\"toolcall_s\": %s, ", text_of(tool_sum));
    }
    fprintf(out, "\"phases\": {");
    put_spans(out, "generate", generate, spans, "");
    put_spans(out, "reward", &reward, 1, ", ");
    if (tools > 0) {
        put_spans(out, "toolcall", tool, tools, ", ");
    }
    fprintf(out, "}, \"counters\": {\"prompt_tokens\": %d, \"completion_tokens\": %d}}\n",
            100 + (int)(random_unit() * 900), (int)(sum * 80));
}

int main(int argc, char **argv) {
    const char *dir = NULL;
    long count = 0;
    int ranks = 8;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--dir") == 0) {
            dir = argv[i + 1];
        } else if (strcmp(argv[i], "--count") == 0) {
            count = strtol(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--ranks") == 0) {
            ranks = atoi(argv[i + 1]);
        }
    }
    if (dir == NULL || count <= 0 || ranks < 1 || ranks > 1024) {
        fprintf(stderr, "usage: %s --dir DIR --count N [--ranks N]\n", argv[0]);
        return 2;
    }
    for (int rank = 0; rank < ranks; rank++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/sessions-r%d.jsonl", dir, rank);
        FILE *out = fopen(path, "w");
        if (out == NULL) {
            perror(path);
            return 1;
        }
        long n = count / ranks + (rank < count % ranks);
        double submit = 1790000000.0;
        for (long i = 0; i < n; i++) {
            submit += 0.02 * random_length();
            put_record(out, i / 4, i, rank, submit);
        }
        if (fclose(out) != 0) {
            perror(path);
            return 1;
        }
    }
    return 0;
}
