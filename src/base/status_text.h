/* status_text.h: names of status codes. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_BASE_STATUS_TEXT_H
#define PERFTRACE_BASE_STATUS_TEXT_H

#include <perftrace/status.h>

/* The English text of a status code; "unknown status" for any other number. Static storage. */
const char *perftrace__status_text(int status);

/* The status code that fits an errno value best. */
int perftrace__status_from_errno(int err);

#endif
