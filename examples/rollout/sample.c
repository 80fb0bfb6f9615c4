/* sample.c: one sample of a task, from its prompt to its score. SPDX-License-Identifier: MIT */
#include "sample.h"

#include <string.h>

#define MOST_CALLS 3
#define PIECE      8

void sample_submit(sample_t *s, const char_text_t *text, uint64_t seed, fate_t fate) {
    /* The arrow to where the sample is consumed starts in the scope that is open here. */
    PERFTRACE_SCOPE("rollout.submit", "scheduler", PERFTRACE_INT("task", perftrace_task_current()));
    *s = (sample_t){.fate = fate, .random = seed};
    s->prompt = s->len = 24 + sampler_random(&s->random, 24);
    memcpy(s->text, text->codes + sampler_random(&s->random, text->count - s->len), s->len);
    s->context.task = perftrace_task_current();
    s->context.session = perftrace_session_register(s->context.task);
}

/* The answer comes on another thread: a phase that is begun here and ended there. */
static void call_tool(sample_t *s) {
    s->calls++;
    PERFTRACE_SESSION_PHASE_BEGIN(&s->toolcall, s->context.session, "toolcall",
                                  PERFTRACE_STRING("tool", "lookup"));
}

void sample_generate(sample_t *s, const char_text_t *text) {
    const size_t wanted = s->len + 64 + sampler_random(&s->random, SAMPLE_MAX - 64 - s->len);
    perftrace_context_set(s->context); /* what follows on this thread is about this session */
    {
        PERFTRACE_SCOPE("generate", "compute", PERFTRACE_INT("session", s->context.session));
        PERFTRACE_SESSION_PHASE("generate", PERFTRACE_UINT("prompt_tokens", s->prompt));
        while (s->len < wanted) {
            s->text[s->len] = sampler_next(text, s->text, s->len, &s->random);
            s->len++;
        }
    }
    perftrace_session_counter(s->context.session, "tokens", (int64_t)(s->len - s->prompt));
    call_tool(s);
}

int sample_look_up(sample_t *s, const char_text_t *text) {
    if (s->fate == FATE_STUCK) {
        return -1; /* nobody will ever end this call: the session stays open */
    }
    PERFTRACE_SCOPE("tool.lookup", "io", PERFTRACE_INT("session", s->context.session));
    const int answers = s->fate != FATE_TOOL_FAILS && (s->fate != FATE_RETRY || s->calls > 1);
    for (size_t i = s->prompt; i + PIECE <= s->len; i += PIECE) {
        s->matches += sampler_count(text, s->text + i, PIECE);
    }
    s->has_answer = answers;
    PERFTRACE_SESSION_PHASE_END(&s->toolcall, PERFTRACE_UINT("matches", s->matches),
                                PERFTRACE_BOOL("answered", answers));
    return answers ? 0 : 1;
}

int sample_retry(sample_t *s) {
    if (s->calls == MOST_CALLS) {
        return -1;
    }
    perftrace_session_counter(s->context.session, "retries", 1);
    call_tool(s);
    return 0;
}

/* The share of the sample's pieces that stand in the text word for word. */
void sample_reward(sample_t *s, const char_text_t *text) {
    PERFTRACE_SCOPE("reward", "compute", PERFTRACE_INT("session", s->context.session));
    perftrace_phase_t reward;
    size_t known = 0;
    size_t all = 0;
    PERFTRACE_SESSION_PHASE_BEGIN(&reward, s->context.session, "reward");
    for (size_t i = s->prompt; i + PIECE <= s->len; i += 2) {
        known += sampler_count(text, s->text + i, PIECE) > 0;
        all++;
    }
    s->score = (double)known / (double)all;
    PERFTRACE_SESSION_PHASE_END(&reward, PERFTRACE_DOUBLE("score", s->score));
}
