/* consumer.c: a program of somebody who installed the library. SPDX-License-Identifier: MIT
 * Usage: consumer DIRECTORY; leaves a trace with one scope there. */
#include <perftrace/perftrace.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    if (argc != 2 || strcmp(perftrace_version(), PERFTRACE_VERSION) != 0) {
        fprintf(stderr, "library %s, header %s\n", perftrace_version(), PERFTRACE_VERSION);
        return 1;
    }
    config.dir = argv[1];
    config.log_stderr = 1;
    const int status = perftrace_init(&config);
    if (status != 0) {
        fprintf(stderr, "%s\n", perftrace_status_text(status));
        return 1;
    }
    { PERFTRACE_SCOPE("consumer.scope", "compute", PERFTRACE_INT("answer", 42)); }
    return perftrace_shutdown() == 0 ? 0 : 1;
}
