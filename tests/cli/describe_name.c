/* describe_name.c: lets the library name a file, for the tests of perf-trace-describe. Arguments:
 * role, rank, world size, host, pid, first and last step, time in ms, extension.
 * SPDX-License-Identifier: MIT */
#include <perftrace/profiler.h>

#include <stdio.h>
#include <stdlib.h>

static int64_t number(const char *text) {
    return strtoll(text, NULL, 10);
}

int main(int argc, char **argv) {
    perftrace_trace_name_t name = PERFTRACE_TRACE_NAME_INIT;
    char text[PERFTRACE_TRACE_NAME_MAX + 1];
    if (argc != 10) {
        return 2;
    }
    name.role = argv[1];
    name.rank = (int)number(argv[2]);
    name.world_size = (int)number(argv[3]);
    name.host = argv[4];
    name.pid = number(argv[5]);
    name.first_step = number(argv[6]);
    name.last_step = number(argv[7]);
    name.time_ms = number(argv[8]);
    if (perftrace_trace_basename(&name, argv[9], text, sizeof(text)) < 0) {
        return 1;
    }
    puts(text);
    return 0;
}
