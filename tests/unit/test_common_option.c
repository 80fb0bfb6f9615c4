/* test_common_option.c: the table of options. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common_temp.h"
#include "message.h"
#include "option.h"

typedef struct values {
    bool strict, all, color;
    const char *output;
    int64_t level;
    uint64_t ranks, window, split;
    double scale;
    int format;
    pt_string_list_t names;
    int called;
} values_t;

static bool on_range(void *values, const char *value, perftrace__strbuf_t *ret_problem) {
    ((values_t *)values)->called++;
    if (strchr(value, '-')) {
        return true;
    }
    perftrace__strbuf_puts(ret_problem, "expected A-B");
    return false;
}

static const pt_choice_t formats[] = {
    {"chrome", 1, "Chrome's format"}, {"bundle", 2, NULL}, {NULL, 0, NULL}};

static const pt_option_t options[] = {
    PT_OPTION_HEADING("Output"),
    PT_OPTION_STRING(values_t, output, 'o', "output", "FILE",
                     "write to FILE, which isn't an input"),
    PT_OPTION_ENUM(values_t, format, 'f', "format", "FORMAT", formats, "what to write"),
    PT_OPTION_SIZE(values_t, split, 0, "split", "SIZE", "start a new part after SIZE bytes"),
    PT_OPTION_INT(values_t, level, 'l', "level", "N", -1, 9, "how hard to pack"),
    PT_OPTION_HEADING("Selection"),
    PT_OPTION_FLAG(values_t, strict, 's', "strict", "take every problem as a failure"),
    PT_OPTION_FLAG(values_t, all, 'a', "all", "take everything"),
    PT_OPTION_FLAG(values_t, color, 0, "color", "use colours"),
    PT_OPTION_UINT64(values_t, ranks, 'r', "ranks", "N", 0, 0, "how many ranks"),
    PT_OPTION_DOUBLE(values_t, scale, 0, "scale", "X", "scale by X"),
    PT_OPTION_DURATION(values_t, window, 'w', "window", "TIME", "how much time"),
    PT_OPTION_LIST(values_t, names, 'n', "name", "NAME", "only these names"),
    PT_OPTION_CALLBACK(on_range, 0, "range", "A-B", "steps from A to B"),
    PT_OPTION_HEADING("Nothing to see"),
    PT_OPTION_HIDDEN_FLAG(values_t, all, "secret"),
};

static const char *const synopsis[] = {"[OPTION]... INPUT...", "--check INPUT...", NULL};
static const pt_text_t examples[] = {{"perf-trace-test -o all.json r*.jsonl", "merge all ranks"},
                                     {NULL, NULL}};
static const pt_text_t sections[] = {{"FILES", ".hidden files are left out\n\nbut 'quoted' stay"},
                                     {NULL, NULL}};
static const pt_tool_t tool = {
    .name = "perf-trace-test",
    .version = "1.2.3",
    .purpose = "show what an option table does",
    .synopsis = synopsis,
    .description = "First paragraph.\n\n  as it is\n\nLast one.",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .sections = sections,
    .operand_glob = "*.jsonl",
    .see_also = "perf-trace-recover(1)",
};

static values_t values;
static const pt_tool_t *parsed_tool = &tool;
static pt_string_list_t operands;
static char text[65536];

/* Parses a NULL-ended command line; what was printed on standard output and error is in text. */
static int parse_list(const char *const *arguments) {
    char *argv[20] = {(char *)(uintptr_t) "perf-trace-test"};
    int argc = 1;
    for (const char *const *arg = arguments; *arg; arg++) {
        argv[argc++] = (char *)(uintptr_t)*arg;
    }
    pt_string_list_free(&operands);
    pt_string_list_free(&values.names);
    memset(&values, 0, sizeof(values));
    temp_catch(1, "out");
    temp_catch(2, "err");
    int status = pt_option_parse(parsed_tool, &values, argc, argv, &operands);
    snprintf(text, sizeof(text), "%s", temp_uncatch(2, "err"));
    size_t len = strlen(text);
    snprintf(text + len, sizeof(text) - len, "%s", temp_uncatch(1, "out"));
    return status;
}

#define parse(...) parse_list((const char *const[]){__VA_ARGS__})

static int enter(void **state) {
    (void)state;
    temp_enter();
    pt_message_init("perf-trace-test", NULL, PT_NORMAL);
    return 0;
}

static int leave(void **state) {
    (void)state;
    pt_string_list_free(&operands);
    pt_string_list_free(&values.names);
    temp_leave();
    return 0;
}

static void values_come_in_every_gnu_form(void **state) {
    (void)state;
    assert_int_equal(parse("a", "-o", "x", "--level=3", "b", "--split", "64k", "-as", "-w20ms",
                           "--", "-c", NULL),
                     PT_OPTION_GO_ON);
    assert_string_equal(text, "");
    assert_string_equal(values.output, "x");
    assert_int_equal(values.level, 3);
    assert_int_equal(values.split, 64000);
    assert_int_equal(values.window, 20000000);
    assert_true(values.all && values.strict);
    assert_int_equal(operands.count, 3);
    assert_string_equal(operands.items[1], "b");
    assert_string_equal(operands.items[2], "-c");
    assert_int_equal(parse("-ofile", "-", "-aso", "y", "--format=bundle", "--no-all", "-l", "-1",
                           "--scale=2.5", "-r", "0x10", NULL),
                     PT_OPTION_GO_ON);
    assert_string_equal(values.output, "y");
    assert_int_equal(values.format, 2);
    assert_int_equal(values.level, -1);
    assert_int_equal(values.ranks, 16);
    assert_true(values.scale == 2.5);
    assert_true(!values.all && values.strict);
    assert_string_equal(operands.items[0], "-");
}

/* A tool that starts a command leaves that one's options alone, and has statuses of its own. */
static void a_command_keeps_its_options(void **state) {
    (void)state;
    static const pt_text_t exits[] = {{"N", "of the command"}, {"125", "own"}, {NULL, NULL}};
    pt_tool_t runner = tool;
    runner.runs_command = true;
    runner.exits = exits;
    parsed_tool = &runner;
    assert_int_equal(parse("-a", "train", "-s", "--level=3", "--", "-x", NULL), PT_OPTION_GO_ON);
    assert_true(values.all && !values.strict);
    assert_int_equal(operands.count, 5);
    assert_string_equal(operands.items[1], "-s");
    assert_string_equal(operands.items[3], "--");
    assert_int_equal(parse("-a", "--", "-train", NULL), PT_OPTION_GO_ON);
    assert_string_equal(operands.items[0], "-train");
    assert_int_equal(parse("--help", NULL), PT_EXIT_OK);
    assert_non_null(strstr(text, "Exit status:\n    N  of the command\n  125  own\n"));
    assert_int_equal(parse("--help-man", NULL), PT_EXIT_OK);
    assert_non_null(strstr(text, ".TP\n\\fBN\\fR\nof the command.\n.TP\n\\fB125\\fR\nown.\n"));
    parsed_tool = &tool;
}

static void lists_and_callbacks_see_every_occurrence(void **state) {
    (void)state;
    assert_int_equal(parse("-n", "a,b", "--name=c", "--range=1-2", "--range", "3-4", NULL),
                     PT_OPTION_GO_ON);
    assert_int_equal(values.names.count, 3);
    assert_string_equal(values.names.items[2], "c");
    assert_int_equal(values.called, 2);
    assert_int_equal(parse("--range=12", NULL), PT_EXIT_USAGE);
    assert_non_null(strstr(text, "option --range=12: expected A-B"));
}

static void beginnings_of_names_are_enough_when_unambiguous(void **state) {
    (void)state;
    assert_int_equal(parse("--str", "--out=x", "--no-col", NULL), PT_OPTION_GO_ON);
    assert_true(values.strict);
    assert_int_equal(parse("--s", NULL), PT_EXIT_USAGE);
    assert_non_null(strstr(text, "option --s is ambiguous: --split, --strict, --scale"));
    assert_int_equal(parse("--secret", NULL), PT_OPTION_GO_ON);
    assert_int_equal(parse("--sec", NULL), PT_EXIT_USAGE); /* hidden: only its full name */
}

static void wrong_command_lines_are_explained(void **state) {
    (void)state;
    static const struct {
        const char *argument;
        const char *says;
    } wrong[] = {
        {"--stirct", "error: unknown option --stirct; did you mean --strict?\n"},
        {"--zzzzzz", "error: unknown option --zzzzzz\n"},
        {"--outptu=5", "unknown option --outptu; did you mean --output?"},
        {"-x", "unknown option -x"},
        {"-ax", "unknown option -x"},
        {"--strict=1", "option --strict takes no value"},
        {"--no-strict=1", "option --no-strict takes no value"},
        {"--no-output", "unknown option --no-output"},
        {"--output", "option --output needs a value (FILE)"},
        {"-o", "option -o needs a value (FILE)"},
        {"--level=10", "option --level=10: expected a whole number from -1 to 9"},
        {"-l1.5", "option -l 1.5: expected a whole number from -1 to 9"},
        {"--ranks=-1", "option --ranks=-1: expected a whole number\n"},
        {"--split=12q", "option --split=12q: expected a size such as"},
        {"--window=5", "option --window=5: expected a time such as"},
        {"--scale=nan", "option --scale=nan: expected a number"},
        {"--format=chrom", "expected one of chrome, bundle; did you mean chrome?"},
        {"--completion=tcsh", "option --completion=tcsh: expected bash, zsh or fish"},
        {"--=", "is ambiguous"},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(wrong); i++) {
        assert_int_equal(parse(wrong[i].argument, NULL), PT_EXIT_USAGE);
        if (!strstr(text, wrong[i].says)) {
            fail_msg("%s gave: %s", wrong[i].argument, text);
        }
        assert_non_null(strstr(text, "\nTry 'perf-trace-test --help'.\n"));
    }
}

static void quiet_and_verbose_set_the_verbosity(void **state) {
    (void)state;
    assert_int_equal(parse("-q", NULL), PT_OPTION_GO_ON);
    assert_int_equal(pt_message_verbosity(), PT_QUIET);
    assert_int_equal(parse("--verbose", NULL), PT_OPTION_GO_ON);
    assert_int_equal(pt_message_verbosity(), PT_VERBOSE);
    pt_message_set_verbosity(PT_NORMAL);
}

static void help_has_everything_and_keeps_the_width(void **state) {
    (void)state;
    setenv("COLUMNS", "60", 1);
    assert_int_equal(parse("--strict", "-h", NULL), PT_EXIT_OK);
    static const char *const parts[] = {
        "Usage: perf-trace-test [OPTION]... INPUT...\n   or: perf-trace-test --check INPUT...\n",
        "perf-trace-test: show what an option table does.\n",
        "First paragraph.\n\n  as it is\n\nLast one.\n",
        "\nOutput:\n  -o, --output=FILE         write to FILE, which isn't an\n",
        "what to write: chrome, bundle\n",
        "chrome     Chrome's format\n",
        "      --[no-]color",
        "\nSelection:\n",
        "(several, with\n",
        "(may be\n",
        "\nGeneral:\n",
        "Examples:\n  perf-trace-test -o all.json r*.jsonl\n      merge all ranks\n",
        "Exit status:\n    0  success\n",
        "  130  interrupted",
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(parts); i++) {
        if (!strstr(text, parts[i])) {
            fail_msg("missing \"%s\" in:\n%s", parts[i], text);
        }
    }
    assert_null(strstr(text, "secret"));
    assert_null(strstr(text, "Nothing to see"));
    assert_null(strstr(text, "help-man"));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") <= 60);
    }
    unsetenv("COLUMNS");
    assert_int_equal(parse("--version", NULL), PT_EXIT_OK);
    assert_string_equal(text, "perf-trace-test (libperftrace) 1.2.3\n");
}

static void full_disk_under_help_is_an_error(void **state) {
    (void)state;
    char name[] = "perf-trace-test";
    char help[] = "--help";
    char *argv[] = {name, help};
    int full = open("/dev/full", O_WRONLY);
    if (full < 0) {
        skip();
    }
    fflush(NULL);
    int saved = dup(1);
    dup2(full, 1);
    temp_catch(2, "err");
    int status = pt_option_parse(&tool, &values, 2, argv, &operands);
    clearerr(stdout);
    dup2(saved, 1);
    close(saved);
    close(full);
    assert_string_equal(temp_uncatch(2, "err"),
                        "perf-trace-test: error: standard output cannot be written\n");
    assert_int_equal(status, PT_EXIT_OUTPUT);
}

static void man_page_escapes_what_troff_would_take(void **state) {
    (void)state;
    assert_int_equal(parse("--help-man", NULL), PT_EXIT_OK);
    static const char *const parts[] = {
        ".TH \"perf-trace-test\" 1 \"\" \"libperftrace 1.2.3\" \"User Commands\"\n",
        ".SH NAME\nperf\\-trace\\-test \\- show what an option table does\n",
        ".SH SYNOPSIS\n\\fBperf\\-trace\\-test\\fR [OPTION]... INPUT...\n.br\n",
        ".SH DESCRIPTION\nFirst paragraph.\n.PP\n.EX\n  as it is\n.EE\n.PP\nLast one.\n",
        ".SS Output\n.TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR=\\fIFILE\\fR\n",
        "isn\\(aqt an input.\n",
        ".SH EXIT STATUS\n.TP\n\\fB0\\fR\nsuccess.\n",
        ".SH EXAMPLES\n.TP\n\\fBperf\\-trace\\-test \\-o all.json",
        ".SH FILES\n\\&.hidden files are left out\n.PP\nbut \\(aqquoted\\(aq stay\n",
        ".SH SEE ALSO\nperf\\-trace\\-recover(1)\n",
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(parts); i++) {
        if (!strstr(text, parts[i])) {
            fail_msg("missing \"%s\" in:\n%s", parts[i], text);
        }
    }
}

static void completions_are_accepted_by_their_shells(void **state) {
    (void)state;
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (size_t i = 0; i < PT_ARRAY_LEN(shells); i++) {
        assert_int_equal(parse("--completion", shells[i], NULL), PT_EXIT_OK);
        assert_non_null(strstr(text, "perf-trace-test"));
        assert_non_null(strstr(text, "chrome bundle"));
        assert_null(strstr(text, "secret"));
        temp_puts("rules", text);
        char command[64];
        snprintf(command, sizeof(command), "command -v %s >/dev/null", shells[i]);
        if (system(command) == 0) {
            snprintf(command, sizeof(command), "%s -n rules", shells[i]);
            assert_int_equal(system(command), 0);
        }
    }
    assert_int_equal(parse("--completion=bash", NULL), PT_EXIT_OK);
    temp_puts("rules", text);
    temp_puts("try.sh",
              ". ./rules\n"
              "COMP_WORDS=(perf-trace-test --str); COMP_CWORD=1; _perf_trace_test\n"
              "[[ ${COMPREPLY[*]} == --strict ]] || exit 1\n"
              "COMP_WORDS=(perf-trace-test --format = b); COMP_CWORD=3; _perf_trace_test\n"
              "[[ ${COMPREPLY[*]} == bundle ]] || exit 2\n"
              "touch x.jsonl y.other\n"
              "COMP_WORDS=(perf-trace-test x); COMP_CWORD=1; _perf_trace_test\n"
              "[[ ${COMPREPLY[*]} == x.jsonl ]] || exit 3\n");
    if (system("command -v bash >/dev/null") == 0) {
        assert_int_equal(system("bash try.sh"), 0);
    }
}

static void distance_counts_single_changes(void **state) {
    (void)state;
    assert_int_equal(pt_edit_distance("", ""), 0);
    assert_int_equal(pt_edit_distance("", "abc"), 3);
    assert_int_equal(pt_edit_distance("strict", "stirct"), 1);
    assert_int_equal(pt_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(pt_edit_distance("abc", "abc"), 0);
    char word[1000];
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    assert_int_equal(pt_edit_distance(word, ""), 63);
    static const char *const names[] = {"food", "bar"};
    assert_int_equal(pt_nearest_name("foo", names, 2), 0);
    assert_int_equal(pt_nearest_name("qux", names, 2), -1);
    assert_int_equal(pt_nearest_name("foo", names, 0), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_in_every_gnu_form),
        cmocka_unit_test(a_command_keeps_its_options),
        cmocka_unit_test(lists_and_callbacks_see_every_occurrence),
        cmocka_unit_test(beginnings_of_names_are_enough_when_unambiguous),
        cmocka_unit_test(wrong_command_lines_are_explained),
        cmocka_unit_test(quiet_and_verbose_set_the_verbosity),
        cmocka_unit_test(help_has_everything_and_keeps_the_width),
        cmocka_unit_test(full_disk_under_help_is_an_error),
        cmocka_unit_test(man_page_escapes_what_troff_would_take),
        cmocka_unit_test(completions_are_accepted_by_their_shells),
        cmocka_unit_test(distance_counts_single_changes),
    };
    return cmocka_run_group_tests_name("common_option", tests, enter, leave);
}
