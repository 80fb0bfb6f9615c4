/* fuzz_config.c: any bytes as a configuration file, a variable and a rank list.
 * SPDX-License-Identifier: MIT
 *
 * The bytes are parsed as YAML, every value found is interpolated and read into every option, and
 * what was accepted must be acceptable again: reading an option's own value back gives the same. */
#include "config_message.h"
#include "config_path.h"
#include "config_yaml.h"
#include "rank_select.h"
#include "utf8.h"

#include <perftrace/status.h>

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok) {
    if (!ok) {
        abort();
    }
}

static const char *get_none(const char *name, void *user) {
    (void)user;
    return name[0] == 'V' ? "value" : NULL;
}

/* Reads text into one option; the value that comes out must read as itself. */
static void read_option(const perftrace__option_t *o, const char *text) {
    perftrace_config_t first = PERFTRACE_CONFIG_INIT;
    perftrace_config_t second = PERFTRACE_CONFIG_INIT;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t a = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    int status = perftrace__option_read(o, "fuzz", text, &first, &msgs);
    if (status == PERFTRACE_OK) {
        perftrace__option_put_value(o, &first, &a);
        /* A '$' or '~' that came out of an expansion may be expanded again. */
        if (o->type != PERFTRACE__OPTION_PATH) {
            check(perftrace__option_read(o, "again", perftrace__strbuf_cstr(&a), &second, NULL) ==
                  PERFTRACE_OK);
            perftrace__option_put_value(o, &second, &b);
            check(strcmp(perftrace__strbuf_cstr(&a), perftrace__strbuf_cstr(&b)) == 0);
        }
    } else {
        check(status == PERFTRACE_ERR_PARSE && msgs.len > 0);
        check(memchr(msgs.data, '\n', msgs.len) == msgs.data + msgs.len - 1);
    }
    perftrace__option_free(o, &first);
    perftrace__option_free(o, &second);
    perftrace__strbuf_free(&msgs);
    perftrace__strbuf_free(&a);
    perftrace__strbuf_free(&b);
}

static void check_component(const char *label) {
    perftrace__strbuf_t name = PERFTRACE__STRBUF_INIT;
    perftrace__path_component(&name, label, ".jsonl");
    check(name.len > 6 && name.len <= PERFTRACE__COMPONENT_MAX);
    check(perftrace__utf8_valid(name.data, name.len) && !strchr(name.data, '/'));
    perftrace__strbuf_free(&name);
}

static void use_value(const perftrace__config_doc_t *doc, const perftrace__entry_t *e,
                      size_t pick) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    char *unknown = NULL;
    int status = perftrace__config_doc_interpolate(doc, e->value, get_none, NULL, &out, &unknown);
    if (status == PERFTRACE_OK) {
        check_component(perftrace__strbuf_cstr(&out));
        read_option(&perftrace__options[pick % PERFTRACE__OPT_COUNT], perftrace__strbuf_cstr(&out));
    }
    check(perftrace__config_doc_find(doc, e->path) != NULL);
    free(unknown);
    perftrace__strbuf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    perftrace__config_doc_t doc = PERFTRACE__CONFIG_DOC_INIT;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    int status = perftrace__config_doc_parse((const char *)data, size, "fuzz", &doc, &msgs);
    if (status != PERFTRACE_OK) {
        check(doc.count == 0 && msgs.len > 0);
    }
    for (size_t i = 0; i < doc.count && i < 256; i++) {
        use_value(&doc, &doc.entries[i], i + size);
    }
    perftrace__config_doc_free(&doc);
    perftrace__strbuf_append(&text, data, PT_MIN(size, 512));
    const char *bytes = perftrace__strbuf_cstr(&text);
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        read_option(&perftrace__options[i], bytes);
    }
    int selected = -1;
    status = perftrace__rank_selected(bytes, 3, &selected);
    check(selected == 0 || selected == 1);
    check(status == PERFTRACE_OK || selected == 1);
    check_component(bytes);
    perftrace__strbuf_free(&text);
    perftrace__strbuf_free(&msgs);
    return 0;
}
