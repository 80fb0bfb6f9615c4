/* bench_request.c: one request an event, as RLinf's collector has it. SPDX-License-Identifier: MIT
 *
 * Usage: bench_request URL STREAM SUBJECT COUNT. Makes the stream (file storage) and publishes
 * COUNT lines of JSON, each a message of its own that is waited for until the server has stored it.
 * Prints how many a second. */
#include <inttypes.h>
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void need(natsStatus s, const char *what) {
    if (s != NATS_OK) {
        fprintf(stderr, "bench_request: %s: %s\n", what, natsStatus_GetText(s));
        exit(1);
    }
}

/* An event as a tracer writes it that sends each by itself. */
static int event(char *out, size_t size, long i) {
    return snprintf(out, size,
                    "{\"name\": \"work\", \"ph\": \"X\", \"ts\": %ld.%03ld, \"dur\": 0.%03ld, "
                    "\"pid\": %d, \"tid\": %d, \"cat\": \"compute\", "
                    "\"args\": {\"i\": %ld, \"rank\": 0}}\n",
                    i * 7, i % 1000, i % 1000, (int)getpid(), (int)getpid(), i);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: %s URL STREAM SUBJECT COUNT\n", argv[0]);
        return 2;
    }
    const long count = strtol(argv[4], NULL, 10);
    const char *subjects[] = {argv[3]};
    natsConnection *nc = NULL;
    jsCtx *js = NULL;
    jsErrCode code = 0;
    jsStreamConfig c;
    need(natsConnection_ConnectTo(&nc, argv[1]), "the connection");
    need(natsConnection_JetStream(&js, nc, NULL), "JetStream");
    jsStreamConfig_Init(&c);
    c.Name = argv[2];
    c.Subjects = subjects;
    c.SubjectsLen = 1;
    c.Storage = js_FileStorage;
    need(js_AddStream(NULL, js, &c, NULL, &code), "the stream");
    const double begin = now();
    uint64_t last = 0;
    for (long i = 0; i < count; i++) {
        char line[256];
        jsPubAck *ack = NULL;
        int len = event(line, sizeof line, i);
        need(js_Publish(&ack, js, argv[3], line, len, NULL, &code), "a request");
        last = ack->Sequence;
        jsPubAck_Destroy(ack);
    }
    const double seconds = now() - begin;
    if (last != (uint64_t)count) {
        fprintf(stderr, "bench_request: %" PRIu64 " of %ld messages are stored\n", last, count);
        return 1;
    }
    printf("%.1f\n", (double)count / seconds);
    jsCtx_Destroy(js);
    natsConnection_Destroy(nc);
    nats_Close();
    return 0;
}
