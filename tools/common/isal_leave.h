/* isal_leave.h: what is to be done after every call into ISA-L. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_COMMON_ISAL_LEAVE_H
#define PERFTRACE_COMMON_ISAL_LEAVE_H

/* ISA-L's assembly leaves the upper halves of the vector registers in use. Code compiled for plain
 * x86-64 that runs afterwards in the same thread, zlib and our own scanners, is then slowed down a
 * good deal (zlib's deflate by 1.6 on an EPYC). Clearing them costs a cycle or two. */
void pt_isal_leave(void);

#endif
