/* test_session_round_trip.c: the sink's records and those of the trace are the same.
 * SPDX-License-Identifier: MIT
 *
 * Random session events go to the session sink and, as lines, to a replay. */
#include "base_random.h"
#include "jsonl_encode.h"
#include "session_fold_util.h"
#include "session_replay.h"
#include "session_sink.h"

#include <sys/mman.h>
#include <unistd.h>

static const char odd[] = "a \"b\"\\ \n\x01 \xE2\x80\xA8 \xC3\xA9 \xFF </script>";

/* ---- sites, as the ring's log tells them ---- */

enum {
    SUBMIT = 1,
    SUBMIT_NO_TASK,
    BEGIN,
    BEGIN_PAYLOAD,
    BEGIN_ODD,
    BEGIN_SESSION,
    END_PAYLOAD,
    FINAL,
    TASK,
    TASK_NO_PARENT,
    TASK_FINAL,
    COUNTER,
    DECLARE,
    PLAIN,
    SITES
};

#define ARG(name, type)                                                                            \
    { name, PERFTRACE_I_TYPE_##type }
static const perftrace_i_arg_t task_arg[] = {ARG("task_id", I64)};
static const perftrace_i_arg_t parent_arg[] = {ARG("parent", I64)};
static const perftrace_i_arg_t value_arg[] = {ARG("value", I64)};
static const perftrace_i_arg_t outcome_args[] = {ARG("status", STR), ARG("reason", STR)};
static const perftrace_i_arg_t declare_args[] = {ARG("allow_multiple", BOOL),
                                                 ARG("ready_on_complete", BOOL)};
/* Names that the writer uses, too. */
static const perftrace_i_arg_t payload_args[] = {ARG("began", U64), ARG("text", STR),
                                                 ARG("role", STR), ARG("rank", I64)};
static const perftrace_i_arg_t odd_args[] = {ARG("a \"b\"\xFF", F64), ARG("flag", BOOL)};

static const struct {
    const char *name, *category;
    uint16_t kind, nargs;
    const perftrace_i_arg_t *args;
} site_list[SITES] = {
    [SUBMIT] = {"session", "session", PERFTRACE_I_KIND_SESSION_BEGIN, 1, task_arg},
    [SUBMIT_NO_TASK] = {"session", "session", PERFTRACE_I_KIND_SESSION_BEGIN, 0, NULL},
    [BEGIN] = {"generate", "session", PERFTRACE_I_KIND_PHASE_BEGIN, 0, NULL},
    [BEGIN_PAYLOAD] = {"reward", "session", PERFTRACE_I_KIND_PHASE_BEGIN, 4, payload_args},
    [BEGIN_ODD] = {odd, "session", PERFTRACE_I_KIND_PHASE_BEGIN, 2, odd_args},
    [BEGIN_SESSION] = {"session", "session", PERFTRACE_I_KIND_PHASE_BEGIN, 1, task_arg},
    [END_PAYLOAD] = {"reward", "session", PERFTRACE_I_KIND_PHASE_END, 4, payload_args},
    [FINAL] = {"session", "session", PERFTRACE_I_KIND_SESSION_END, 2, outcome_args},
    [TASK] = {"task", "session.task", PERFTRACE_I_KIND_TASK_BEGIN, 1, parent_arg},
    [TASK_NO_PARENT] = {"task", "session.task", PERFTRACE_I_KIND_TASK_BEGIN, 0, NULL},
    [TASK_FINAL] = {"task", "session.task", PERFTRACE_I_KIND_TASK_END, 2, outcome_args},
    [COUNTER] = {"tokens", "session.counter", PERFTRACE_I_KIND_SESSION_COUNTER, 1, value_arg},
    [DECLARE] = {"verify", "session.phase", PERFTRACE_I_KIND_SESSION_PHASE, 2, declare_args},
    [PLAIN] = {"train", "compute", PERFTRACE_I_KIND_SCOPE, 0, NULL},
};

typedef struct run {
    perftrace__strbuf_t log;
    perftrace__site_table_t sites;
    perftrace__run_meta_t meta;
    perftrace__jsonl_t lines;
    perftrace__sink_t *sink;
    int fd;
    uint64_t seed;
    uint64_t now;
    uint64_t words[64];
    uint64_t *word;
} run_t;

static uint32_t below(run_t *r, uint32_t n) {
    return base_random_below(&r->seed, n);
}

static void make_sites(run_t *r) {
    for (uint32_t i = 1; i < SITES; i++) {
        const perftrace_i_site_t site = {.kind = site_list[i].kind,
                                         .nargs = site_list[i].nargs,
                                         .name = site_list[i].name,
                                         .file = "test.c",
                                         .args = site_list[i].args};
        perftrace__log_site(&r->log, i, &site, site_list[i].category);
    }
    assert_true(
        perftrace__site_table_parse(&r->sites, (const unsigned char *)r->log.data, r->log.len));
}

static int create(void *user) {
    run_t *r = user;
    r->fd = memfd_create("sessions", 0);
    return dup(r->fd);
}

static void open_run(run_t *r, uint64_t seed) {
    memset(r, 0, sizeof(*r));
    r->seed = seed;
    r->now = 1000000;
    r->fd = -1;
    r->meta.pid = 71;
    r->meta.rank = below(r, 2) ? 3 : -1;
    snprintf(r->meta.role, sizeof(r->meta.role), "%s", below(r, 2) ? "actor \"1\"" : "");
    snprintf(r->meta.run_id, sizeof(r->meta.run_id), "6f0c");
    r->meta.epoch_ns = FOLD_EPOCH + below(r, 1000000000);
    make_sites(r);
    assert_true(perftrace__jsonl_init(&r->lines, &r->meta));
    const perftrace__session_sink_options_t options = {.fold = {.rank = r->meta.rank,
                                                                .role = r->meta.role,
                                                                .run_id = r->meta.run_id,
                                                                .epoch_ns = r->meta.epoch_ns},
                                                       .create = create,
                                                       .user = r,
                                                       .path = ""};
    r->sink = perftrace__session_sink_open(&options);
    assert_non_null(r->sink);
    perftrace__jsonl_header(&r->lines, &r->meta);
}

/* ---- events ---- */

static void put_word(run_t *r, uint64_t w) {
    *r->word++ = w;
}

static void put_text(run_t *r, const char *s) {
    if (!s) {
        put_word(r, PERFTRACE__STR_NULL);
        return;
    }
    size_t len = strlen(s);
    put_word(r, len);
    memset(r->word, 0, (len + 7) / 8 * 8);
    memcpy(r->word, s, len);
    r->word += (len + 7) / 8;
}

static perftrace__event_t event_of(run_t *r, uint32_t site, uint64_t id) {
    r->now += 1 + below(r, 5000000);
    const perftrace__site_t *s = perftrace__site_table_site(&r->sites, site);
    return (perftrace__event_t){.kind = s->kind,
                                .site = s,
                                .name = s->name,
                                .name_len = s->name_len,
                                .nargs = s->nargs,
                                .start = r->now,
                                .end = r->now,
                                .id = id,
                                .args = r->words,
                                .tid = 70 + below(r, 3)};
}

static void give(run_t *r, perftrace__event_t *ev) {
    ev->args_end = r->word;
    assert_true(r->sink->ops->event(r->sink, ev));
    assert_true(perftrace__jsonl_event(&r->lines, ev));
}

static void put_payload(run_t *r, uint32_t site) {
    static const char *const texts[] = {NULL, "", odd, "actor \"1\""};
    if (site == BEGIN_PAYLOAD || site == END_PAYLOAD) {
        put_word(r, below(r, 1000));
        put_text(r, texts[below(r, 4)]);
        put_text(r, texts[below(r, 4)]);
        put_word(r, below(r, 4));
    } else if (site == BEGIN_ODD) {
        static const double doubles[] = {0.1, -0.0, 1e300, __builtin_inf()};
        uint64_t word;
        memcpy(&word, &doubles[below(r, 4)], sizeof(word));
        put_word(r, word);
        put_word(r, below(r, 2));
    } else if (site == BEGIN_SESSION) {
        put_word(r, below(r, 10));
    }
}

#define SESSIONS 40

typedef struct sample {
    bool registered;
    unsigned n;
    struct {
        uint32_t site;
        uint64_t began;
    } open[8];
} sample_t;

static void phase_event(run_t *r, sample_t *s, uint64_t id) {
    if (s->n && (below(r, 2) || s->n == 8)) {
        uint32_t which = below(r, s->n);
        bool own = s->open[which].site == BEGIN_PAYLOAD && below(r, 2);
        perftrace__event_t ev = event_of(r, own ? END_PAYLOAD : s->open[which].site, id);
        ev.kind = PERFTRACE_I_KIND_PHASE_END;
        ev.nargs = own ? ev.nargs : 0;
        ev.start = below(r, 10) ? s->open[which].began : 0;
        put_payload(r, own ? END_PAYLOAD : 0);
        give(r, &ev);
        s->open[which] = s->open[--s->n];
        return;
    }
    /* Before its session is registered, a phase called "session" is taken for the registration. */
    uint32_t site = BEGIN + below(r, s->registered ? 4 : 3);
    perftrace__event_t ev = event_of(r, site, id);
    put_payload(r, site);
    s->open[s->n].site = site;
    s->open[s->n++].began = ev.start;
    give(r, &ev);
}

static void outcome_event(run_t *r, uint32_t site, uint64_t id) {
    static const char *const texts[] = {NULL, "accepted", "rejected", odd};
    perftrace__event_t ev = event_of(r, site, id);
    put_text(r, texts[below(r, 4)]);
    put_text(r, texts[below(r, 4)]);
    give(r, &ev);
}

static void random_event(run_t *r, sample_t *samples) {
    uint64_t id = below(r, SESSIONS);
    sample_t *s = &samples[id];
    r->word = r->words;
    perftrace__event_t ev;
    switch (below(r, 30)) {
    case 0:
        outcome_event(r, FINAL, id);
        break;
    case 1:
        ev = event_of(r, below(r, 3) ? TASK : TASK_NO_PARENT, below(r, 10));
        put_word(r, below(r, 5));
        r->word -= ev.nargs == 0;
        give(r, &ev);
        break;
    case 2:
        if (below(r, 8) == 0) {
            outcome_event(r, TASK_FINAL, below(r, 10));
        }
        break;
    case 3:
        ev = event_of(r, COUNTER, id);
        put_word(r, (uint64_t)((int64_t)below(r, 100) - 50));
        give(r, &ev);
        break;
    case 4:
        ev = event_of(r, DECLARE, 0);
        put_word(r, below(r, 2));
        put_word(r, below(r, 2));
        give(r, &ev);
        break;
    case 5:
        ev = event_of(r, PLAIN, 0);
        assert_true(perftrace__jsonl_event(&r->lines, &ev));
        break;
    case 6:
    case 7:
        if (!s->registered) {
            s->registered = true;
            ev = event_of(r, below(r, 4) ? SUBMIT : SUBMIT_NO_TASK, id);
            put_word(r, below(r, 10));
            r->word -= ev.nargs == 0;
            give(r, &ev);
        }
        break;
    default:
        phase_event(r, s, id);
    }
}

/* ---- the two files ---- */

static char *sink_records(run_t *r) {
    const perftrace__account_t account = {.written = 0};
    /* What the sink knows of the time is that of its last event. */
    const perftrace__clock_reading_t reading = {.ns = r->now};
    r->sink->ops->clock(r->sink, &reading);
    r->sink->ops->footer(r->sink, &account);
    assert_int_equal(r->sink->ops->flush(r->sink, PERFTRACE__FLUSH_WRITE), 0);
    size_t len = (size_t)r->sink->ops->offset(r->sink);
    char *text = calloc(1, len + 1);
    assert_non_null(text);
    assert_int_equal(pread(r->fd, text, len, 0), (ssize_t)len);
    return text;
}

static char *replay_records(run_t *r) {
    perftrace__trace_header_t header = PERFTRACE__TRACE_HEADER_INIT;
    const char *p = r->lines.out.data;
    const char *end = p + r->lines.out.len;
    assert_true(
        perftrace__trace_header_read(p, (size_t)((char *)memchr(p, '\n', 4096) - p), &header));
    perftrace__fold_options_t options = perftrace__trace_header_options(&header);
    assert_int_equal(options.rank, r->meta.rank);
    assert_string_equal(options.role, r->meta.role);
    perftrace__session_fold_t *f = perftrace__session_fold_new(&options);
    assert_non_null(f);
    perftrace__session_replay_t replay;
    perftrace__session_replay_init(&replay, f);
    while (p < end) {
        const char *next = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
        perftrace__session_replay_line(&replay, p, (size_t)(next - p));
        p = next;
    }
    assert_int_equal(replay.damaged, 0);
    assert_true(replay.taken > 100);
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    assert_true(perftrace__session_fold_take(f, PERFTRACE__TAKE_ALL, r->now, &out));
    perftrace__session_replay_free(&replay);
    perftrace__session_fold_free(f);
    perftrace__trace_header_free(&header);
    return out.data;
}

static void close_run(run_t *r) {
    perftrace__sink_close(r->sink);
    close(r->fd);
    perftrace__jsonl_free(&r->lines);
    perftrace__site_table_free(&r->sites);
    perftrace__strbuf_free(&r->log);
}

static void the_trace_gives_the_sink_s_records(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        static run_t r;
        sample_t samples[SESSIONS] = {{false, 0, {{0, 0}}}};
        open_run(&r, seed);
        for (int i = 0; i < 2000; i++) {
            random_event(&r, samples);
        }
        char *of_sink = sink_records(&r);
        char *of_trace = replay_records(&r);
        assert_string_equal(of_sink, of_trace);
        free(of_sink);
        free(of_trace);
        close_run(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_trace_gives_the_sink_s_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
