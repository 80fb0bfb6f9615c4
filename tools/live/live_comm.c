/* live_comm.c. SPDX-License-Identifier: MIT */
#include "live_comm.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#define WORD_MAX 32

/* The operation that a name tells, in the form of the list. False: it is too long to be one. */
static bool plain_word(const char *name, char out[WORD_MAX]) {
    size_t n = 0;
    memset(out, 0, WORD_MAX);
    for (const char *p = name; *p != '\0'; p++) {
        if (strchr(".:/", *p) != NULL) {
            n = 0; /* what came before only said where it is from */
        } else if (*p != '_' && *p != '-' && *p != ' ') {
            if (n + 1 >= WORD_MAX) {
                n = WORD_MAX; /* unless another word begins */
                continue;
            }
            out[n++] = (char)tolower((unsigned char)*p);
        }
    }
    if (n >= WORD_MAX) {
        return false;
    }
    out[n] = '\0';
    static const char *const makers[] = {"nccl", "rccl", "hccl", "mpi"};
    for (size_t i = 0; i < PT_ARRAY_LEN(makers); i++) {
        size_t len = strlen(makers[i]);
        if (strncmp(out, makers[i], len) == 0 && out[len] != '\0') {
            memmove(out, out + len, n - len + 1);
            break;
        }
    }
    return true;
}

static pt_live_comm_t by_word(const char *name) {
    static const struct {
        const char *name;
        pt_live_comm_t comm;
    } list[] = {
#define X(name, kind) {#name, PT_LIVE_COMM_##kind},
        PT_LIVE_OPERATION_LIST(X)
#undef X
    };
    char word[WORD_MAX];
    if (plain_word(name, word)) {
        for (size_t i = 0; i < PT_ARRAY_LEN(list); i++) {
            if (strcmp(word, list[i].name) == 0) {
                return list[i].comm;
            }
        }
    }
    return PT_LIVE_COMM_NONE;
}

pt_live_comm_t pt_live_comm_of(const pt_live_rules_t *rules, const char *name,
                               const char *category) {
    for (size_t i = 0; rules->names != NULL && i < rules->names->count; i++) {
        if (fnmatch(rules->names->items[i], name, 0) == 0) {
            return PT_LIVE_COMM_COLLECTIVE;
        }
    }
    pt_live_comm_t comm = by_word(name);
    if (comm == PT_LIVE_COMM_NONE &&
        (strcmp(category, "comm") == 0 ||
         (rules->categories != NULL && pt_string_list_has(rules->categories, category)))) {
        comm = PT_LIVE_COMM_COLLECTIVE;
    }
    return comm;
}
