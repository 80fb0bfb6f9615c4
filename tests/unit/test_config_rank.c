/* test_config_rank.c: launchers' variables and rank lists. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rank_detect.h"
#include "rank_select.h"

#include <perftrace/status.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *get_from(const char *name, void *user) {
    const char *const *env = user;
    size_t n = strlen(name);
    for (; *env; env++) {
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=') {
            return *env + n + 1;
        }
    }
    return NULL;
}

typedef struct launcher_case {
    const char *launcher;
    int rank, world_size, local_rank;
    const char *run_id;
    const char *env[10];
} launcher_case_t;

static const launcher_case_t launcher_cases[] = {
    {"", -1, -1, -1, "", {NULL}},
    {"torchrun",
     5,
     8,
     1,
     "job7",
     {"RANK=5", "WORLD_SIZE=8", "LOCAL_RANK=1", "TORCHELASTIC_RUN_ID=job7"}},
    {"torchrun",
     5,
     8,
     1,
     "job7.restart2",
     {"RANK=5", "WORLD_SIZE=8", "LOCAL_RANK=1", "TORCHELASTIC_RUN_ID=job7",
      "TORCHELASTIC_RESTART_COUNT=2"}},
    {"torchrun",
     0,
     1,
     0,
     "",
     {"RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0", "TORCHELASTIC_RUN_ID=none"}},
    {"torchrun", 3, -1, -1, "", {"RANK=3"}},
    {"Open MPI",
     2,
     4,
     2,
     "2893217793",
     {"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_RANK=2",
      "PMIX_RANK=2", "PMIX_NAMESPACE=2893217793"}},
    {"PMIx",
     3,
     8,
     1,
     "slurm.pmix.9.0",
     {"PMIX_RANK=3", "PMIX_NAMESPACE=slurm.pmix.9.0", "SLURM_PROCID=3", "SLURM_STEP_ID=0",
      "SLURM_NTASKS=8", "SLURM_LOCALID=1"}},
    {"PMI", 1, 2, 1, "", {"PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1"}},
    {"MVAPICH2",
     6,
     8,
     2,
     "",
     {"MV2_COMM_WORLD_RANK=6", "MV2_COMM_WORLD_SIZE=8", "MV2_COMM_WORLD_LOCAL_RANK=2", "PMI_RANK=6",
      "PMI_SIZE=8"}},
    {"Slurm",
     7,
     8,
     3,
     "4711.0",
     {"SLURM_PROCID=7", "SLURM_NTASKS=8", "SLURM_LOCALID=3", "SLURM_STEP_ID=0",
      "SLURM_JOB_ID=4711"}},
    /* srun -n 2 within an allocation of 8 tasks */
    {"Slurm",
     1,
     2,
     1,
     "",
     {"SLURM_PROCID=1", "SLURM_NTASKS=8", "SLURM_STEP_NUM_TASKS=2", "SLURM_LOCALID=1",
      "SLURM_STEP_ID=3"}},
    /* a batch script and an interactive shell are no step of srun */
    {"",
     -1,
     -1,
     -1,
     "",
     {"SLURM_PROCID=0", "SLURM_NTASKS=8", "SLURM_LOCALID=0", "SLURM_JOB_ID=4711"}},
    {"", -1, -1, -1, "", {"SLURM_PROCID=0", "SLURM_NTASKS=8", "SLURM_STEP_ID=4294967291"}},
    {"", -1, -1, -1, "", {"SLURM_PROCID=0", "SLURM_NTASKS=8", "SLURM_STEP_ID=4294967290"}},
    /* mpirun within the batch script, torchrun within each task of srun */
    {"Open MPI",
     1,
     2,
     1,
     "",
     {"SLURM_PROCID=0", "SLURM_NTASKS=8", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2",
      "OMPI_COMM_WORLD_LOCAL_RANK=1"}},
    {"torchrun",
     9,
     16,
     1,
     "",
     {"RANK=9", "WORLD_SIZE=16", "LOCAL_RANK=1", "SLURM_PROCID=1", "SLURM_NTASKS=2",
      "SLURM_STEP_ID=0"}},
};

static void every_launcher_gives_its_rank(void **state) {
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(launcher_cases); i++) {
        const launcher_case_t *c = &launcher_cases[i];
        perftrace__rank_info_t info;
        perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
        perftrace__rank_detect(get_from, (void *)(uintptr_t)c->env, &info, &msgs);
        assert_string_equal(info.launcher, c->launcher);
        assert_int_equal(info.rank, c->rank);
        assert_int_equal(info.world_size, c->world_size);
        assert_int_equal(info.local_rank, c->local_rank);
        assert_string_equal(info.run_id, c->run_id);
        assert_string_equal(perftrace__strbuf_cstr(&msgs), "");
        perftrace__strbuf_free(&msgs);
    }
}

static void unusable_values_are_named_and_passed_over(void **state) {
    (void)state;
    static const char *const bad[] = {"captain", "-1",  "3x",        "99999999999999999999",
                                      " 3",      "0x3", "2147483647"};
    for (size_t i = 0; i < PT_ARRAY_LEN(bad); i++) {
        char rank[64];
        snprintf(rank, sizeof(rank), "RANK=%s", bad[i]);
        const char *env[] = {rank, "WORLD_SIZE=8", "PMI_RANK=1", "PMI_SIZE=4", NULL};
        perftrace__rank_info_t info;
        perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
        perftrace__rank_detect(get_from, env, &info, &msgs);
        assert_string_equal(info.launcher, "PMI");
        assert_int_equal(info.rank, 1);
        assert_int_equal(info.world_size, 4);
        assert_non_null(strstr(perftrace__strbuf_cstr(&msgs), "warning: RANK: "));
        assert_non_null(strstr(perftrace__strbuf_cstr(&msgs), bad[i]));
        perftrace__strbuf_free(&msgs);
    }
}

static void a_size_that_does_not_exceed_the_rank_is_passed_over(void **state) {
    (void)state;
    const char *env[] = {"RANK=4", "WORLD_SIZE=4", NULL};
    perftrace__rank_info_t info;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    perftrace__rank_detect(get_from, env, &info, &msgs);
    assert_int_equal(info.rank, 4);
    assert_int_equal(info.world_size, -1);
    assert_string_equal(perftrace__strbuf_cstr(&msgs),
                        "warning: WORLD_SIZE: 4 is ignored, the rank is 4 (RANK)\n");
    perftrace__strbuf_free(&msgs);
}

static void a_launcher_of_another_rank_fills_no_gap(void **state) {
    (void)state;
    const char *env[] = {"RANK=4", "PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1", NULL};
    perftrace__rank_info_t info;
    perftrace__rank_detect(get_from, env, &info, NULL);
    assert_int_equal(info.rank, 4);
    assert_int_equal(info.world_size, -1);
    assert_int_equal(info.local_rank, -1);
}

typedef struct select_case {
    const char *selection;
    int status;
    const char *ranks; /* of 0 to 11, '1' where selected, then the unknown rank */
} select_case_t;

static const select_case_t select_cases[] = {
    {NULL, PERFTRACE_OK, "1111111111111"},
    {"", PERFTRACE_OK, "1111111111111"},
    {"  ", PERFTRACE_OK, "1111111111111"},
    {"all", PERFTRACE_OK, "1111111111111"},
    {" ALL ", PERFTRACE_OK, "1111111111111"},
    {"none", PERFTRACE_OK, "0000000000000"},
    {"None", PERFTRACE_OK, "0000000000000"},
    {"0,8-9", PERFTRACE_OK, "1000000011001"},
    {" 0 , 8 - 9 ", PERFTRACE_OK, "1000000011001"},
    {"8-9,0", PERFTRACE_OK, "1000000011001"},
    {"3-3", PERFTRACE_OK, "0001000000001"},
    {"007", PERFTRACE_OK, "0000000100001"},
    {"2,2,1-4", PERFTRACE_OK, "0111100000001"},
    {"0-2147483647", PERFTRACE_OK, "1111111111111"},
    {"9-8", PERFTRACE_ERR_PARSE, NULL},
    {"0-2147483648", PERFTRACE_ERR_PARSE, NULL},
    {"1,", PERFTRACE_ERR_PARSE, NULL},
    {",1", PERFTRACE_ERR_PARSE, NULL},
    {"1 2", PERFTRACE_ERR_PARSE, NULL},
    {"-1", PERFTRACE_ERR_PARSE, NULL},
    {"1-", PERFTRACE_ERR_PARSE, NULL},
    {"1--2", PERFTRACE_ERR_PARSE, NULL},
    {"1-2-3", PERFTRACE_ERR_PARSE, NULL},
    {"all,1", PERFTRACE_ERR_PARSE, NULL},
    {"1,none", PERFTRACE_ERR_PARSE, NULL},
    {"allx", PERFTRACE_ERR_PARSE, NULL},
    {"*", PERFTRACE_ERR_PARSE, NULL},
};

static void rank_lists_select_what_they_say(void **state) {
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(select_cases); i++) {
        const select_case_t *c = &select_cases[i];
        for (int r = 0; r < 13; r++) {
            int rank = r == 12 ? -1 : r;
            int selected = -1;
            assert_int_equal(perftrace__rank_selected(c->selection, rank, &selected), c->status);
            /* What cannot be read selects everything. */
            assert_int_equal(selected, c->ranks ? c->ranks[r] - '0' : 1);
        }
    }
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A random set of ranks, written as a random list that means it, selects exactly the set. */
static void any_list_of_a_set_selects_the_set(void **state) {
    (void)state;
    uint64_t seed = 20240607;
    for (int round = 0; round < 2000; round++) {
        perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
        bool set[64] = {false};
        unsigned items = 1 + (unsigned)(next_random(&seed) % 6);
        for (unsigned i = 0; i < items; i++) {
            static const char *const blanks[] = {"", " ", "\t", "  "};
            unsigned first = (unsigned)(next_random(&seed) % 64);
            unsigned last = first + (unsigned)(next_random(&seed) % (64 - first));
            bool single = next_random(&seed) % 2;
            last = single ? first : last;
            perftrace__strbuf_printf(
                &text, "%s%s%s%u%s", i ? "," : "", blanks[next_random(&seed) % 4],
                next_random(&seed) % 4 ? "" : "0", first, blanks[next_random(&seed) % 4]);
            if (!single || next_random(&seed) % 4 == 0) {
                perftrace__strbuf_printf(&text, "-%s%u%s", blanks[next_random(&seed) % 4], last,
                                         blanks[next_random(&seed) % 4]);
            }
            for (unsigned r = first; r <= last; r++) {
                set[r] = true;
            }
        }
        for (int r = 0; r < 64; r++) {
            int selected = -1;
            assert_int_equal(perftrace__rank_selected(perftrace__strbuf_cstr(&text), r, &selected),
                             PERFTRACE_OK);
            assert_int_equal(selected, set[r]);
        }
        perftrace__strbuf_free(&text);
    }
}

/* A number with blanks around it, or -1. */
static long lone_number(const char *text) {
    char *end;
    text += strspn(text, " ");
    if (*text < '0' || *text > '9') {
        return -1;
    }
    long v = strtol(text, &end, 10);
    return end[strspn(end, " ")] == '\0' ? v : -1;
}

/* Whether a text is a list, decided apart: split at commas, then at the first '-'. */
static bool is_list(const char *text) {
    char copy[32];
    snprintf(copy, sizeof(copy), "%s", text);
    char *rest = copy;
    char *item;
    while ((item = strsep(&rest, ",")) != NULL) {
        const char *first = strsep(&item, "-");
        if (lone_number(first) < 0 || (item && lone_number(item) < lone_number(first))) {
            return false;
        }
    }
    return true;
}

static void any_text_is_read_or_refused_as_the_grammar_says(void **state) {
    (void)state;
    static const char alphabet[] = "0123456789,,--  ax";
    uint64_t seed = 99;
    unsigned accepted = 0;
    for (int round = 0; round < 50000; round++) {
        char text[12];
        size_t n = 1 + next_random(&seed) % 8;
        for (size_t i = 0; i < n; i++) {
            text[i] = alphabet[next_random(&seed) % (sizeof(alphabet) - 1)];
        }
        text[n] = '\0';
        int selected = -1;
        int status = perftrace__rank_selected(text, 5, &selected);
        bool expected = is_list(text) || strspn(text, " ") == n;
        if ((status == PERFTRACE_OK) != expected) {
            fail_msg("\"%s\": status %d", text, status);
        }
        accepted += status == PERFTRACE_OK;
    }
    assert_in_range(accepted, 1000, 49000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_launcher_gives_its_rank),
        cmocka_unit_test(unusable_values_are_named_and_passed_over),
        cmocka_unit_test(a_size_that_does_not_exceed_the_rank_is_passed_over),
        cmocka_unit_test(a_launcher_of_another_rank_fills_no_gap),
        cmocka_unit_test(rank_lists_select_what_they_say),
        cmocka_unit_test(any_list_of_a_set_selects_the_set),
        cmocka_unit_test(any_text_is_read_or_refused_as_the_grammar_says),
    };
    return cmocka_run_group_tests_name("config ranks", tests, NULL, NULL);
}
