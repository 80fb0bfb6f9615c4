/* kernel_rules.c: which class a kernel is of, by its name. SPDX-License-Identifier: MIT */
#include "kernel_rules.h"

#include "grow.h"
#include "text_copy.h"

#include <ctype.h>
#include <string.h>

static const char builtin[] = "communication\tNCCL\tnccl\n"
                              "communication\tDeepEP dispatch\tdeep_ep + dispatch\n"
                              "communication\tDeepEP combine\tdeep_ep + combine\n"
                              "communication\tDeepEP clean\tdeep_ep + clean\n"
                              "communication\tDeepEP other\tdeep_ep\n"
                              "communication\tcustom all-reduce\tcross_device_reduce | "
                              "all_reduce_one_shot | allreduce_fusion\n"
                              "compute\tFlash attention\tflash + attn\n"
                              "compute\tSparse attention\tsparse_attn\n"
                              "compute\tPaged MQA\tpaged_mqa\n"
                              "compute\tAttention\tattention | fmha\n"
                              "compute\tDeepGEMM\tdeep_gemm | sm90_fp8_gemm\n"
                              "compute\tnvjet GEMM\tnvjet\n"
                              "compute\tGEMM\tgemm | cutlass | matmul | cublas\n"
                              "compute\tRouting\ttopk\n"
                              "compute\tQuantisation\tquant\n"
                              "compute\tNormalisation\tnorm\n"
                              "compute\tTriton and fused\ttriton | fused\n"
                              "compute\tElementwise\telementwise\n"
                              "compute\tReduction and softmax\treduce | softmax\n"
                              "compute\tEmbedding\tembedding\n"
                              "memory\tCopy and set\tmemcpy | memset\n"
                              "compute\tIndex and scatter\tindex | scatter | gather\n"
                              "compute\tConcatenation\tcat + batched\n"
                              "compute\tOther\t*\n";

static const char *const group_names[PT_GROUPS] = {"compute", "communication", "memory"};

const char *pt_kernel_rules_text(void) {
    return builtin;
}

const char *pt_rule_group_name(pt_rule_group_t group) {
    return group_names[group];
}

static char *copy_lower(const char *p, size_t len) {
    char *out = pt_text_copy(p, len);
    for (size_t i = 0; out != NULL && i < len; i++) {
        out[i] = (char)tolower((unsigned char)out[i]);
    }
    return out;
}

static bool add_line(pt_kernel_rules_t *r, const char *p, size_t len, const char **ret_why) {
    const char *tab = memchr(p, '\t', len);
    const char *second = tab != NULL ? memchr(tab + 1, '\t', len - (size_t)(tab + 1 - p)) : NULL;
    *ret_why = "expected GROUP, CLASS and PATTERN, parted by tabs";
    if (second == NULL || second == tab + 1 || second + 1 == p + len) {
        return false;
    }
    pt_kernel_rule_t rule = {.group = PT_GROUPS};
    for (unsigned g = 0; g < PT_GROUPS; g++) {
        if (strlen(group_names[g]) == (size_t)(tab - p) &&
            memcmp(group_names[g], p, (size_t)(tab - p)) == 0) {
            rule.group = (pt_rule_group_t)g;
        }
    }
    if (rule.group == PT_GROUPS) {
        *ret_why = "the group must be compute, communication or memory";
        return false;
    }
    rule.name = pt_text_copy(tab + 1, (size_t)(second - tab) - 1);
    rule.pattern = copy_lower(second + 1, len - (size_t)(second + 1 - p));
    if (rule.name == NULL || rule.pattern == NULL || !PT_GROW(r, rule, rules, cap, 1)) {
        free(rule.name);
        free(rule.pattern);
        *ret_why = "out of memory";
        return false;
    }
    r->rule[r->rules++] = rule;
    return true;
}

bool pt_kernel_rules_add(pt_kernel_rules_t *r, const char *text, size_t len,
                         perftrace__strbuf_t *problem) {
    const char *p = text, *end = text + len, *why;
    for (unsigned line = 1; p < end; line++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop != NULL ? stop : end;
        size_t n = (size_t)(stop - p);
        n -= n > 0 && p[n - 1] == '\r';
        if (n > 0 && *p != '#' && !add_line(r, p, n, &why)) {
            perftrace__strbuf_printf(problem, "line %u: %s", line, why);
            return false;
        }
        p = stop + 1;
    }
    return true;
}

void pt_kernel_rules_free(pt_kernel_rules_t *r) {
    for (size_t i = 0; r != NULL && i < r->rules; i++) {
        free(r->rule[i].name);
        free(r->rule[i].pattern);
    }
    if (r != NULL) {
        free(r->rule);
        *r = (pt_kernel_rules_t){.rule = NULL};
    }
}

/* The next part of a pattern up to a separator, blanks around it taken off. */
static const char *next_part(const char **p, char separator, size_t *ret_len) {
    const char *start = *p + strspn(*p, " ");
    const char *stop = strchr(start, separator);
    const char *end = stop != NULL ? stop : start + strlen(start);
    *p = stop != NULL ? stop + 1 : end;
    while (end > start && end[-1] == ' ') {
        end--;
    }
    *ret_len = (size_t)(end - start);
    return start;
}

/* Whether a name holds a part that is in lower case, case aside. */
static bool holds(const char *name, size_t len, const char *part, size_t n) {
    for (size_t i = 0; i + n <= len; i++) {
        size_t k = 0;
        while (k < n && tolower((unsigned char)name[i + k]) == part[k]) {
            k++;
        }
        if (k == n) {
            return true;
        }
    }
    return false;
}

static bool fits_all(const char *alternative, size_t len, const char *name, size_t name_len) {
    char copy[256];
    size_t n;
    if (len == 0 || len >= sizeof copy) {
        return false;
    }
    memcpy(copy, alternative, len);
    copy[len] = '\0';
    for (const char *p = copy; *p != '\0';) {
        const char *part = next_part(&p, '+', &n);
        if (n == 0 || (!(n == 1 && *part == '*') && !holds(name, name_len, part, n))) {
            return false;
        }
    }
    return true;
}

static bool fits(const char *pattern, const char *name, size_t len) {
    for (const char *p = pattern; *p != '\0';) {
        size_t n;
        const char *alternative = next_part(&p, '|', &n);
        if (fits_all(alternative, n, name, len)) {
            return true;
        }
    }
    return false;
}

const pt_kernel_rule_t *pt_kernel_rules_find(const pt_kernel_rules_t *r, const char *name,
                                             size_t len) {
    for (size_t i = 0; i < r->rules; i++) {
        if (fits(r->rule[i].pattern, name, len)) {
            return &r->rule[i];
        }
    }
    return NULL;
}
