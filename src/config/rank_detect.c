/* rank_detect.c: rank, size and run from a launcher's variables. SPDX-License-Identifier: MIT */
#include "rank_detect.h"

#include "config_message.h"
#include "config_table.h"

#include <stdio.h>
#include <stdlib.h>

#define SLURM_RESERVED_STEPS 0xfffffff0u

typedef struct family {
    const char *launcher;
    const char *rank;
    const char *size[2]; /* the first that is set counts */
    const char *local_rank;
} family_t;

static const family_t families[] = {
    {"torchrun", "RANK", {"WORLD_SIZE", NULL}, "LOCAL_RANK"},
    {"Open MPI",
     "OMPI_COMM_WORLD_RANK",
     {"OMPI_COMM_WORLD_SIZE", NULL},
     "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"MVAPICH2", "MV2_COMM_WORLD_RANK", {"MV2_COMM_WORLD_SIZE", NULL}, "MV2_COMM_WORLD_LOCAL_RANK"},
    {"PMIx", "PMIX_RANK", {NULL, NULL}, NULL},
    {"PMI", "PMI_RANK", {"PMI_SIZE", NULL}, "MPI_LOCALRANKID"},
    {"Slurm", "SLURM_PROCID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, "SLURM_LOCALID"},
};

typedef struct source {
    perftrace__getenv_fn get;
    void *user;
    perftrace__strbuf_t *msgs;
} source_t;

static const char *value_of(const source_t *s, const char *name) {
    const char *v = name ? s->get(name, s->user) : NULL;
    return v && *v ? v : NULL;
}

/* The number in a variable, or -1 when it is unset or (with a message) unusable. */
static int number_of(const source_t *s, const char *name, long min) {
    const char *text = value_of(s, name);
    if (!text) {
        return -1;
    }
    char *end = NULL;
    long v = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;
    if (v < min || v > PERFTRACE__CONFIG_RANK_MAX || !end || *end != '\0') {
        perftrace__strbuf_t quoted = PERFTRACE__STRBUF_INIT;
        perftrace__message_quote(&quoted, text);
        perftrace__message_add(s->msgs, PERFTRACE_LOG_WARNING,
                               "%s: %s is no number from %ld and is ignored", name,
                               perftrace__strbuf_cstr(&quoted), min);
        perftrace__strbuf_free(&quoted);
        return -1;
    }
    return (int)v;
}

static bool in_slurm_step(const source_t *s) {
    const char *text = value_of(s, "SLURM_STEP_ID");
    text = text ? text : value_of(s, "SLURM_STEPID");
    if (!text || *text < '0' || *text > '9') {
        return false;
    }
    char *end;
    unsigned long step = strtoul(text, &end, 10);
    return *end == '\0' && step < SLURM_RESERVED_STEPS;
}

/* Whether the variables of a family may be believed at all. */
static bool family_counts(const source_t *s, const family_t *f) {
    return f != &families[PT_ARRAY_LEN(families) - 1] || in_slurm_step(s);
}

static void fill_from(const source_t *s, const family_t *f, perftrace__rank_info_t *info) {
    for (size_t i = 0; i < PT_ARRAY_LEN(f->size) && info->world_size < 0; i++) {
        int size = number_of(s, f->size[i], 1);
        if (size > info->rank) {
            info->world_size = size;
        } else if (size > 0) {
            perftrace__message_add(s->msgs, PERFTRACE_LOG_WARNING,
                                   "%s: %d is ignored, the rank is %d (%s)", f->size[i], size,
                                   info->rank, f->rank);
        }
    }
    if (info->local_rank < 0) {
        info->local_rank = number_of(s, f->local_rank, 0);
    }
}

/* Writes "a", "a.b" ... of the variables that are set; nothing unless the first is. */
static void join_run_id(const source_t *s, const char *first, const char *second,
                        const char *restarts, perftrace__rank_info_t *info) {
    const char *a = value_of(s, first);
    if (!a) {
        return;
    }
    const char *b = value_of(s, second);
    const char *r = value_of(s, restarts);
    r = r && strcmp(r, "0") != 0 ? r : NULL;
    snprintf(info->run_id, sizeof(info->run_id), "%.100s%s%.40s%s%.20s", a, b ? "." : "",
             b ? b : "", r ? ".restart" : "", r ? r : "");
}

static void find_run_id(const source_t *s, perftrace__rank_info_t *info) {
    const char *torch_id = value_of(s, "TORCHELASTIC_RUN_ID");
    /* torchrun calls a run without --rdzv-id "none", which identifies nothing. */
    if (torch_id && strcmp(torch_id, "none") != 0) {
        join_run_id(s, "TORCHELASTIC_RUN_ID", NULL, "TORCHELASTIC_RESTART_COUNT", info);
    }
    if (!info->run_id[0]) {
        join_run_id(s, "PMIX_NAMESPACE", NULL, NULL, info);
    }
    if (!info->run_id[0]) {
        join_run_id(s, "OMPI_MCA_ess_base_jobid", NULL, NULL, info);
    }
    if (!info->run_id[0] && in_slurm_step(s)) {
        join_run_id(s, "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT", info);
    }
}

void perftrace__rank_detect(perftrace__getenv_fn get, void *user, perftrace__rank_info_t *ret,
                            perftrace__strbuf_t *msgs) {
    source_t s = {get, user, msgs};
    *ret = (perftrace__rank_info_t){-1, -1, -1, "", ""};
    size_t chosen = PT_ARRAY_LEN(families);
    for (size_t i = 0; i < PT_ARRAY_LEN(families); i++) {
        const family_t *f = &families[i];
        if (!family_counts(&s, f)) {
            continue;
        }
        int rank = number_of(&s, f->rank, 0);
        if (rank < 0) {
            continue;
        }
        if (chosen == PT_ARRAY_LEN(families)) {
            chosen = i;
            ret->rank = rank;
            ret->launcher = f->launcher;
        }
        if (rank == ret->rank) {
            fill_from(&s, f, ret);
        }
    }
    find_run_id(&s, ret);
}
