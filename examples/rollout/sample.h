/* sample.h: one sample of a task, from its prompt to its score. SPDX-License-Identifier: MIT
 *
 * A sample is a session: each function below is one phase of it, on whichever thread the work has
 * reached. */
#ifndef EXAMPLES_ROLLOUT_SAMPLE_H
#define EXAMPLES_ROLLOUT_SAMPLE_H

#include "text_sampler.h"

#include <perftrace/perftrace.h>

#define SAMPLE_MAX 640

/* What the seed has in store for it. */
typedef enum sample_fate { FATE_GOOD, FATE_RETRY, FATE_STALE, FATE_TOOL_FAILS, FATE_STUCK } fate_t;

typedef struct sample {
    perftrace_context_t context; /* its task and session: goes from thread to thread with it */
    perftrace_phase_t toolcall;  /* begun by a worker, ended by a tool's thread */
    fate_t fate;
    uint64_t random;
    int calls;      /* of the tool, so far */
    int has_answer; /* the tool has answered */
    size_t len, prompt, matches;
    double score; /* 0 to 1 */
    unsigned char text[SAMPLE_MAX];
} sample_t;

/* A new sample of the thread's current task: a session, and a piece of the text as its prompt. */
void sample_submit(sample_t *sample, const char_text_t *text, uint64_t seed, fate_t fate);
/* Continues the prompt, and asks the tool for the first time. */
void sample_generate(sample_t *sample, const char_text_t *text);
/* The tool's side of a call. 0: it has answered; 1: not this time; -1: it never will. */
int sample_look_up(sample_t *sample, const char_text_t *text);
/* Asks the tool again. 0, or -1 when that was tried often enough. */
int sample_retry(sample_t *sample);
void sample_reward(sample_t *sample, const char_text_t *text);

#endif
