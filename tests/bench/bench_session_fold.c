/* bench_session_fold.c: session events folded into records. SPDX-License-Identifier: MIT
 *
 * Usage: bench_session_fold [--count SESSIONS] [--rounds N] [--dir unused]. A ring's worth of
 * records, as the drain finds them: SESSIONS sessions of eleven events each (registration, four
 * phases, a counter, finalize), LIVE of them at a time, one event of each in turn. Per round it is
 * decoded (perftrace__record_decode) and then decoded, folded and its records taken; the fold's
 * time is the difference. In CPU time. */
#include "bench_util.h"
#include "record_decode.h"
#include "session_fold.h"

#define LIVE    1000
#define EVENTS  11
#define BATCH   4096 /* events between two takes */
#define LIVE_TO 100000

enum { SUBMIT = 1, GENERATE, REWARD, TOOLCALL, VERIFY, TOKENS, FINALIZE };

typedef struct input {
    perftrace__site_table_t sites;
    perftrace__strbuf_t log;
    uint64_t *words;
    size_t n;
    size_t events;
} input_t;

static void make_sites(input_t *in) {
    static const perftrace_i_arg_t task = {"task_id", PERFTRACE_I_TYPE_I64};
    static const perftrace_i_arg_t value = {"value", PERFTRACE_I_TYPE_I64};
    static const perftrace_i_arg_t texts[2] = {{"status", PERFTRACE_I_TYPE_STR},
                                               {"reason", PERFTRACE_I_TYPE_STR}};
    static const struct {
        const char *name;
        uint16_t kind, nargs;
        const perftrace_i_arg_t *args;
    } sites[] = {{"session", PERFTRACE_I_KIND_SESSION_BEGIN, 1, &task},
                 {"generate", PERFTRACE_I_KIND_PHASE_BEGIN, 0, NULL},
                 {"reward", PERFTRACE_I_KIND_PHASE_BEGIN, 0, NULL},
                 {"toolcall", PERFTRACE_I_KIND_PHASE_BEGIN, 0, NULL},
                 {"verify", PERFTRACE_I_KIND_PHASE_BEGIN, 0, NULL},
                 {"tokens", PERFTRACE_I_KIND_SESSION_COUNTER, 1, &value},
                 {"session", PERFTRACE_I_KIND_SESSION_END, 2, texts}};
    for (uint32_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++) {
        const perftrace_i_site_t site = {.kind = sites[i].kind,
                                         .nargs = sites[i].nargs,
                                         .name = sites[i].name,
                                         .file = "bench.c",
                                         .args = sites[i].args};
        perftrace__log_site(&in->log, i + 1, &site, "session");
    }
    if (!perftrace__site_table_parse(&in->sites, (const unsigned char *)in->log.data,
                                     in->log.len)) {
        bench_die("sites");
    }
}

/* One record: head, time (two for the end of a phase), id, arguments. */
static void put(input_t *in, uint32_t kind, uint32_t site, const uint64_t *words, uint32_t n) {
    in->words[in->n] = PERFTRACE_I_RECORD_HEAD(kind, 0, n + 1, site);
    memcpy(in->words + in->n + 1, words, n * sizeof(*words));
    in->n += n + 1;
    in->events++;
}

/* The k-th event of a session. */
static void put_event(input_t *in, uint64_t id, unsigned k, uint64_t ns) {
    /* As recorded: each session's own events lie this far apart. */
    uint64_t before = ns - (uint64_t)LIVE * 100;
    if (k == 0) {
        put(in, PERFTRACE_I_KIND_SESSION_BEGIN, SUBMIT, (uint64_t[]){ns, id, id / 4}, 3);
    } else if (k < 9) {
        uint32_t site = GENERATE + (k - 1) / 2;
        if (k % 2) {
            put(in, PERFTRACE_I_KIND_PHASE_BEGIN, site, (uint64_t[]){ns, id}, 2);
        } else {
            put(in, PERFTRACE_I_KIND_PHASE_END, site, (uint64_t[]){before, ns, id}, 3);
        }
    } else if (k == 9) {
        put(in, PERFTRACE_I_KIND_SESSION_COUNTER, TOKENS, (uint64_t[]){ns, id, 512}, 3);
    } else {
        uint64_t words[5] = {ns, id, 8, 0, PERFTRACE__STR_NULL};
        memcpy(&words[3], "accepted", 8);
        put(in, PERFTRACE_I_KIND_SESSION_END, FINALIZE, words, 5);
    }
}

static void make_input(input_t *in, size_t sessions) {
    make_sites(in);
    in->words = malloc(sessions * EVENTS * 6 * sizeof(*in->words));
    if (!in->words) {
        bench_die("memory");
    }
    uint64_t ns = 1000000000;
    for (size_t first = 0; first < sessions; first += LIVE) {
        size_t n = sessions - first < LIVE ? sessions - first : LIVE;
        for (unsigned k = 0; k < EVENTS; k++) {
            for (size_t i = 0; i < LIVE; i++) {
                ns += 100;
                if (i < n) {
                    put_event(in, first + i, k, ns);
                }
            }
        }
    }
}

static double decode(const input_t *in) {
    double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t sum = 0;
    for (const uint64_t *p = in->words, *end = p + in->n; p < end;) {
        perftrace__event_t ev = {.id = 0};
        p += perftrace__record_decode(p, (uint64_t)(end - p), &in->sites, &ev);
        sum += ev.id;
        BENCH_KEEP(&ev);
    }
    BENCH_KEEP(sum);
    return bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

/* As the session sink does it. */
static inline bool fold_event(perftrace__session_fold_t *f, const perftrace__event_t *ev,
                              const uint32_t *phases) {
    static const perftrace__text_t none = {NULL, 0};
    int64_t id = (int64_t)ev->id;
    switch (ev->kind) {
    case PERFTRACE_I_KIND_SESSION_BEGIN:
        return perftrace__session_fold_session(f, id, (int64_t)ev->args[0], ev->start);
    case PERFTRACE_I_KIND_PHASE_BEGIN:
        return perftrace__session_fold_phase_begin(f, id, phases[ev->site->id], ev->start, none);
    case PERFTRACE_I_KIND_PHASE_END:
        return perftrace__session_fold_phase_end(f, id, phases[ev->site->id], ev->start, ev->end,
                                                 none);
    case PERFTRACE_I_KIND_SESSION_COUNTER:
        return perftrace__session_fold_counter(f, id, (perftrace__text_t){ev->name, ev->name_len},
                                               (int64_t)ev->args[0]);
    default: {
        perftrace__text_t status;
        uint32_t len;
        perftrace__arg_next(ev->args, ev->args_end, PERFTRACE_I_TYPE_STR, &status.data, &len);
        status.len = len;
        return perftrace__session_fold_finalize(f, id, ev->start, status, none);
    }
    }
}

static perftrace__session_fold_t *make_fold(uint32_t phases[]) {
    const perftrace__fold_options_t options = {
        .rank = 3, .role = "rollout", .epoch_ns = 1760000000000000000u, .flush_threshold = 256};
    perftrace__session_fold_t *f = perftrace__session_fold_new(&options);
    if (!f) {
        bench_die("memory");
    }
    static const char *const names[] = {"generate", "reward", "toolcall", "verify"};
    for (uint32_t i = 0; i < 4; i++) {
        phases[GENERATE + i] =
            perftrace__session_fold_phase(f, (perftrace__text_t){names[i], strlen(names[i])});
    }
    return f;
}

typedef struct folded {
    double seconds;
    double taking; /* of them */
    uint64_t records;
    uint64_t bytes;
} folded_t;

static void take(perftrace__session_fold_t *f, perftrace__fold_take_t what,
                 perftrace__strbuf_t *out, folded_t *r) {
    double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    perftrace__session_fold_tick(f);
    perftrace__session_fold_take(f, what, 0, out);
    r->bytes += out->len;
    perftrace__strbuf_clear(out);
    r->taking += bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static folded_t fold(const input_t *in) {
    uint32_t phases[8] = {0};
    perftrace__session_fold_t *f = make_fold(phases);
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    folded_t r = {0, 0, 0, 0};
    double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    size_t n = 0;
    for (const uint64_t *p = in->words, *end = p + in->n; p < end;) {
        perftrace__event_t ev = {.id = 0};
        p += perftrace__record_decode(p, (uint64_t)(end - p), &in->sites, &ev);
        fold_event(f, &ev, phases);
        if (++n % BATCH == 0) {
            take(f, PERFTRACE__TAKE_DUE, &out, &r);
        }
    }
    take(f, PERFTRACE__TAKE_ALL, &out, &r);
    r.seconds = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    perftrace__fold_counts_t c;
    perftrace__session_fold_counts(f, &c);
    r.records = c.written;
    if (c.no_memory || c.late || c.live) {
        bench_die("the fold's account");
    }
    perftrace__strbuf_free(&out);
    perftrace__session_fold_free(f);
    return r;
}

/* Bytes that LIVE_TO live sessions of four phases hold. */
static double live_bytes(void) {
    uint32_t phases[8] = {0};
    perftrace__session_fold_t *f = make_fold(phases);
    static const perftrace__text_t none = {NULL, 0};
    for (int64_t id = 0; id < LIVE_TO; id++) {
        uint64_t ns = 1000 * (uint64_t)id;
        perftrace__session_fold_session(f, id, id / 4, ns);
        for (uint32_t p = 0; p < 4; p++) {
            perftrace__session_fold_phase_begin(f, id, phases[GENERATE + p], ns + 100 * p, none);
            perftrace__session_fold_phase_end(f, id, phases[GENERATE + p], ns + 100 * p,
                                              ns + 100 * p + 50, none);
        }
    }
    perftrace__fold_counts_t c;
    perftrace__session_fold_counts(f, &c);
    perftrace__session_fold_free(f);
    return (double)c.bytes;
}

int main(int argc, char **argv) {
    bench_args_t args = bench_args(argc, argv);
    input_t in = {0};
    make_input(&in, args.count ? (size_t)args.count : 300000);
    double rates[BENCH_ROUNDS_MAX];
    double ratios[BENCH_ROUNDS_MAX];
    double all_ratios[BENCH_ROUNDS_MAX];
    double decoded[BENCH_ROUNDS_MAX];
    double taking[BENCH_ROUNDS_MAX];
    folded_t r = {0, 0, 0, 0};
    decode(&in); /* pages in */
    for (unsigned i = 0; i < args.rounds; i++) {
        double d = decode(&in);
        r = fold(&in);
        double events = (double)in.events;
        rates[i] = events / (r.seconds - d) / 1e6;
        ratios[i] = d / (r.seconds - r.taking - d);
        all_ratios[i] = d / (r.seconds - d);
        decoded[i] = d / events * 1e9;
        taking[i] = r.taking / events * 1e9;
    }
    bench_result("fold", rates, args.rounds);
    bench_detail("fold",
                 "%zu events of %llu sessions, %d live; %.3g ns of each event for the lines, of "
                 "%.0f bytes",
                 in.events, (unsigned long long)r.records, LIVE,
                 bench_percentile(taking, args.rounds, 0.5), (double)r.bytes / (double)r.records);
    bench_result("fold.decode", ratios, args.rounds);
    bench_detail("fold.decode", "%.3g ns to decode an event; %.3g with the writing of the lines",
                 bench_percentile(decoded, args.rounds, 0.5),
                 bench_percentile(all_ratios, args.rounds, 0.5));
    double mb = live_bytes() / 1e6;
    bench_result("fold.memory", &mb, 1);
    bench_detail("fold.memory", "%.0f bytes a session", mb * 1e6 / LIVE_TO);
    free(in.words);
    perftrace__site_table_free(&in.sites);
    perftrace__strbuf_free(&in.log);
    return 0;
}
