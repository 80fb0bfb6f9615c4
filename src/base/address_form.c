/* address_form.c. SPDX-License-Identifier: MIT */
#include "address_form.h"

#include <string.h>

bool perftrace__address_split(const char *to, char ret_host[256], const char **ret_port) {
    const char *colon = strrchr(to, ':');
    const char *end = colon;
    if (!colon || colon == to || !colon[1]) {
        return false;
    }
    if (*to == '[') {
        to++;
        end = colon - 1;
        if (*end != ']') {
            return false;
        }
    }
    if (end <= to || end - to >= 256) {
        return false;
    }
    memcpy(ret_host, to, (size_t)(end - to));
    ret_host[end - to] = '\0';
    *ret_port = colon + 1;
    return true;
}

static bool is_port(const char *text) {
    unsigned value = 0;
    size_t len = strspn(text, "0123456789");
    for (size_t i = 0; i < len && i < 5; i++) {
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    return len > 0 && len <= 5 && text[len] == '\0' && value > 0 && value < 65536;
}

static const char *problem_of_tcp(const char *to) {
    char host[256];
    const char *port = "";
    if (strncmp(to, "unix:", 5) == 0) {
        return to[5] != '\0' ? NULL : "unix: wants the path of a socket";
    }
    if (!perftrace__address_split(to, host, &port)) {
        return "not of the form tcp:HOST:PORT";
    }
    return is_port(port) ? NULL : "a port is a number from 1 to 65535";
}

const char *perftrace__address_problem(const char *to) {
    static const char *const nats[] = {"nats://", "tls://"};
    if (strncmp(to, "tcp:", 4) == 0) {
        return problem_of_tcp(to + (strncmp(to, "tcp://", 6) == 0 ? 6 : 4));
    }
    for (unsigned i = 0; i < sizeof nats / sizeof nats[0]; i++) {
        size_t len = strlen(nats[i]);
        if (strncmp(to, nats[i], len) == 0) {
            return to[len] != '\0' ? NULL : "the host is missing";
        }
    }
    return "it begins with none of tcp:, nats:// and tls://";
}
