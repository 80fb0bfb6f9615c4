/* config_help.c: the options as text. SPDX-License-Identifier: MIT */
#include "config_resolve.h"

#include <pthread.h>

#define HELP_WIDTH 79

/* Appends text in lines of at most HELP_WIDTH columns, each with this indent. */
static void put_wrapped(perftrace__strbuf_t *out, const char *text, unsigned indent) {
    size_t column = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column == 0 || column + 1 + n > HELP_WIDTH) {
            perftrace__strbuf_printf(out, "%s%*s", column ? "\n" : "", (int)indent, "");
            column = indent;
        } else {
            perftrace__strbuf_putc(out, ' ');
            column++;
        }
        perftrace__strbuf_append(out, text, n);
        column += n;
        text += n;
        text += strspn(text, " ");
    }
    perftrace__strbuf_putc(out, '\n');
}

void perftrace__config_print_help(perftrace__strbuf_t *out) {
    perftrace__strbuf_puts(
        out, "Options of perftrace. A field that the program sets wins over the variable, the\n"
             "variable over the key in the file that PERFTRACE_CONFIG names, the key over the\n"
             "default.\n");
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        const perftrace__option_t *o = &perftrace__options[i];
        perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_printf(out, "\n%s", o->env);
        if (o->key[0]) {
            perftrace__strbuf_printf(out, "  (" PERFTRACE__CONFIG_SECTION ".%s)", o->key);
        }
        perftrace__strbuf_putc(out, '\n');
        put_wrapped(out, o->help, 4);
        perftrace__strbuf_puts(&line, "Takes ");
        perftrace__option_put_form(o, &line);
        perftrace__strbuf_printf(&line, ". Default: %s.", o->def[0] ? o->def : "unset");
        put_wrapped(out, perftrace__strbuf_cstr(&line), 4);
        out->failed = out->failed || line.failed;
        perftrace__strbuf_free(&line);
    }
}

void perftrace__config_put_environment(const perftrace__config_t *c, perftrace__strbuf_t *out) {
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        const perftrace__option_t *o = &perftrace__options[i];
        if (c->source[i] >= PERFTRACE__SOURCE_LAUNCHER || i == PERFTRACE__OPT_config_path) {
            continue;
        }
        perftrace__strbuf_printf(out, "%s=", o->env);
        perftrace__option_put_value(o, &c->opt, out);
        perftrace__strbuf_putc(out, '\0');
    }
}

static perftrace__strbuf_t help_text = PERFTRACE__STRBUF_INIT;

static void make_help(void) {
    perftrace__config_print_help(&help_text);
}

const char *perftrace_config_help(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_help);
    return perftrace__strbuf_cstr(&help_text);
}

void perftrace_config_init(perftrace_config_t *config, size_t size) {
    static const perftrace_config_t unset = PERFTRACE_CONFIG_INIT;
    if (!config || size < sizeof(config->struct_size)) {
        return;
    }
    memset(config, 0, size);
    memcpy(config, &unset, PT_MIN(size, sizeof(unset)));
    config->struct_size = size;
}
