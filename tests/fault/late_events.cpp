// late_events.cpp: everything that can emit while a program ends. SPDX-License-Identifier: MIT
#include <perftrace/perftrace.h>

#include <cstdlib>
#include <thread>

namespace {

struct Emitter {
    const char *name;
    explicit Emitter(const char *given) : name(given) {
    }
    ~Emitter() {
        for (int i = 0; i < 50; i++) {
            PERFTRACE_SCOPE_NAMED(name, "late", PERFTRACE_INT("i", i));
            PERFTRACE_INSTANT("late.instant", "late");
        }
    }
};

Emitter before("late.static");
thread_local Emitter in_thread("late.thread_local");

void emit_at_exit() {
    for (int i = 0; i < 50; i++) {
        PERFTRACE_SCOPE("late.atexit", "late", PERFTRACE_INT("i", i));
    }
}

void emit_for_ever() {
    PERFTRACE_SCOPE("late.open", "late");
    volatile const char *touch = in_thread.name;
    (void)touch;
    for (;;) {
        PERFTRACE_SCOPE("late.detached", "late");
        PERFTRACE_COUNTER("late.counter", 1.5);
    }
}

void emit_a_little() {
    volatile const char *touch = in_thread.name;
    (void)touch;
    PERFTRACE_SCOPE("late.short", "late");
}

} // namespace

int main(int argc, char **) {
    std::atexit(emit_at_exit); // before init: runs after the tracer's own
    perftrace_init(nullptr);
    std::atexit(emit_at_exit); // runs before it
    volatile const char *touch = in_thread.name;
    (void)touch;
    std::thread(emit_for_ever).detach();
    std::thread(emit_a_little).detach();
    std::thread(emit_a_little).join();
    if (argc > 1) {
        std::this_thread::yield();
    }
    return 0;
}
