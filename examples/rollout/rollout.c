/* rollout.c: what reinforcement learning does with samples, traced as sessions.
 * SPDX-License-Identifier: MIT
 *
 * Every rank submits tasks of several samples each. Workers generate a sample, a tool's thread
 * answers its call, a worker scores it; the trainer rejects or accepts it and takes a step whenever
 * a batch is full. Which samples are stale, need a retry, fail or get stuck is drawn from a seed,
 * so that every run tells the same story. */
#include "ranks.h"
#include "sample.h"
#include "work_queue.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES    4 /* of a task */
#define WORKERS    2
#define AHEAD      2 /* tasks that are worked on at a time, or one more */
#define BATCH      6 /* samples of a step */
#define LEAST_GOOD 0.55

typedef struct rollout_options {
    int ranks, tasks;
    int files;
    char **names;
} rollout_options_t;

typedef struct rollout {
    char_text_t text;
    work_queue_t work, calls, done; /* of samples: for workers, for the tool, for the trainer */
    sample_t *sample;
    int rank, tasks, submitted;
    uint64_t random; /* decides on what becomes of the samples */
    int64_t steps;
    double *pairs; /* what the trainer learns: how often one character follows another */
    int accepted, rejected, failed, dropped, stuck;
} rollout_t;

/* ---- threads ---- */

static void *work(void *argument) {
    rollout_t *r = argument;
    perftrace_thread_set_name("worker");
    for (sample_t *s; (s = work_queue_take(&r->work)) != NULL;) {
        if (s->calls == 0) {
            sample_generate(s, &r->text);
            work_queue_put(&r->calls, s);
        } else {
            sample_reward(s, &r->text);
            work_queue_put(&r->done, s);
        }
    }
    return NULL;
}

static void *answer(void *argument) {
    rollout_t *r = argument;
    perftrace_thread_set_name("tool");
    for (sample_t *s; (s = work_queue_take(&r->calls)) != NULL;) {
        int status;
        do {
            status = sample_look_up(s, &r->text);
        } while (status == 1 && sample_retry(s) == 0);
        if (status >= 0) {
            work_queue_put(status == 0 ? &r->work : &r->done, s);
        }
    }
    return NULL;
}

/* ---- the trainer ---- */

static fate_t draw_fate(uint64_t *random) {
    const size_t dice = sampler_random(random, 16);
    return dice < 1 ? FATE_TOOL_FAILS : dice < 3 ? FATE_STALE : dice < 6 ? FATE_RETRY : FATE_GOOD;
}

/* The next task. One more than is needed: the last one is dropped at the end, as a whole. */
static void submit(rollout_t *r) {
    const int task = r->submitted++;
    const int64_t id = (int64_t)r->rank * 1000 + task;
    perftrace_task_register(id, PERFTRACE_NO_ID);
    perftrace_task_set_current(id);
    for (int i = 0; i < SAMPLES; i++) {
        sample_t *s = &r->sample[task * SAMPLES + i];
        const fate_t fate = draw_fate(&r->random);
        const int stuck = r->rank == 0 && task == 1 && i == 2;
        sample_submit(s, &r->text, r->random, stuck ? FATE_STUCK : fate);
        r->stuck += stuck;
        if (task < r->tasks) {
            work_queue_put(&r->work, s);
        }
    }
    perftrace_task_set_current(PERFTRACE_NO_ID);
}

/* Adds the batch to what is known, and returns how surprising it was (nats a character). */
static double learn(rollout_t *r, sample_t *const *batch, int count) {
    double loss = 0.0;
    size_t seen = 0;
    for (int i = 0; i < count; i++) {
        for (size_t c = 1; c < batch[i]->len; c++) {
            double *row = r->pairs + (size_t)batch[i]->text[c - 1] * r->text.classes;
            double sum = 0.0;
            for (size_t k = 0; k < r->text.classes; k++) {
                sum += row[k];
            }
            loss -= log(row[batch[i]->text[c]] / sum);
            row[batch[i]->text[c]] += 1.0;
            seen++;
        }
    }
    return loss / (double)seen;
}

static void train_step(rollout_t *r, sample_t *const *batch, int count) {
    PERFTRACE_STEP(r->steps);
    PERFTRACE_SCOPE("train.step", "compute", PERFTRACE_INT("samples", count));
    PERFTRACE_COUNTER("loss", learn(r, batch, count));
    for (int i = 0; i < count; i++) {
        perftrace_session_finalize(batch[i]->context.session, PERFTRACE_ACCEPTED, NULL);
    }
    r->accepted += count;
    r->steps++;
}

/* Whether the trainer takes the sample. */
static int judge(rollout_t *r, const sample_t *s) {
    PERFTRACE_SCOPE("rollout.judge", "scheduler", PERFTRACE_INT("session", s->context.session));
    if (!s->has_answer) {
        perftrace_session_finalize(s->context.session, PERFTRACE_FAILED, "tool_error");
        r->failed++;
        return 0;
    }
    const int stale = s->fate == FATE_STALE; /* made by weights that are too old */
    if (stale || s->score < LEAST_GOOD) {
        perftrace_session_finalize(s->context.session, PERFTRACE_REJECTED,
                                   stale ? "stale_weight" : "low_reward");
        r->rejected++;
        return 0;
    }
    return 1;
}

static void train(rollout_t *r) {
    sample_t *batch[BATCH];
    int count = 0;
    while (r->submitted < AHEAD) {
        submit(r);
    }
    for (int judged = 1; judged <= r->tasks * SAMPLES - r->stuck; judged++) {
        sample_t *s = work_queue_take(&r->done);
        if (judge(r, s)) {
            batch[count++] = s;
        }
        if (judged % SAMPLES == 0 && r->submitted <= r->tasks) {
            submit(r);
        }
        if (count == BATCH) {
            train_step(r, batch, count);
            count = 0;
        }
    }
    if (count > 0) {
        train_step(r, batch, count);
    }
    /* Finalizes every session of the task that has not ended. */
    perftrace_task_finalize((int64_t)r->rank * 1000 + r->tasks, PERFTRACE_DROPPED, "enough");
    r->dropped = SAMPLES;
}

/* ---- ranks ---- */

static int run_threads(rollout_t *r) {
    pthread_t thread[WORKERS + 1];
    int started = 0;
    while (started <= WORKERS &&
           pthread_create(&thread[started], NULL, started < WORKERS ? work : answer, r) == 0) {
        started++;
    }
    if (started > WORKERS) {
        train(r);
    }
    work_queue_close(&r->work);
    work_queue_close(&r->calls);
    for (int i = 0; i < started; i++) {
        pthread_join(thread[i], NULL);
    }
    return started > WORKERS ? 0 : 1;
}

static int rollout_rank(ranks_t *ranks, void *user) {
    const rollout_options_t *options = user;
    const int rank = ranks_rank(ranks);
    rollout_t r = {.rank = rank, .tasks = options->tasks, .random = 77U + (unsigned)rank};
    const size_t samples = (size_t)(options->tasks + 1) * SAMPLES;
    int status = 1;
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    config.role = "rollout";
    config.session_enabled = 1;
    config.log_stderr = 1;
    perftrace_init(&config);
    perftrace_thread_set_name("trainer");
    if (char_text_open(options->files, options->names, &r.text) != 0) {
        perftrace_shutdown();
        return 1;
    }
    const size_t pairs = r.text.classes * r.text.classes;
    r.sample = calloc(samples, sizeof(sample_t));
    r.pairs = malloc(pairs * sizeof(double));
    const int queues = work_queue_open(&r.work, samples) + work_queue_open(&r.calls, samples) +
                       work_queue_open(&r.done, samples);
    if (r.sample != NULL && r.pairs != NULL && queues == 0) {
        for (size_t i = 0; i < pairs; i++) {
            r.pairs[i] = 1.0;
        }
        status = run_threads(&r);
    }
    work_queue_free(&r.work);
    work_queue_free(&r.calls);
    work_queue_free(&r.done);
    free(r.sample);
    free(r.pairs);
    char_text_close(&r.text);
    perftrace_shutdown();
    printf("rank %d: %d accepted, %d rejected, %d failed, %d dropped, %d stuck, in %lld steps\n",
           r.rank, r.accepted, r.rejected, r.failed, r.dropped, r.stuck, (long long)r.steps);
    return status;
}

int main(int argc, char **argv) {
    static const struct option long_options[] = {
        {"ranks", required_argument, NULL, 'r'}, {"tasks", required_argument, NULL, 't'}, {0}};
    rollout_options_t options = {.ranks = 2, .tasks = 8};
    int option = 0;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        int *number = option == 'r' ? &options.ranks : &options.tasks;
        *number = option == '?' ? 0 : (int)strtol(optarg, NULL, 10);
    }
    options.files = argc - optind;
    options.names = argv + optind;
    if (options.ranks < 1 || options.ranks > 64 || options.tasks < 2 || options.tasks > 500 ||
        options.files < 1) {
        fprintf(stderr,
                "Usage: %s [--ranks N] [--tasks N] TEXT...\n"
                "Samples text that reads like the files, and trains on what is good. --ranks is 1\n"
                "to 64, --tasks (of a rank) 2 to 500.\n",
                argv[0]);
        return 2;
    }
    return ranks_run(options.ranks, 1, rollout_rank, &options);
}
