/* test_config_docs.c: docs/CONFIGURATION.md is what the table says. SPDX-License-Identifier: MIT
 *
 * Run with PERFTRACE_TEST_UPDATE=1 to write the document anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT PERFTRACE_TEST_SOURCE_DIR "/docs/CONFIGURATION.md"

static const char intro[] =
    "# Options\n"
    "\n"
    "Written from `src/config/config_table.h`; after a change there run `test_config_docs` with\n"
    "`PERFTRACE_TEST_UPDATE=1`. The same list, as text, is `perftrace_config_help()`.\n"
    "\n"
    "## Which value counts\n"
    "\n"
    "1. A field of `perftrace_config_t` that the program set (it differs from what\n"
    "   `PERFTRACE_CONFIG_INIT` puts there).\n"
    "2. The environment variable. An empty variable counts as not set.\n"
    "3. The key below `perf_tracer:` in the file that `config_path` or `PERFTRACE_CONFIG` names.\n"
    "   `null` counts as not set.\n"
    "4. For rank, world size, local rank and run id: the launcher's variables (below).\n"
    "5. The default.\n"
    "\n"
    "A value that is not accepted is named in a message (for a file with its line) and the next\n"
    "source counts; nothing of this stops the program. Unknown keys and unknown variables that "
    "start\n"
    "with `PERFTRACE_` are named too, with the nearest known name. `PERFTRACE_TEST_...` is for "
    "tests.\n";

static const char behind_others[] =
    "\n"
    "Tracing is on unless something switches it off: `perftrace_init(NULL)` without any variable\n"
    "writes to `perftrace-out` in the current directory, and says so in a note. This differs from\n"
    "AReaL, where a missing `enabled` means off.\n"
    "\n"
    "## The options\n"
    "\n";

static const char outro[] =
    "\n"
    "## The file\n"
    "\n"
    "YAML or JSON, UTF-8, at most 1 MiB, a regular file. Only the first document is read, and of "
    "it\n"
    "the `perf_tracer` section; the rest may be anything, so a trainer's whole configuration can "
    "be\n"
    "named.\n"
    "\n"
    "```yaml\n"
    "experiment_name: gsm8k\n"
    "trial_name: trial0\n"
    "cluster:\n"
    "  fileroot: /shared/experiments\n"
    "perf_tracer:\n"
    "  enabled: true\n"
    "  experiment_name: ${experiment_name}\n"
    "  trial_name: ${trial_name}\n"
    "  fileroot: ${cluster.fileroot}\n"
    "  categories: [compute, comm]\n"
    "  ranks: 0,8-9\n"
    "  session_tracer:\n"
    "    enabled: true\n"
    "```\n"
    "\n"
    "* `${a.b}` is the scalar with that path in the same file, else the environment variable of "
    "that\n"
    "  name. `${oc.env:NAME}` and `${oc.env:NAME,default}` are variables.\n"
    "* A list may be written as a YAML list or as text with commas.\n"
    "* Aliases of scalars work. In the `perf_tracer` section aliases of mappings and lists, merge\n"
    "  keys, tags other than YAML's own and lists within lists are named and left out.\n"
    "* A file that is not well-formed is not used at all.\n"
    "\n"
    "## Paths\n"
    "\n"
    "`~`, `~user`, `$VAR` and `${VAR}` are expanded; a path with a variable that is not set is "
    "not\n"
    "used. A relative path is bound to the directory that is current at init. Directories are "
    "made.\n"
    "\n"
    "Experiment, trial, role and user become names of directories: letters, digits, `._-+=@,` and\n"
    "characters beyond ASCII stay, others become `_`. A name over 255 bytes is cut at a character "
    "and\n"
    "ends in `-` and eight hexadecimal digits of a hash of the whole; the full text is in the "
    "file's\n"
    "header.\n"
    "\n"
    "| file | when |\n"
    "|---|---|\n"
    "| `traces-r3.jsonl` | rank 3 |\n"
    "| `traces-r3.1.jsonl` | rank 3, the name before is taken (an earlier run, a fork) |\n"
    "| `traces-u4711.jsonl` | rank unknown; the number is the process id |\n"
    "\n"
    "## Launchers\n"
    "\n"
    "The first that gives a usable rank decides; later ones fill in what it does not give where "
    "they\n"
    "agree on the rank.\n"
    "\n"
    "| launcher | rank | world size | local rank | run id |\n"
    "|---|---|---|---|---|\n"
    "| torchrun | `RANK` | `WORLD_SIZE` | `LOCAL_RANK` | `TORCHELASTIC_RUN_ID` unless `none`, with "
    "`TORCHELASTIC_RESTART_COUNT` |\n"
    "| Open MPI | `OMPI_COMM_WORLD_RANK` | `OMPI_COMM_WORLD_SIZE` | `OMPI_COMM_WORLD_LOCAL_RANK` | "
    "`PMIX_NAMESPACE` or `OMPI_MCA_ess_base_jobid` |\n"
    "| MVAPICH2 | `MV2_COMM_WORLD_RANK` | `MV2_COMM_WORLD_SIZE` | `MV2_COMM_WORLD_LOCAL_RANK` | |\n"
    "| PMIx | `PMIX_RANK` | | | `PMIX_NAMESPACE` |\n"
    "| PMI (MPICH, Hydra, Intel MPI) | `PMI_RANK` | `PMI_SIZE` | `MPI_LOCALRANKID` | |\n"
    "| Slurm, in a step of `srun` only | `SLURM_PROCID` | `SLURM_STEP_NUM_TASKS` or `SLURM_NTASKS` "
    "| "
    "`SLURM_LOCALID` | `SLURM_JOB_ID`.`SLURM_STEP_ID`, with `SLURM_RESTART_COUNT` |\n"
    "\n"
    "A Slurm batch script itself runs with `SLURM_PROCID=0` and, say, `SLURM_NTASKS=8`: what it\n"
    "starts without `srun` would take itself for rank 0 of 8. So Slurm's variables count only "
    "where\n"
    "`SLURM_STEP_ID` is present and no reserved number.\n";

static void put_document(perftrace__strbuf_t *out) {
#define OTHER(variable, reader)                                                                    \
    perftrace__strbuf_puts(out, "`" variable "` is read by " reader " and no option.\n");
    perftrace__strbuf_puts(out, intro);
    PERFTRACE__CONFIG_OTHERS(OTHER)
    perftrace__strbuf_puts(out, behind_others);
#undef OTHER
    perftrace__strbuf_puts(
        out, "| variable | key below `perf_tracer:` | field | default | takes | meaning |\n"
             "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        const perftrace__option_t *o = &perftrace__options[i];
        const char *tick = o->key[0] ? "`" : "";
        perftrace__strbuf_printf(out, "| `%s` | %s%s%s | `%s` | ", o->env, tick, o->key, tick,
                                 o->field);
        perftrace__strbuf_printf(out, o->def[0] ? "`%s`" : "%s", o->def[0] ? o->def : "unset");
        perftrace__strbuf_puts(out, " | ");
        perftrace__option_put_form(o, out);
        perftrace__strbuf_puts(out, " | ");
        /* Angle brackets would be taken for HTML. */
        for (const char *p = o->help; *p; p++) {
            if (*p == '<') {
                perftrace__strbuf_puts(out, "&lt;");
            } else if (*p == '>') {
                perftrace__strbuf_puts(out, "&gt;");
            } else {
                perftrace__strbuf_putc(out, *p);
            }
        }
        perftrace__strbuf_puts(out, " |\n");
    }
    perftrace__strbuf_puts(out, outro);
}

static void the_document_is_current(void **state) {
    (void)state;
    perftrace__strbuf_t wanted = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t got = PERFTRACE__STRBUF_INIT;
    char piece[4096];
    size_t n;
    put_document(&wanted);
    if (getenv("PERFTRACE_TEST_UPDATE")) {
        FILE *f = fopen(DOCUMENT, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(wanted.data, 1, wanted.len, f), wanted.len);
        assert_int_equal(fclose(f), 0);
    }
    FILE *f = fopen(DOCUMENT, "r");
    assert_non_null(f);
    while ((n = fread(piece, 1, sizeof(piece), f)) > 0) {
        perftrace__strbuf_append(&got, piece, n);
    }
    fclose(f);
    assert_string_equal(perftrace__strbuf_cstr(&got), wanted.data);
    perftrace__strbuf_free(&wanted);
    perftrace__strbuf_free(&got);
}

static void the_example_in_the_document_is_read_without_a_word(void **state) {
    (void)state;
    const char *begin = strstr(outro, "```yaml\n") + strlen("```yaml\n");
    size_t len = (size_t)(strstr(begin, "```") - begin);
    char path[] = "/tmp/perftrace-example-XXXXXX";
    char var[64];
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    assert_non_null(f);
    assert_int_equal(fwrite(begin, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
    snprintf(var, sizeof(var), "PERFTRACE_CONFIG=%s", path);
    const char *env[] = {var, NULL};
    perftrace__config_t c;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, &msgs), 0);
    assert_string_equal(perftrace__strbuf_cstr(&msgs), "");
    assert_string_equal(c.opt.fileroot, "/shared/experiments");
    assert_string_equal(c.opt.categories, "compute,comm");
    perftrace__config_free(&c);
    perftrace__strbuf_free(&msgs);
    remove(path);
}

static void the_help_names_every_option_in_lines_that_fit(void **state) {
    (void)state;
    const char *help = perftrace_config_help();
    assert_ptr_equal(help, perftrace_config_help());
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        assert_non_null(strstr(help, perftrace__options[i].env));
    }
    for (const char *p = help; *p; p++) {
        size_t n = strcspn(p, "\n");
        if (n > 79 && !strstr(p, "/perf_tracer/[<role>/]")) {
            fail_msg("%.*s", (int)n, p);
        }
        p += n;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_document_is_current),
        cmocka_unit_test(the_example_in_the_document_is_read_without_a_word),
        cmocka_unit_test(the_help_names_every_option_in_lines_that_fit),
    };
    return cmocka_run_group_tests_name("config documents", tests, NULL, NULL);
}
