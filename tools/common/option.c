/* option.c: the command line parsed by the table. SPDX-License-Identifier: MIT */
#include "option.h"

#include "human.h"
#include "message.h"
#include "option_list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NAMES_MAX 256

typedef struct parser {
    const pt_tool_t *tool;
    void *values;
    int argc;
    char *const *argv;
    int at;             /* the argument being looked at */
    pt_builtin_t asked; /* --help and the like; the first one counts */
    const char *shell;  /* of --completion */
    bool out_of_memory;
} parser_t;

/* A long name as found on the command line. */
typedef struct match {
    size_t index;
    bool negated; /* --no-NAME */
} match_t;

int pt_option_usage_error(const pt_tool_t *tool, const char *fmt, ...) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    perftrace__strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    pt_error("%s\nTry '%s --help'.", perftrace__strbuf_cstr(&text), tool->name);
    perftrace__strbuf_free(&text);
    return PT_EXIT_USAGE;
}

static bool set_number(void *target, const pt_option_t *option, const char *text) {
    bool bounded = option->min || option->max;
    if (option->kind == PT_OPTION_KIND_INT) {
        int64_t value;
        if (!pt_parse_int64(text, &value) ||
            (bounded && (value < option->min || value > option->max))) {
            return false;
        }
        memcpy(target, &value, sizeof(value));
        return true;
    }
    uint64_t value;
    if (!pt_parse_uint64(text, &value) ||
        (bounded && (value < (uint64_t)option->min || value > (uint64_t)option->max))) {
        return false;
    }
    memcpy(target, &value, sizeof(value));
    return true;
}

static bool set_choice(void *target, const pt_option_t *option, const char *text) {
    for (const pt_choice_t *choice = option->choices; choice->name; choice++) {
        if (strcmp(choice->name, text) == 0) {
            memcpy(target, &choice->value, sizeof(choice->value));
            return true;
        }
    }
    return false;
}

/* Appends what the option would have taken. */
static void expect(perftrace__strbuf_t *out, const pt_option_t *option, const char *text) {
    const char *names[NAMES_MAX];
    size_t count = 0;
    switch (option->kind) {
    case PT_OPTION_KIND_INT:
    case PT_OPTION_KIND_UINT64:
        perftrace__strbuf_puts(out, "expected a whole number");
        if (option->min || option->max) {
            perftrace__strbuf_printf(out, " from %" PRId64 " to %" PRId64, option->min,
                                     option->max);
        }
        break;
    case PT_OPTION_KIND_DOUBLE:
        perftrace__strbuf_puts(out, "expected a number");
        break;
    case PT_OPTION_KIND_DURATION:
        perftrace__strbuf_puts(out, "expected a time such as 250ns, 1.5us, 20ms, 3s, 2m");
        break;
    case PT_OPTION_KIND_SIZE:
        perftrace__strbuf_puts(out, "expected a size such as 4096, 64k, 1.5M, 2Gi");
        break;
    default: /* an enumeration: the other kinds take any text */
        perftrace__strbuf_puts(out, "expected one of ");
        pt_option_append_choices(out, option->choices, ", ");
        for (const pt_choice_t *c = option->choices; c->name && count < NAMES_MAX; c++) {
            names[count++] = c->name;
        }
        int nearest = pt_nearest_name(text, names, count);
        if (nearest >= 0) {
            perftrace__strbuf_printf(out, "; did you mean %s?", names[nearest]);
        }
        break;
    }
}

static bool set_value(parser_t *p, const pt_option_t *option, const char *text,
                      perftrace__strbuf_t *problem) {
    void *target = (char *)p->values + option->offset;
    bool good = true;
    switch (option->kind) {
    case PT_OPTION_KIND_STRING:
        memcpy(target, &text, sizeof(text)); /* a const char * */
        return true;
    case PT_OPTION_KIND_INT:
    case PT_OPTION_KIND_UINT64:
        good = set_number(target, option, text);
        break;
    case PT_OPTION_KIND_DOUBLE:
        good = pt_parse_double(text, target);
        break;
    case PT_OPTION_KIND_DURATION:
        good = pt_parse_duration(text, target);
        break;
    case PT_OPTION_KIND_SIZE:
        good = pt_parse_size(text, target);
        break;
    case PT_OPTION_KIND_ENUM:
        good = set_choice(target, option, text);
        break;
    case PT_OPTION_KIND_LIST:
        p->out_of_memory |= !pt_string_list_split(target, text, ',');
        return true;
    default:
        return option->fn(p->values, text, problem);
    }
    if (!good) {
        expect(problem, option, text);
    }
    return good;
}

static void do_builtin(parser_t *p, pt_builtin_t builtin, const char *value) {
    if (builtin == PT_BUILTIN_QUIET) {
        pt_message_set_verbosity(PT_QUIET);
    } else if (builtin == PT_BUILTIN_VERBOSE) {
        pt_message_set_verbosity(PT_VERBOSE);
    } else if (p->asked == PT_BUILTIN_NONE) {
        p->asked = builtin;
        p->shell = value;
    }
}

/* Applies one option. name is how the user wrote it, value "" when there is none. */
static int apply(parser_t *p, match_t match, const char *name, const char *value) {
    const pt_option_t *option = pt_option_at(p->tool, match.index);
    pt_builtin_t builtin = pt_option_builtin(p->tool, match.index);
    if (builtin != PT_BUILTIN_NONE) {
        do_builtin(p, builtin, value);
        return PT_OPTION_GO_ON;
    }
    if (option->kind == PT_OPTION_KIND_FLAG) {
        *(bool *)(void *)((char *)p->values + option->offset) = !match.negated;
        return PT_OPTION_GO_ON;
    }
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    int status = PT_OPTION_GO_ON;
    if (!set_value(p, option, value, &problem)) {
        const char *joint = name[1] == '-' ? "=" : " ";
        status = pt_option_usage_error(p->tool, "option %s%s%s: %s", name, *value ? joint : "",
                                       value, perftrace__strbuf_cstr(&problem));
    }
    perftrace__strbuf_free(&problem);
    return status;
}

/* Takes the next argument as the value of an option that needs one. */
static int next_value(parser_t *p, const pt_option_t *option, const char *name,
                      const char **ret_value) {
    if (p->at + 1 >= p->argc) {
        return pt_option_usage_error(p->tool, "option %s needs a value (%s)", name, option->arg);
    }
    *ret_value = p->argv[++p->at];
    return PT_OPTION_GO_ON;
}

/* How well a name given as name[0..len) fits: 0 not at all, 1 as a beginning, 2 fully. */
static int fits(const char *full, const char *name, size_t len) {
    if (strncmp(full, name, len) != 0) {
        return 0;
    }
    return full[len] ? 1 : 2;
}

static int unknown_long(parser_t *p, const char *name, size_t len) {
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < pt_option_total(p->tool) && count < NAMES_MAX; i++) {
        const pt_option_t *option = pt_option_at(p->tool, i);
        if (option->kind != PT_OPTION_KIND_HEADING && pt_option_is_shown(option)) {
            names[count++] = option->long_name;
        }
    }
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)PT_MIN(len, sizeof(word) - 1), name);
    int nearest = pt_nearest_name(word, names, count);
    if (nearest >= 0) {
        return pt_option_usage_error(p->tool, "unknown option --%.*s; did you mean --%s?", (int)len,
                                     name, names[nearest]);
    }
    return pt_option_usage_error(p->tool, "unknown option --%.*s", (int)len, name);
}

/* Finds the option that name[0..len), without its dashes, means. */
static int find_long(parser_t *p, const char *name, size_t len, match_t *ret_match) {
    perftrace__strbuf_t candidates = PERFTRACE__STRBUF_INIT;
    unsigned found = 0;
    int status = PT_OPTION_GO_ON;
    for (size_t i = 0; i < pt_option_total(p->tool); i++) {
        const pt_option_t *option = pt_option_at(p->tool, i);
        if (option->kind == PT_OPTION_KIND_HEADING) {
            continue;
        }
        for (int negated = 0; negated <= (option->kind == PT_OPTION_KIND_FLAG); negated++) {
            if (negated && (len < 3 || strncmp(name, "no-", 3) != 0)) {
                continue;
            }
            int fit = fits(option->long_name, name + (negated ? 3 : 0), len - (negated ? 3 : 0));
            if (fit == 2) {
                *ret_match = (match_t){i, negated};
                goto done;
            }
            if (fit == 1 && pt_option_is_shown(option)) {
                *ret_match = (match_t){i, negated};
                perftrace__strbuf_printf(&candidates, "%s--%s%s", found++ ? ", " : "",
                                         negated ? "no-" : "", option->long_name);
            }
        }
    }
    if (found == 0) {
        status = unknown_long(p, name, len);
    } else if (found > 1) {
        status = pt_option_usage_error(p->tool, "option --%.*s is ambiguous: %s", (int)len, name,
                                       perftrace__strbuf_cstr(&candidates));
    }
done:
    perftrace__strbuf_free(&candidates);
    return status;
}

static int parse_long(parser_t *p, const char *argument) {
    const char *name = argument + 2;
    size_t len = strcspn(name, "=");
    const char *value = name[len] ? name + len + 1 : NULL;
    match_t match = {0, false};
    int status = find_long(p, name, len, &match);
    if (status != PT_OPTION_GO_ON) {
        return status;
    }
    const pt_option_t *option = pt_option_at(p->tool, match.index);
    char written[80];
    snprintf(written, sizeof(written), "--%s%s", match.negated ? "no-" : "", option->long_name);
    if (value && !option->arg) {
        return pt_option_usage_error(p->tool, "option %s takes no value", written);
    }
    if (!value && option->arg) {
        status = next_value(p, option, written, &value);
    }
    return status == PT_OPTION_GO_ON ? apply(p, match, written, value ? value : "") : status;
}

static int parse_short(parser_t *p, const char *argument) {
    for (const char *c = argument + 1; *c; c++) {
        match_t match = {0, false};
        size_t total = pt_option_total(p->tool);
        while (match.index < total && pt_option_at(p->tool, match.index)->short_name != *c) {
            match.index++;
        }
        if (match.index == total) {
            return pt_option_usage_error(p->tool, "unknown option -%c", *c);
        }
        const pt_option_t *option = pt_option_at(p->tool, match.index);
        const char written[] = {'-', *c, '\0'};
        if (!option->arg) {
            int status = apply(p, match, written, "");
            if (status != PT_OPTION_GO_ON) {
                return status;
            }
            continue;
        }
        const char *value = c + 1;
        int status = *value ? PT_OPTION_GO_ON : next_value(p, option, written, &value);
        return status == PT_OPTION_GO_ON ? apply(p, match, written, value) : status;
    }
    return PT_OPTION_GO_ON;
}

static unsigned text_width(void) {
    struct winsize size;
    uint64_t columns = 80;
    const char *env = getenv("COLUMNS");
    if (!env || !pt_parse_uint64(env, &columns)) {
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) {
            columns = size.ws_col;
        }
    }
    return (unsigned)PT_MIN(PT_MAX(columns, 40), 100);
}

/* Prints what was asked for by --help and the like. */
static int answer(const parser_t *p) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    int status = PT_EXIT_OK;
    if (p->asked == PT_BUILTIN_HELP) {
        pt_option_help(p->tool, text_width(), &text);
    } else if (p->asked == PT_BUILTIN_VERSION) {
        perftrace__strbuf_printf(&text, "%s (libperftrace) %s\n", p->tool->name, p->tool->version);
    } else if (p->asked == PT_BUILTIN_HELP_MAN) {
        pt_option_man(p->tool, &text);
    } else if (!pt_option_completion(p->tool, p->shell, &text)) {
        status = pt_option_usage_error(
            p->tool, "option --completion=%s: expected bash, zsh or fish", p->shell);
    }
    if (text.failed) {
        pt_error("out of memory");
        status = PT_EXIT_INTERNAL;
    } else if (text.len && (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout))) {
        pt_error("standard output cannot be written");
        status = PT_EXIT_OUTPUT;
    }
    perftrace__strbuf_free(&text);
    return status;
}

int pt_option_parse(const pt_tool_t *tool, void *values, int argc, char *const *argv,
                    pt_string_list_t *ret_operands) {
    parser_t parser = {.tool = tool, .values = values, .argc = argc, .argv = argv};
    parser_t *p = &parser;
    bool only_operands = false;
    for (p->at = 1; p->at < argc; p->at++) {
        const char *argument = argv[p->at];
        int status = PT_OPTION_GO_ON;
        if (only_operands || argument[0] != '-' || argument[1] == '\0') {
            p->out_of_memory |= !pt_string_list_add(ret_operands, argument);
            only_operands = only_operands || tool->runs_command;
        } else if (strcmp(argument, "--") == 0) {
            only_operands = true;
        } else if (argument[1] == '-') {
            status = parse_long(p, argument);
        } else {
            status = parse_short(p, argument);
        }
        if (status != PT_OPTION_GO_ON) {
            return status;
        }
    }
    if (p->out_of_memory) {
        pt_error("out of memory");
        return PT_EXIT_INTERNAL;
    }
    return p->asked == PT_BUILTIN_NONE ? PT_OPTION_GO_ON : answer(p);
}
