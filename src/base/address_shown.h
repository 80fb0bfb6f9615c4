/* address_shown.h: an address without its secrets. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_BASE_ADDRESS_SHOWN_H
#define PERFTRACE_BASE_ADDRESS_SHOWN_H

#include <stddef.h>

/* An address, or several with commas between them, as it may be shown: what stands before '@' (user
 * and password, or a token) is "...", and so is what can be no host. Cut where it does not fit. */
void perftrace__address_shown(const char *to, char *out, size_t size);

#endif
