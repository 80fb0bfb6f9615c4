/* address_form.h: what an address to forward to looks like. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_BASE_ADDRESS_FORM_H
#define PERFTRACE_BASE_ADDRESS_FORM_H

#include <stdbool.h>

/* HOST:PORT or [IPV6]:PORT into its parts; *ret_port points into `to`. False: no such form. */
bool perftrace__address_split(const char *to, char ret_host[256], const char **ret_port);

/* What is wrong with the form of tcp:HOST:PORT, tcp:unix:PATH, nats://... or tls://...; NULL:
 * nothing. Whether somebody is there is not asked. */
const char *perftrace__address_problem(const char *to);

#endif
