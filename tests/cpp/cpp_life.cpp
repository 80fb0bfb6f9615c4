// cpp_life.cpp: C++ objects that trace while they come and go. SPDX-License-Identifier: MIT
//
// Without arguments it is the test: it runs itself as a child again and again (argument: a folder)
// and reads what that wrote.
#include <perftrace/perftrace.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

struct Traced {
    explicit Traced(const char *text) : name(text) {
        PERFTRACE_SCOPE("construct", "misc", PERFTRACE_STRING("who", name.c_str()));
    }
    ~Traced() {
        PERFTRACE_SCOPE("destroy", "misc", PERFTRACE_STRING("who", name.c_str()));
        PERFTRACE_INSTANT("destroyed");
    }
    Traced(const Traced &) = delete;
    Traced &operator=(const Traced &) = delete;
    std::string name;
};

// Constructed before main and so before init: destroyed after the tracer has gone.
Traced at_static_level("static");

thread_local std::unique_ptr<Traced> of_thread;

void fail_inside(int depth) {
    PERFTRACE_FUNCTION("compute", PERFTRACE_INT("depth", depth));
    if (depth == 0) {
        throw std::runtime_error("thrown");
    }
    fail_inside(depth - 1);
}

template <typename T> T twice(T value) {
    PERFTRACE_SCOPE("template", "compute", PERFTRACE_DOUBLE("value", value));
    return value + value;
}

inline int in_a_header(int n) {
    PERFTRACE_SCOPE("inline", "compute", PERFTRACE_INT("n", n));
    return n;
}

enum class Phase : int { forward = 3 };

void trace(const char *dir) {
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    config.dir = dir;
    config.ring_dir = dir;
    config.rank = 0;
    config.ring_size = 65536;
    if (perftrace_init(&config) != 0) {
        std::_Exit(1);
    }
    static Traced in_function("function static"); // destroyed before the tracer's end
    of_thread = std::make_unique<Traced>("thread_local main");
    try {
        PERFTRACE_SCOPE("try");
        fail_inside(3);
    } catch (const std::runtime_error &) {
        PERFTRACE_INSTANT("caught", "misc");
    }
    const auto lambda = [](int n) {
        PERFTRACE_SCOPE("lambda", "compute", PERFTRACE_INT("n", n));
        return [n] {
            PERFTRACE_SCOPE("lambda.inner");
            return n;
        }();
    };
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += lambda(i) + in_a_header(i);
    }
    const std::function<void()> function = [] { PERFTRACE_INSTANT("function"); };
    function();
    sum += static_cast<int>(twice(1.5) + twice(2));
    // clang-format off
    { PERFTRACE_SCOPE("line.a"); PERFTRACE_SCOPE("line.b"); }
    // clang-format on
    PERFTRACE_LAP_BEGIN(phase, "lap.one", "compute");
    PERFTRACE_LAP(phase, "lap.two", "comm");
    PERFTRACE_LAP_END(phase);
    perftrace_span_t span;
    PERFTRACE_BEGIN(&span, "span", "io", PERFTRACE_INT("phase", static_cast<int>(Phase::forward)),
                    PERFTRACE_BOOL("yes", true), PERFTRACE_UINT("sum", sum));
    PERFTRACE_END(&span);
    PERFTRACE_COUNTERS("counters", "misc", PERFTRACE_DOUBLE("a", 0.5F), PERFTRACE_INT("b", 2L));
    PERFTRACE_FLOW_START("flow", "ipc", 1U);
    const std::string text = "text";
    PERFTRACE_ASYNC_BEGIN("async", "net", 7, PERFTRACE_STRING("s", text.c_str()));
    PERFTRACE_ASYNC_END("async", "net", 7);
    const std::string made = "made." + std::to_string(sum);
    { PERFTRACE_SCOPE_NAMED(made.c_str(), "compute"); }
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
        threads.emplace_back([] {
            of_thread = std::make_unique<Traced>("thread_local");
            PERFTRACE_SCOPE("in.thread");
        });
    }
    for (auto &t : threads) {
        t.join();
    }
    // Nobody waits for this one: it traces while everything is taken down.
    std::thread([] {
        for (;;) {
            PERFTRACE_SCOPE("detached", "compute", PERFTRACE_STRING("s", "text"));
            std::this_thread::yield();
        }
    }).detach();
}

std::size_t count(const std::string &text, const std::string &what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        n++;
    }
    return n;
}

int failures = 0;

void expect(const std::string &text, const char *name, std::size_t want) {
    const auto n = count(text, std::string("{\"name\": \"") + name + "\"");
    if (n != want) {
        std::cerr << name << ": " << n << " instead of " << want << '\n';
        failures++;
    }
}

void expect_who(const std::string &text, const char *name, const char *who, std::size_t want) {
    std::istringstream lines(text);
    std::size_t n = 0;
    for (std::string line; std::getline(lines, line);) {
        n += count(line, std::string("{\"name\": \"") + name) != 0 &&
             count(line, std::string("\"who\": \"") + who + "\"") != 0;
    }
    if (n != want) {
        std::cerr << name << " of " << who << ": " << n << " instead of " << want << '\n';
        failures++;
    }
}

void check(const std::string &text) {
    expect(text, "try", 1);
    expect(text, "fail_inside", 4);
    expect(text, "caught", 1);
    expect(text, "lambda", 3);
    expect(text, "lambda.inner", 3);
    expect(text, "inline", 3);
    expect(text, "function", 1);
    expect(text, "template", 2);
    expect(text, "line.a", 1);
    expect(text, "line.b", 1);
    expect(text, "lap.one", 1);
    expect(text, "lap.two", 1);
    expect(text, "span", 1);
    expect(text, "counters", 1);
    expect(text, "flow", 1);
    expect(text, "async", 2);
    expect(text, "in.thread", 4);
    expect_who(text, "destroy", "function static", 1);
    expect_who(text, "destroy", "thread_local main", 1);
    expect_who(text, "destroy", "thread_local", 4);
    expect_who(text, "destroy", "static", 0); // late
    expect_who(text, "construct", "static", 0);
    expect(text, "perftrace_footer", 1);
}

std::string read(const std::string &path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

int run_once(const char *self) {
    char dir[] = "/tmp/perftrace-cpp-XXXXXX";
    if (mkdtemp(dir) == nullptr) {
        return 1;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        execl(self, self, dir, static_cast<char *>(nullptr));
        _exit(127);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    if (status != 0) {
        std::cerr << "the child ended with " << status << '\n';
        failures++;
    }
    check(read(std::string(dir) + "/traces-r0.jsonl"));
    const std::string command = std::string("rm -r ") + dir;
    if (std::system(command.c_str()) != 0) {
        failures++;
    }
    return failures;
}

} // namespace

int main(int argc, char **argv) {
    if (argc > 1 && argv[1][0] == '/') {
        trace(argv[1]);
        return 0;
    }
    const int runs = argc > 1 ? std::atoi(argv[1]) : 1;
    for (int i = 0; i < runs; i++) {
        if (run_once(argv[0]) != 0) {
            std::cerr << "in run " << i << '\n';
            return 1;
        }
    }
    return 0;
}
