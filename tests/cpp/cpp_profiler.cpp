// cpp_profiler.cpp: exceptions end a stage and pass unchanged. SPDX-License-Identifier: MIT
#include <perftrace/profiler.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

int starts, stops;
std::string mark;

int start(void *, const perftrace_profiler_window_t *) {
    return starts++, 0;
}

int stop(void *, const perftrace_profiler_window_t *window) {
    stops++;
    mark = window->mark;
    return 0;
}

struct KeyError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

int body(void *arg) {
    int *calls = static_cast<int *>(arg);
    if (++*calls == 2) {
        throw KeyError("the second");
    }
    return 0;
}

void check(bool ok, const char *what) {
    if (!ok) {
        std::fprintf(stderr, "not so: %s (%d starts, %d stops, mark \"%s\")\n", what, starts, stops,
                     mark.c_str());
        std::exit(1);
    }
}

} // namespace

int main() {
    perftrace_profiler_back_end_t calls = {};
    calls.struct_size = sizeof(calls);
    calls.name = "counted";
    calls.start = start;
    calls.stop = stop;
    for (int discrete = 0; discrete < 2; discrete++) {
        perftrace_profiler_options_t options = PERFTRACE_PROFILER_OPTIONS_INIT;
        perftrace_profiler_t *profiler = nullptr;
        options.callback = &calls;
        options.discrete = discrete;
        options.schedule.active = discrete ? 0 : 3;
        starts = stops = 0;
        check(perftrace_profiler_open(&options, &profiler) == 0, "it opens");
        int called = 0;
        bool caught = false;
        for (int step = 0; step < 3; step++) {
            perftrace_profiler_step(profiler, step);
            try {
                check(perftrace_profiler_run(profiler, "train", 0, body, &called) == 0, "0 passes");
            } catch (const KeyError &error) {
                caught = std::strcmp(error.what(), "the second") == 0;
                check(stops == (discrete ? 2 : 1), "the window has ended when it is caught");
                check(mark == (discrete ? "aborted" : "aborted at step 2 of 3"), "it is marked");
            }
        }
        check(caught, "the exception came through unchanged");
        check(called == 3, "each body ran once");
        perftrace_profiler_close(profiler);
        check(starts == stops && starts == (discrete ? 3 : 1), "each start has its stop");
    }
    return 0;
}
