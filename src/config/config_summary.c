/* config_summary.c: the settings in force, in one line. SPDX-License-Identifier: MIT */
#include "address_shown.h"
#include "config_resolve.h"
#include "utf8.h"

#define VALUE_MAX 200 /* bytes of a value; a longer one is cut */

/* Appends "name=value". A secret is only told to be there. */
static void put_setting(const perftrace__config_t *c, size_t i, perftrace__strbuf_t *out) {
    const perftrace__option_t *o = &perftrace__options[i];
    perftrace__strbuf_t value = PERFTRACE__STRBUF_INIT;
    perftrace__option_put_value(o, &c->opt, &value);
    const bool secret = i == PERFTRACE__OPT_control_token || i == PERFTRACE__OPT_forward_token;
    const char *text = secret ? "(set)" : perftrace__strbuf_cstr(&value);
    char shown[VALUE_MAX * 2];
    if (i == PERFTRACE__OPT_forward) { /* a password may stand in it */
        perftrace__address_shown(text, shown, sizeof shown);
        text = shown;
    }
    const size_t len = strlen(text);
    const size_t keep = perftrace__utf8_cut(text, len, VALUE_MAX);
    perftrace__strbuf_printf(out, "%s=", o->field);
    perftrace__strbuf_append(out, text, keep);
    perftrace__strbuf_puts(out, keep < len ? "..." : "");
    out->failed = out->failed || value.failed;
    perftrace__strbuf_free(&value);
}

/* Appends what one source gave: "a=1, b=2 (environment)". */
static void put_source(const perftrace__config_t *c, perftrace__config_source_t source,
                       const char *name, perftrace__strbuf_t *out) {
    size_t count = 0;
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        if (c->source[i] == source) {
            perftrace__strbuf_puts(out, count ? ", " : out->len ? "; " : "");
            put_setting(c, i, out);
            count++;
        }
    }
    if (count) {
        perftrace__strbuf_printf(out, " (%s)", name);
    }
}

void perftrace__config_put_summary(const perftrace__config_t *c, perftrace__strbuf_t *out) {
    perftrace__strbuf_t given = PERFTRACE__STRBUF_INIT;
    put_source(c, PERFTRACE__SOURCE_PROGRAM, "program", &given);
    put_source(c, PERFTRACE__SOURCE_VARIABLE, "environment", &given);
    put_source(c, PERFTRACE__SOURCE_FILE, c->opt.config_path, &given);
    put_source(c, PERFTRACE__SOURCE_LAUNCHER, c->launcher[0] ? c->launcher : "launcher", &given);
    if (given.len) {
        const size_t from = out->len;
        perftrace__strbuf_printf(out, "settings: %s; all else by default",
                                 perftrace__strbuf_cstr(&given));
        for (size_t i = from; i < out->len; i++) {
            out->data[i] = (unsigned char)out->data[i] < ' ' ? '?' : out->data[i]; /* one line */
        }
    } else {
        perftrace__strbuf_puts(out, "settings: none was given, by the program, the environment, a "
                                    "file or a launcher: all is by default");
    }
    out->failed = out->failed || given.failed;
    perftrace__strbuf_free(&given);
}
