/* socket_file.h: the place of a socket in the file system. SPDX-License-Identifier: MIT
 *
 * A server that died leaves its socket file, which the next one must remove. Two that find it at
 * the same time would each remove what lies there, the second one the first one's new socket; and a
 * socket that is bound but does not listen yet looks like a dead one. So a process holds the lock
 * of
 * `<socket>.lock` from before it looks until it listens. The file is there for that time only. */
#ifndef PERFTRACE_NET_SOCKET_FILE_H
#define PERFTRACE_NET_SOCKET_FILE_H

#include "compiler.h"

#include <sys/un.h>

/* Waits for the lock, then removes a socket file that nobody listens on. 0, or -EBUSY when others
 * hold the lock for two seconds. *ret_lock is to be given to leave; -1 where there can be no lock
 * (a file system without, a folder that is not there): then it is done without one. Blocks. */
int perftrace__socket_file_enter(const struct sockaddr_un *address, int *ret_lock);
/* Ends it, once the socket listens. -1: nothing. */
void perftrace__socket_file_leave(const struct sockaddr_un *address, int lock);

#endif
