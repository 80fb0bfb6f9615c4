// cpp_sessions.cpp: phases of sessions in C++: a phase ends when an exception leaves its block, a
// payload may be a temporary, sessions on several threads overlap. SPDX-License-Identifier: MIT
#include <perftrace/perftrace.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

int failures;

void check(bool so, const char *what) {
    if (!so) {
        std::fprintf(stderr, "not so: %s\n", what);
        failures++;
    }
}

std::string text(int i) {
    return "temporary, long enough to lie on the heap: " + std::to_string(i);
}

void fail_in_reward(int64_t session) {
    PERFTRACE_SESSION_PHASE_OF(session, "reward", PERFTRACE_STRING("why", text(7).c_str()));
    throw std::runtime_error("thrown");
}

void episode(int64_t task) {
    const int64_t session = perftrace_session_register(task);
    perftrace_session_set_current(session);
    {
        PERFTRACE_SESSION_PHASE("generate");
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    try {
        fail_in_reward(session);
    } catch (const std::exception &) {
    }
    perftrace_session_finalize(session, PERFTRACE_FAILED, "workflow_exception");
}

double number_after(const std::string &line, const std::string &key) {
    const size_t at = line.find(key);
    return at == std::string::npos ? -1 : std::strtod(line.c_str() + at + key.size(), nullptr);
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
    config.session_enabled = 1;
    check(perftrace_init(&config) == 0, "the tracer starts");
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++) {
        threads.emplace_back(episode, i);
    }
    for (std::thread &t : threads) {
        t.join();
    }
    check(perftrace_shutdown() == 0, "the tracer ends");

    const std::string path = std::string(dir) + "/sessions-r0.jsonl";
    std::ifstream file(path);
    std::vector<double> submit, finalized;
    for (std::string line; std::getline(file, line);) {
        submit.push_back(number_after(line, "\"submit_ts\": "));
        finalized.push_back(number_after(line, "\"finalized_ts\": "));
        check(line.find("\"status\": \"failed\", \"reason\": \"workflow_exception\"") !=
                  std::string::npos,
              "status and reason are in the record");
        check(number_after(line, "\"generate_s\": ") >= 0.030, "generate_s is the time slept");
        check(number_after(line, "\"reward_s\": ") >= 0, "the phase that was left by throw ended");
        check(line.find("null") == std::string::npos, "no phase is open");
        check(line.find("\"why\": \"" + text(7) + "\"") != std::string::npos,
              "a temporary was copied");
    }
    check(submit.size() == 2, "each session has one record");
    if (submit.size() == 2) {
        check(submit[0] < finalized[1] && submit[1] < finalized[0], "the sessions overlap");
    }
    for (const char *name : {"/sessions-r0.jsonl", "/traces-r0.jsonl"}) {
        unlink((std::string(dir) + name).c_str());
    }
    rmdir(dir);
    return failures ? 1 : 0;
}
