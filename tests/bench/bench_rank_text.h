/* bench_rank_text.h: the trace of a rank that is not there, line by line. SPDX-License-Identifier:
 * MIT
 *
 * docs/formats/JSONL.md: a header, a reading of the clock and two of the collector's, events, a
 * footer with the account of what came before it. */
#ifndef BENCH_RANK_TEXT_H
#define BENCH_RANK_TEXT_H

#include "strbuf.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct bench_rank_text {
    unsigned rank;
    unsigned world_size;
    uint64_t epoch_ns; /* of ts 0 */
    uint64_t mono_ns;
    uint64_t events;
} bench_rank_text_t;

#define BENCH_RANKS_A_HOST 8u
#define BENCH_PID_0        10000u

static inline void bench_rank_host(unsigned rank, char out[16]) {
    snprintf(out, 16, "node%u", rank / BENCH_RANKS_A_HOST);
}

/* {"name": NAME, "ph": "M", ..., "args": { */
static inline void bench_rank_meta(perftrace__strbuf_t *out, const bench_rank_text_t *t,
                                   const char *name) {
    unsigned pid = BENCH_PID_0 + t->rank;
    perftrace__strbuf_printf(
        out, "{\"name\": \"%s\", \"ph\": \"M\", \"pid\": %u, \"tid\": %u, \"args\": {", name, pid,
        pid);
}

static inline void bench_rank_begin(perftrace__strbuf_t *out, const bench_rank_text_t *t) {
    char host[16];
    bench_rank_host(t->rank, host);
    bench_rank_meta(out, t, "perftrace_header");
    perftrace__strbuf_printf(
        out,
        "\"version\": 1, \"run_id\": \"bench\", \"rank\": %u, \"world_size\": %u, "
        "\"local_rank\": %u, \"role\": null, \"host\": \"%s\", "
        "\"boot_id\": \"00000000-0000-4000-8000-%012u\", \"pid\": %u, \"process_start\": \"1\", "
        "\"epoch_ns\": \"%" PRIu64 "\", \"mono_ns\": \"%" PRIu64
        "\", \"clock\": \"tsc\", \"launcher\": \"torchrun\", \"library\": \"bench\"}}\n",
        t->rank, t->world_size, t->rank % BENCH_RANKS_A_HOST, host, t->rank / BENCH_RANKS_A_HOST,
        BENCH_PID_0 + t->rank, t->epoch_ns, t->mono_ns);
    bench_rank_meta(out, t, "process_name");
    perftrace__strbuf_printf(out, "\"name\": \"Rank %u, Process\", \"rank\": %u}}\n", t->rank,
                             t->rank);
    bench_rank_meta(out, t, "perftrace_clock");
    perftrace__strbuf_printf(out,
                             "\"ts\": 0.000, \"mono_ns\": \"%" PRIu64 "\", \"epoch_ns\": \"%" PRIu64
                             "\", \"rank\": %u}}\n",
                             t->mono_ns, t->epoch_ns, t->rank);
    for (unsigned i = 0; i < 2; i++) {
        bench_rank_meta(out, t, "perftrace_reference");
        perftrace__strbuf_printf(
            out,
            "\"mono_ns\": \"%" PRIu64 "\", \"ref_ns\": \"%" PRIu64
            "\", \"error_ns\": 20000, \"ref\": \"00000000-0000-4000-8000-ffffffffffff\", "
            "\"rank\": %u}}\n",
            t->mono_ns + i * 2000000000u, t->mono_ns + 1000 + i * 2000000000u, t->rank);
    }
}

/* An event that ends ts_ns after the rank's ts 0. */
static inline void bench_rank_event(perftrace__strbuf_t *out, bench_rank_text_t *t,
                                    uint64_t ts_ns) {
    static const char *const names[] = {"layer.forward", "layer.backward", "allreduce", "optimizer",
                                        "data.load",     "kv.transfer",    "sample",    "reward"};
    static const char *const categories[] = {"compute", "compute", "comm",    "compute",
                                             "io",      "comm",    "compute", "compute"};
    unsigned pid = BENCH_PID_0 + t->rank;
    unsigned name = (unsigned)(t->events * 5 / 3 % 8);
    uint64_t dur = 1000 + (t->events * 2654435761u + t->rank) % 900000;
    uint64_t from = ts_ns > dur ? ts_ns - dur : 0;
    perftrace__strbuf_printf(out,
                             "{\"name\": \"%s\", \"ph\": \"X\", \"ts\": %" PRIu64 ".%03u, \"dur\": "
                             "%" PRIu64 ".%03u, \"pid\": %u, \"tid\": %u, \"cat\": \"%s\", "
                             "\"args\": {\"i\": %" PRIu64 ", \"rank\": %u}}\n",
                             names[name], from / 1000, (unsigned)(from % 1000), dur / 1000,
                             (unsigned)(dur % 1000), pid, pid, categories[name], t->events,
                             t->rank);
    t->events++;
}

static inline void bench_rank_end(perftrace__strbuf_t *out, const bench_rank_text_t *t) {
    bench_rank_meta(out, t, "perftrace_footer");
    perftrace__strbuf_printf(out,
                             "\"emitted\": %" PRIu64 ", \"written\": %" PRIu64
                             ", \"dropped\": {}, \"unfinished\": 0, \"recovered\": false, "
                             "\"rank\": %u}}\n",
                             t->events, t->events, t->rank);
}

#endif
