/* live_main.c: perf-trace-live. SPDX-License-Identifier: MIT */
#include "live_find.h"
#include "live_map.h"
#include "live_ring.h"
#include "live_screen.h"
#include "live_text.h"
#include "message.h"
#include "os.h"

#include <perftrace/status.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The first view has two looks too; nobody waits a long interval for it. */
#define FIRST_NS 200000000u

typedef struct app {
    pt_live_options_t options;
    pt_string_list_t operands;
    pt_live_history_t history;   /* of the last look */
    perftrace__hashmap_t others; /* rings of other directories */
    pt_live_model_t model;
    unsigned wrong; /* operands of which nothing came */
} app_t;

static void look(app_t *a, bool tell) {
    pt_live_rules_t rules = {&a->options.collectives, &a->options.categories};
    pt_live_history_t now = PT_LIVE_HISTORY_INIT;
    pt_live_look_t how = {&rules, &a->history, &now};
    pt_live_files_t files;
    pt_live_model_free(&a->model);
    pt_live_find(&a->options, &a->operands, tell, &a->others, &files);
    a->model.time_ns = perftrace__os_realtime_ns();
    for (size_t i = 0; i < files.files; i++) {
        (void)pt_live_ring_look(files.file[i].path, &how, &a->model);
    }
    a->model.failed |= files.failed;
    a->wrong = files.wrong;
    pt_live_files_free(&files);
    pt_live_history_free(&a->history);
    a->history = now;
    pt_live_model_sort(&a->model);
}

/* ---- showing ------------------------------------------------------------------------------------
 */

static void put_head(const app_t *a, bool color, perftrace__strbuf_t *out) {
    char text[32];
    time_t seconds = (time_t)(a->model.time_ns / 1000000000u);
    struct tm local;
    if (localtime_r(&seconds, &local) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local) == 0) {
        text[0] = '\0';
    }
    perftrace__strbuf_printf(out, "%s%s%s\n\n", color ? "\033[1m" : "", text,
                             color ? "\033[0m" : "");
}

static void put_nothing(const app_t *a, const pt_live_verdict_t *v, perftrace__strbuf_t *out) {
    if (a->model.processes == 0) {
        perftrace__strbuf_puts(out, "no traced process\n");
    } else if (a->options.only_stuck && v->stucks == 0) {
        perftrace__strbuf_puts(out, "nothing is stuck\n");
    }
}

/* Makes the view's text; true when something is stuck. */
static bool make_view(const app_t *a, perftrace__strbuf_t *out) {
    pt_live_judge_options_t how = {a->options.stuck_ns, a->options.main_only};
    pt_live_verdict_t verdict;
    pt_live_judge(&a->model, &how, &verdict);
    if (a->options.json) {
        pt_live_json(&a->model, &verdict, &how, out);
    } else {
        pt_report_t report = PT_REPORT_INIT;
        bool color = pt_message_color_fits(STDOUT_FILENO);
        if (!a->options.once) {
            put_head(a, color, out);
        }
        put_nothing(a, &verdict, out);
        pt_live_tables(&a->model, &verdict, &how, a->options.only_stuck, &report);
        pt_report_print_text(&report, color, out);
        if (!a->options.once) {
            perftrace__strbuf_putc(out, '\n');
        }
        out->failed |= pt_report_failed(&report);
        pt_report_free(&report);
    }
    bool stuck = verdict.stucks > 0;
    pt_live_verdict_free(&verdict);
    return stuck;
}

/* PT_EXIT_OK, PT_EXIT_PROBLEMS when something is stuck and that was asked for, or what failed. */
static pt_exit_t show(const app_t *a) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    bool stuck = make_view(a, &text);
    pt_exit_t exit = stuck && a->options.only_stuck ? PT_EXIT_PROBLEMS : PT_EXIT_OK;
    if (text.failed) {
        exit = PT_EXIT_INTERNAL;
    } else {
        int status = pt_live_screen_show(&text);
        if (status != 0) {
            pt_live_screen_close();
            pt_error("standard output: %s", strerror(-status));
            exit = PT_EXIT_OUTPUT;
        }
    }
    perftrace__strbuf_free(&text);
    return exit;
}

/* ---- going on -----------------------------------------------------------------------------------
 */

static bool is_named(const app_t *a) {
    return a->operands.count > 0 || a->options.pids > 0;
}

/* Whether all that was named are processes and files, of which no others come. */
static bool is_closed_list(const app_t *a) {
    for (size_t i = 0; i < a->operands.count; i++) {
        struct stat st;
        if (stat(a->operands.items[i], &st) == 0 && S_ISDIR(st.st_mode)) {
            return false;
        }
    }
    return is_named(a);
}

static bool all_are_gone(const app_t *a) {
    for (size_t i = 0; i < a->model.processes; i++) {
        if (pt_live_is_there(&a->model.process[i])) {
            return false;
        }
    }
    return true;
}

static pt_exit_t watch(app_t *a) {
    const char *term = getenv("TERM");
    bool terminal = isatty(STDOUT_FILENO) == 1 && term != NULL && strcmp(term, "dumb") != 0;
    bool closed_list = is_closed_list(a);
    pt_exit_t exit = PT_EXIT_OK, last = PT_EXIT_OK;
    pt_live_screen_open(terminal && !a->options.json);
    uint64_t wait = PT_MIN(a->options.interval_ns, (uint64_t)FIRST_NS);
    for (uint64_t n = 0;; n++) {
        if (!pt_live_screen_wait(wait)) {
            exit = PT_EXIT_INTERRUPTED;
            break;
        }
        look(a, false);
        last = show(a);
        if (last != PT_EXIT_OK && last != PT_EXIT_PROBLEMS) {
            exit = last;
            break;
        }
        wait = a->options.interval_ns;
        if (n + 1 == a->options.count || (closed_list && all_are_gone(a))) {
            exit = last;
            break;
        }
    }
    pt_live_screen_close();
    return exit;
}

/* ---- once ---------------------------------------------------------------------------------------
 */

static pt_exit_t tell_problems(const app_t *a) {
    bool named = is_named(a);
    for (size_t i = 0; i < a->model.problems; i++) {
        const pt_live_problem_t *p = &a->model.problem[i];
        if (named) {
            pt_error("%s: %s", p->ring, p->text);
        } else {
            pt_warn("%s: %s", p->ring, p->text);
        }
    }
    if (a->model.processes == 0 && a->wrong == 0 && a->model.problems == 0) {
        pt_error("no ring file was found: is the program traced, by this user, and running?");
    }
    return a->model.processes == 0 || a->wrong > 0 || (named && a->model.problems > 0)
               ? PT_EXIT_INPUT
               : PT_EXIT_OK;
}

static pt_exit_t once(app_t *a) {
    if (a->options.interval_ns > 0) {
        struct timespec time = {(time_t)(a->options.interval_ns / 1000000000u),
                                (long)(a->options.interval_ns % 1000000000u)};
        while (nanosleep(&time, &time) != 0 && errno == EINTR) {
        }
        look(a, false);
    }
    pt_exit_t problems = tell_problems(a);
    pt_exit_t shown = a->model.processes > 0 || a->options.json ? show(a) : PT_EXIT_OK;
    return shown != PT_EXIT_OK ? shown : problems;
}

int main(int argc, char **argv) {
    pt_message_init("perf-trace-live", argv[0], PT_NORMAL);
    (void)signal(SIGPIPE, SIG_IGN);
    app_t a = {.operands = PT_STRING_LIST_INIT,
               .history = PT_LIVE_HISTORY_INIT,
               .others = PERFTRACE__HASHMAP_INIT};
    int status = pt_live_options_parse(&a.options, argc, argv, &a.operands);
    if (status == PT_OPTION_GO_ON) {
        pt_live_map_init();
        look(&a, true);
        if (a.options.once) {
            status = (int)once(&a);
        } else if (a.wrong > 0) {
            status = PT_EXIT_INPUT; /* it was told */
        } else {
            status = (int)watch(&a);
        }
        if (a.model.failed) {
            pt_error("out of memory");
            status = PT_EXIT_INTERNAL;
        }
    }
    pt_live_model_free(&a.model);
    pt_live_history_free(&a.history);
    perftrace__hashmap_free(&a.others);
    pt_live_options_free(&a.options);
    pt_string_list_free(&a.operands);
    return status;
}
