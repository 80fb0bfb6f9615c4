/* listen_address.h: where a server listens (pure). SPDX-License-Identifier: MIT
 *
 * Texts: "on" (127.0.0.1 and any free port), "PORT", "HOST:PORT" with a numeric host or
 * "localhost", "[IPV6]:PORT", "unix:PATH". */
#ifndef PERFTRACE_NET_LISTEN_ADDRESS_H
#define PERFTRACE_NET_LISTEN_ADDRESS_H

#include "compiler.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/un.h>

typedef struct perftrace__listen_address {
    bool is_unix;
    bool local; /* only this machine reaches it: loopback, or a socket in the file system */
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un un;
    } to;
} perftrace__listen_address_t;

/* 0; ERR_PARSE: *ret_problem (static storage) says what is wrong. */
int perftrace__listen_address_parse(const char *text, perftrace__listen_address_t *ret,
                                    const char **ret_problem);

/* Writes the host as it stands in a URL (an IPv6 one in brackets). True when the address is that of
 * every interface, so that nobody can go to it. Not for a socket file. */
bool perftrace__listen_address_host(const perftrace__listen_address_t *address, char *out,
                                    size_t size);

#endif
