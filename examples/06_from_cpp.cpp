// 06_from_cpp.cpp: the same macros in C++: exceptions, lambdas, several scopes on a line.
// SPDX-License-Identifier: MIT
#include <perftrace/perftrace.h>

#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

double evaluate(const std::vector<double> &values) {
    PERFTRACE_FUNCTION("compute", PERFTRACE_UINT("values", values.size()));
    if (values.empty()) {
        throw std::invalid_argument("nothing to evaluate"); // the scope ends here
    }
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

int main() {
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    config.role = "eval";
    perftrace_init(&config);
    perftrace_thread_set_name("evaluator");

    double sum = 0.0;
    const auto step = [&sum](int number) {
        const std::string name = "batch-" + std::to_string(number);
        PERFTRACE_SCOPE_NAMED(name.c_str(), "compute", PERFTRACE_INT("number", number));
        sum += evaluate(std::vector<double>(1000, number));
    };
    for (int number = 0; number < 10; number++) {
        step(number);
    }
    try {
        // clang-format off
        PERFTRACE_SCOPE("outer"); PERFTRACE_SCOPE("inner", "misc");
        // clang-format on
        sum += evaluate({});
    } catch (const std::exception &error) {
        PERFTRACE_INSTANT("exception", "misc", PERFTRACE_STRING("what", error.what()));
    }
    std::printf("%.1f\n", sum);
    return perftrace_shutdown() == 0 ? 0 : 1;
}
