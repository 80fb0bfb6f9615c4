/* kernel_rules.h: which class a kernel is of, by its name. SPDX-License-Identifier: MIT
 *
 * Rules are text, one a line, the first that fits counts:
 *
 *     GROUP  CLASS  PATTERN
 *
 * parted by tabs. GROUP is compute, communication or memory. A pattern is a part of the name, case
 * aside; `a + b` wants both, `a | b` one of them, `*` fits everything. Lines that begin with # are
 * comments. Rules of a file stand before the built-in ones. Pure but for memory. */
#ifndef PERFTRACE_ANALYZE_KERNEL_RULES_H
#define PERFTRACE_ANALYZE_KERNEL_RULES_H
#include "strbuf.h"

typedef enum pt_rule_group {
    PT_GROUP_COMPUTE,
    PT_GROUP_COMMUNICATION,
    PT_GROUP_MEMORY,
    PT_GROUPS
} pt_rule_group_t;

typedef struct pt_kernel_rule {
    pt_rule_group_t group;
    char *name;    /* of the class */
    char *pattern; /* in lower case */
} pt_kernel_rule_t;

typedef struct pt_kernel_rules {
    pt_kernel_rule_t *rule;
    size_t rules, cap;
} pt_kernel_rules_t;

/* The built-in rules, as text of the form above. */
const char *pt_kernel_rules_text(void);
/* Adds the rules of a text behind those that are there. False: *ret_problem says what is wrong with
 * which line (or that memory ran out). */
bool pt_kernel_rules_add(pt_kernel_rules_t *rules, const char *text, size_t len,
                         perftrace__strbuf_t *ret_problem);
void pt_kernel_rules_free(pt_kernel_rules_t *rules); /* accepts NULL; usable again */

/* The first rule that fits; the last rule of the built-in ones fits everything. NULL: no rule. */
const pt_kernel_rule_t *pt_kernel_rules_find(const pt_kernel_rules_t *rules, const char *name,
                                             size_t len);

const char *pt_rule_group_name(pt_rule_group_t group);

#endif
