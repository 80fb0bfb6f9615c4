/* html_style.c: colours and labels that the user gives to phases. SPDX-License-Identifier: MIT */
#include "html_style.h"

#include "grow.h"

#define EXPECTED "expected NAME=#RRGGBB or NAME=#RRGGBB:LABEL"

static bool is_color(const char *text, size_t len) {
    return (len == 4 || len == 7) && text[0] == '#' &&
           strspn(text + 1, "0123456789abcdefABCDEF") >= len - 1;
}

bool pt_phase_styles_add(pt_phase_styles_t *s, const char *text, perftrace__strbuf_t *problem) {
    const char *equals = strchr(text, '=');
    size_t color = equals != NULL ? strcspn(equals + 1, ":") : 0;
    if (equals == NULL || equals == text || !is_color(equals + 1, color)) {
        perftrace__strbuf_puts(problem, EXPECTED);
        return false;
    }
    const char *label = equals[1 + color] == ':' ? equals + 2 + color : "";
    pt_phase_style_t style = {strndup(text, (size_t)(equals - text)), strndup(equals + 1, color),
                              *label != '\0' ? strdup(label) : NULL};
    if (style.name == NULL || style.color == NULL || (style.label == NULL && *label != '\0') ||
        !PT_GROW(s, style, count, cap, 1)) {
        free(style.name);
        free(style.color);
        free(style.label);
        perftrace__strbuf_puts(problem, "out of memory");
        return false;
    }
    s->style[s->count++] = style;
    return true;
}

const pt_phase_style_t *pt_phase_styles_find(const pt_phase_styles_t *s, pt_name_t name) {
    for (size_t i = s->count; i > 0; i--) {
        const pt_phase_style_t *style = &s->style[i - 1];
        if (strlen(style->name) == name.len && memcmp(style->name, name.p, name.len) == 0) {
            return style;
        }
    }
    return NULL;
}

void pt_phase_styles_free(pt_phase_styles_t *s) {
    for (size_t i = 0; s != NULL && i < s->count; i++) {
        free(s->style[i].name);
        free(s->style[i].color);
        free(s->style[i].label);
    }
    if (s != NULL) {
        free(s->style);
        *s = (pt_phase_styles_t){.style = NULL};
    }
}
