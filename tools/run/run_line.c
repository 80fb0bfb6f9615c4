/* run_line.c: a plan as a line that a shell takes. SPDX-License-Identifier: MIT */
#include "address_shown.h"
#include "run_plan.h"

void pt_plan_quote(perftrace__strbuf_t *out, const char *word) {
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                               "0123456789_@%+=:,./-";
    if (*word && word[strspn(word, safe)] == '\0') {
        perftrace__strbuf_puts(out, word);
        return;
    }
    perftrace__strbuf_putc(out, '\'');
    for (const char *c = word; *c; c++) {
        if (*c == '\'') {
            perftrace__strbuf_puts(out, "'\\''");
        } else {
            perftrace__strbuf_putc(out, *c);
        }
    }
    perftrace__strbuf_putc(out, '\'');
}

/* A variable that holds a secret, as names tell it: a word of it, or the last one, is one of
 * these. */
static bool is_secret(const char *name) {
    static const char *const words[] = {"TOKEN", "SECRET", "PASSWORD", "PASSWD"};
    for (const char *p = name; *p;) {
        size_t len = strcspn(p, "_");
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            if (len == strlen(words[i]) && memcmp(p, words[i], len) == 0) {
                return true;
            }
        }
        if (strcmp(p, "KEY") == 0) {
            return true;
        }
        p += len + (p[len] != '\0');
    }
    return false;
}

/* A secret as the shell that takes the line has it; of an address what may be shown. */
static void put_value(perftrace__strbuf_t *out, const pt_setting_t *s) {
    char shown[1024];
    if (is_secret(s->name)) {
        perftrace__strbuf_printf(out, "\"$%s\"", s->name);
    } else if (strstr(s->value, "://") || strcmp(s->name, "PERFTRACE_FORWARD") == 0) {
        perftrace__address_shown(s->value, shown, sizeof shown);
        pt_plan_quote(out, shown);
    } else {
        pt_plan_quote(out, s->value);
    }
}

void pt_plan_put_line(const pt_plan_rank_t *rank, bool with_env, perftrace__strbuf_t *out) {
    const char *blank = "";
    if (with_env && rank->env.count) {
        perftrace__strbuf_puts(out, "env");
        blank = " ";
    }
    for (size_t i = 0; with_env && i < rank->env.count; i++) {
        perftrace__strbuf_printf(out, " %s=", rank->env.items[i].name);
        if (*rank->env.items[i].value) {
            put_value(out, &rank->env.items[i]);
        }
    }
    for (size_t i = 0; i < rank->argv.count; i++) {
        perftrace__strbuf_puts(out, blank);
        pt_plan_quote(out, rank->argv.items[i]);
        blank = " ";
    }
    perftrace__strbuf_putc(out, '\n');
}
