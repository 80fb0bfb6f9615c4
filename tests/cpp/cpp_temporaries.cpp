/* cpp_temporaries.cpp: string arguments that die with their full expression.
 * SPDX-License-Identifier: MIT
 *
 * PERFTRACE_STRING("s", std::string(...).c_str()) is what C++ programs write. Each string is longer
 * than any small-string buffer, so a copy that came too late would read freed memory. */
#include <perftrace/perftrace.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace {

std::string made(const char *tail) {
    return std::string(100, 'q') + tail;
}

void emit() {
    {
        PERFTRACE_SCOPE("scope", "io", PERFTRACE_STRING("a", made("1").c_str()),
                        PERFTRACE_INT("n", 3), PERFTRACE_STRING("b", made("2").c_str()));
    }
    PERFTRACE_INSTANT("instant", "io", PERFTRACE_STRING("a", made("3").c_str()),
                      PERFTRACE_INT("n", 4));
    PERFTRACE_INSTANT_NAMED(made("N1").c_str(), "io", PERFTRACE_STRING("a", made("4").c_str()));
    perftrace_span_t span;
    PERFTRACE_BEGIN(&span, "span", "io", PERFTRACE_STRING("a", made("5").c_str()));
    PERFTRACE_END(&span);
    {
        PERFTRACE_LAP_BEGIN(lap, "lap.1", "io", PERFTRACE_STRING("a", made("6").c_str()));
        PERFTRACE_LAP(lap, "lap.2", "io", PERFTRACE_STRING("a", made("7").c_str()));
    }
    { PERFTRACE_SCOPE_NAMED(made("N2").c_str(), "io", PERFTRACE_STRING("a", made("8").c_str())); }
    PERFTRACE_ASYNC_BEGIN("async", "io", 1, PERFTRACE_STRING("a", made("9").c_str()));
}

} // namespace

int main() {
    char dir[] = "/tmp/perftrace-cpp-XXXXXX";
    if (!mkdtemp(dir)) {
        return 1;
    }
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    config.dir = dir;
    config.rank = 0;
    if (perftrace_init(&config) != 0) {
        return 1;
    }
    emit();
    perftrace_shutdown();
    const std::string path = std::string(dir) + "/traces-r0.jsonl";
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    int missing = 0;
    for (const char *tail : {"1", "2", "3", "4", "5", "6", "7", "8", "9", "N1", "N2"}) {
        if (text.str().find("\"" + made(tail) + "\"") == std::string::npos) {
            std::printf("the string that ends in %s is not in the trace\n", tail);
            missing++;
        }
    }
    unlink(path.c_str());
    rmdir(dir);
    return missing ? 1 : 0;
}
