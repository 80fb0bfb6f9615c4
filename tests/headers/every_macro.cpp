// every_macro.cpp: the macros as C++17, and where only C++ has a place for them.
// SPDX-License-Identifier: MIT
#include "every_macro.h"

template <typename T> static T in_template(T value) {
    PERFTRACE_FUNCTION("compute", PERFTRACE_INT("value", value));
    return value;
}

namespace {
struct object {
    object() {
        PERFTRACE_SCOPE("constructor");
    }
    ~object() {
        PERFTRACE_SCOPE("destructor");
    }
    int method() const noexcept {
        PERFTRACE_FUNCTION("misc");
        return 1;
    }
};
} // namespace

int only_cpp(int n);

int only_cpp(int n) {
    const auto lambda = [n](auto value) {
        PERFTRACE_SCOPE("lambda", "compute", PERFTRACE_INT("n", n));
        PERFTRACE_INSTANT("in lambda", "misc", PERFTRACE_DOUBLE("value", value));
        return value;
    };
    try {
        PERFTRACE_SCOPE("try");
        PERFTRACE_LAP_BEGIN(phase, "one");
        PERFTRACE_LAP(phase, "two");
        if (n < 0) {
            throw n;
        }
    } catch (int) {
        PERFTRACE_INSTANT("caught");
    }
    return in_template(n) + static_cast<int>(lambda(1.5)) + object().method();
}
