/* fuzz_run_profile.c: any bytes as the configuration of a launch. SPDX-License-Identifier: MIT
 *
 * Whatever the file says: there is a plan or a message, messages are whole lines, and a plan ends
 * with the words of the command (vLLM's configuration behind them). */
#include "run_plan.h"
#include "run_profile_yaml.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok) {
    if (!ok) {
        abort();
    }
}

static const char *get(const char *name, void *user) {
    (void)user;
    return name[0] == 'V' ? "value" : NULL;
}

static void check_lines(const perftrace__strbuf_t *lines) {
    check(lines->len == 0 || (lines->data[lines->len - 1] == '\n' && lines->data[0] != '\n'));
}

static void check_plan(const pt_plan_t *plan, const pt_run_profile_t *profile) {
    for (size_t i = 0; i < plan->count; i++) {
        const pt_string_list_t *argv = &plan->ranks[i].argv;
        size_t behind = plan->selected && profile->backend == PT_BACKEND_VLLM ? 2 : 0;
        check(argv->count >= 2 + behind);
        check(strcmp(argv->items[argv->count - behind - 2], "vllm") == 0);
        check(strcmp(argv->items[argv->count - behind - 1], "serve") == 0);
        perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
        pt_plan_put_line(&plan->ranks[i], true, &line);
        check(line.len > 0 && !plan->failed);
        perftrace__strbuf_free(&line);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pt_run_profile_file_t file = {"fuzz", (const char *)data, size, get, NULL, PT_BACKEND_UNSET};
    pt_run_profile_t profile;
    pt_run_problems_t problems = PT_RUN_PROBLEMS_INIT;
    pt_string_list_t command = PT_STRING_LIST_INIT;
    bool found;
    bool tracer;
    pt_run_profile_init(&profile);
    check(pt_string_list_split(&command, "vllm serve", ' '));
    bool ok = pt_run_profile_read_yaml(&file, &profile, &problems, &found, &tracer);
    check(ok || problems.errors.len > 0);
    if (ok) {
        pt_run_profile_check(&profile, &problems);
    }
    if (ok && problems.errors.len == 0 && profile.backend != PT_BACKEND_UNSET) {
        pt_plan_t plan;
        pt_plan_request_t request = {.profile = &profile,
                                     .group = "A",
                                     .command = &command,
                                     .local_ranks = 2,
                                     .world_size = 2,
                                     .tell_ranks = true,
                                     .master_addr = "m",
                                     .temp_dir = "/tmp",
                                     .get = get};
        pt_plan_make(&request, &plan, &problems);
        if (problems.errors.len == 0) {
            check_plan(&plan, &profile);
        }
        pt_plan_free(&plan);
    }
    check_lines(&problems.errors);
    check_lines(&problems.warnings);
    pt_run_profile_free(&profile);
    pt_run_problems_free(&problems);
    pt_string_list_free(&command);
    return 0;
}
