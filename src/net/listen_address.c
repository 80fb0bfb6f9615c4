/* listen_address.c: where a server listens. SPDX-License-Identifier: MIT */
#include "listen_address.h"

#include <arpa/inet.h>
#include <perftrace/status.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int problem(const char **ret_problem, const char *text) {
    *ret_problem = text;
    return PERFTRACE_ERR_PARSE;
}

static bool parse_port(const char *text, in_port_t *ret) {
    char *end;
    if (*text < '0' || *text > '9') {
        return false;
    }
    unsigned long port = strtoul(text, &end, 10);
    *ret = htons((uint16_t)port);
    return *end == '\0' && port <= 65535;
}

static int parse_unix(const char *path, perftrace__listen_address_t *ret,
                      const char **ret_problem) {
    size_t len = strlen(path);
    if (len == 0) {
        return problem(ret_problem, "a path belongs behind unix:");
    }
    if (len >= sizeof ret->to.un.sun_path) {
        return problem(ret_problem, "the path of a socket has at most 107 bytes");
    }
    ret->is_unix = ret->local = true;
    ret->to.un.sun_family = AF_UNIX;
    memcpy(ret->to.un.sun_path, path, len + 1);
    return PERFTRACE_OK;
}

static int parse_host(const char *host, in_port_t port, perftrace__listen_address_t *ret,
                      const char **ret_problem) {
    if (strcmp(host, "localhost") == 0) {
        host = "127.0.0.1";
    }
    if (inet_pton(AF_INET, host, &ret->to.v4.sin_addr) == 1) {
        ret->to.v4.sin_family = AF_INET;
        ret->to.v4.sin_port = port;
        ret->local = ntohl(ret->to.v4.sin_addr.s_addr) >> 24 == 127;
        return PERFTRACE_OK;
    }
    if (inet_pton(AF_INET6, host, &ret->to.v6.sin6_addr) == 1) {
        ret->to.v6.sin6_family = AF_INET6;
        ret->to.v6.sin6_port = port;
        ret->local = IN6_IS_ADDR_LOOPBACK(&ret->to.v6.sin6_addr) != 0;
        return PERFTRACE_OK;
    }
    return problem(ret_problem, "the host is a number (127.0.0.1, [::1]) or localhost");
}

int perftrace__listen_address_parse(const char *text, perftrace__listen_address_t *ret,
                                    const char **ret_problem) {
    memset(ret, 0, sizeof *ret);
    in_port_t port = 0;
    if (strncmp(text, "unix:", 5) == 0) {
        return parse_unix(text + 5, ret, ret_problem);
    }
    if (strcmp(text, "on") == 0 || strcmp(text, "true") == 0 || strcmp(text, "yes") == 0) {
        return parse_host("127.0.0.1", 0, ret, ret_problem);
    }
    const char *colon = strrchr(text, ':');
    if (!parse_port(colon != NULL ? colon + 1 : text, &port)) {
        return problem(ret_problem, "a port is a number from 0 (any free one) to 65535");
    }
    if (colon == NULL) {
        return parse_host("127.0.0.1", port, ret, ret_problem);
    }
    char host[64];
    size_t len = (size_t)(colon - text);
    bool brackets = len >= 2 && text[0] == '[' && colon[-1] == ']';
    if (brackets) {
        text++;
        len -= 2;
    }
    if (len == 0 || len >= sizeof host || (!brackets && memchr(text, ':', len) != NULL)) {
        return problem(ret_problem, "an address is HOST:PORT, [IPV6]:PORT, PORT or unix:PATH");
    }
    memcpy(host, text, len);
    host[len] = '\0';
    return parse_host(host, port, ret, ret_problem);
}

bool perftrace__listen_address_host(const perftrace__listen_address_t *a, char *out, size_t size) {
    char text[INET6_ADDRSTRLEN] = "";
    bool v4 = a->to.any.sa_family == AF_INET;
    if (v4) {
        inet_ntop(AF_INET, &a->to.v4.sin_addr, text, sizeof text);
    } else {
        inet_ntop(AF_INET6, &a->to.v6.sin6_addr, text, sizeof text);
    }
    snprintf(out, size, v4 ? "%s" : "[%s]", text);
    return v4 ? a->to.v4.sin_addr.s_addr == htonl(INADDR_ANY)
              : IN6_IS_ADDR_UNSPECIFIED(&a->to.v6.sin6_addr) != 0;
}
