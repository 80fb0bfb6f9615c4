/* run_line.c: a plan as a line that a shell takes. SPDX-License-Identifier: MIT */
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

void pt_plan_put_line(const pt_plan_rank_t *rank, bool with_env, perftrace__strbuf_t *out) {
    const char *blank = "";
    if (with_env && rank->env.count) {
        perftrace__strbuf_puts(out, "env");
        blank = " ";
    }
    for (size_t i = 0; with_env && i < rank->env.count; i++) {
        perftrace__strbuf_printf(out, " %s=", rank->env.items[i].name);
        if (*rank->env.items[i].value) {
            pt_plan_quote(out, rank->env.items[i].value);
        }
    }
    for (size_t i = 0; i < rank->argv.count; i++) {
        perftrace__strbuf_puts(out, blank);
        pt_plan_quote(out, rank->argv.items[i]);
        blank = " ";
    }
    perftrace__strbuf_putc(out, '\n');
}
