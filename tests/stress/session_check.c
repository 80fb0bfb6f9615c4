/* session_check.c. SPDX-License-Identifier: MIT */
#include "session_check.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool say(const char *path, uint64_t line, const char *what) {
    fprintf(stderr, "%s:%llu: %s\n", path, (unsigned long long)line, what);
    return false;
}

/* Spans of a phase, and how many of them have ended. */
static int spans_of(const cJSON *record, const char *phase, int *ret_ended) {
    const cJSON *phases = cJSON_GetObjectItemCaseSensitive(record, "phases");
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(phases, phase);
    const cJSON *span;
    *ret_ended = 0;
    cJSON_ArrayForEach(span, list) {
        *ret_ended += cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(span, "end_ts"));
    }
    return cJSON_GetArraySize(list);
}

/* Whether a phase has at least `ended` spans that ended and at most `most` spans. */
static bool phase_good(const cJSON *record, const char *phase, int ended, int most) {
    int n = 0;
    int spans = spans_of(record, phase, &n);
    return n >= ended && spans <= most;
}

static const char *check_record(const cJSON *r, const load_book_t *book, bool complete,
                                unsigned char *seen) {
    const cJSON *id_item = cJSON_GetObjectItemCaseSensitive(r, "session_id");
    const char *status = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(r, "status"));
    if (!cJSON_IsNumber(id_item) || !status) {
        return "no record of a session";
    }
    int64_t id = (int64_t)id_item->valuedouble;
    if (id < 0 || id >= book->sessions) {
        return "an id that was never given";
    }
    if (seen[id]++) {
        return "a session that has a record already";
    }
    unsigned state = atomic_load(&book->state[id]);
    unsigned all = LOAD_REGISTERED | LOAD_GENERATED | LOAD_TOOLS | LOAD_REWARDED | LOAD_FINAL;
    if (complete && state != all) {
        return "a session that has not come to its end";
    }
    int tools = (int)load_tools(id);
    if ((state & LOAD_REGISTERED) && cJSON_GetObjectItemCaseSensitive(r, "partial")) {
        return "the registration is missing";
    }
    if (!phase_good(r, "generate", (state & LOAD_GENERATED) != 0, 1) ||
        !phase_good(r, "toolcall", state & LOAD_TOOLS ? tools : 0, tools) ||
        !phase_good(r, "reward", (state & LOAD_REWARDED) != 0, 1)) {
        return "a phase is missing, has not ended or is there twice";
    }
    if (state & LOAD_FINAL) {
        const char *want = load_status(id) ? load_status(id) : "accepted";
        if (strcmp(status, want) != 0) {
            return "another status";
        }
        if (!cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(r, "finalized_ts"))) {
            return "no end";
        }
        const cJSON *counters = cJSON_GetObjectItemCaseSensitive(r, "counters");
        const cJSON *tokens = cJSON_GetObjectItemCaseSensitive(counters, "tokens");
        if (!cJSON_IsNumber(tokens) || tokens->valuedouble != 3) {
            return "another count";
        }
    }
    return NULL;
}

bool session_check(const char *path, const load_book_t *book, bool complete,
                   uint64_t *ret_records) {
    FILE *f = fopen(path, "rb");
    unsigned char *seen = calloc((size_t)book->sessions, 1);
    char *line = NULL;
    size_t room = 0;
    uint64_t lines = 0;
    uint64_t registered = 0;
    bool good = seen != NULL;
    for (ssize_t n; good && f && (n = getline(&line, &room, f)) > 0;) {
        lines++;
        const char *end = NULL;
        cJSON *r = line[n - 1] == '\n' ? cJSON_ParseWithOpts(line, &end, 0) : NULL;
        const char *wrong =
            !r || end != line + n - 1 ? "no line of JSON" : check_record(r, book, complete, seen);
        good = wrong ? say(path, lines, wrong) : true;
        cJSON_Delete(r);
    }
    for (int64_t i = 0; good && i < book->sessions; i++) {
        bool known = atomic_load(&book->state[i]) & LOAD_REGISTERED;
        registered += known;
        if (known && !seen[i]) {
            fprintf(stderr, "session %lld\n", (long long)i);
            good = say(path, 0, "a session without a record");
        }
    }
    if (good && complete && (int64_t)registered != book->sessions) {
        good = say(path, 0, "not all sessions were registered");
    }
    free(seen);
    free(line);
    if (f) {
        fclose(f);
    }
    *ret_records = lines;
    return good;
}
