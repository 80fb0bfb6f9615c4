#!/usr/bin/env bash
# symbols.sh LIBRARY SOURCE CC: the shared library exports what its version script lists, no more and
# no less, and each of these is declared in a public header. SPDX-License-Identifier: MIT
set -u
library=$1 source=$2 cc=$3
status=0

complain() {
    printf '%s\n' "$*"
    status=1
}

listed=$(sed -n 's/^ *\([a-z][a-z0-9_]*\);$/\1/p' "$source/src/libperftrace.map" | LC_ALL=C sort)
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    LC_ALL=C sort)
declared=$(printf '#include <perftrace/%s.h>\n' bindings profiler |
    "$cc" -std=c11 -I"$source/include" -E -P - | tr '\n' ' ' | sed 's,[;{}],\n,g' |
    grep -F 'visibility("default")' |
    grep -oE '\bperftrace_[a-z0-9_]+ *\(|\bperftrace_i_thread *$' |
    grep -v 'perftrace_log_fn' | tr -d "( *" | LC_ALL=C sort -u)

if [ -z "$listed" ] || [ -z "$exported" ] || [ -z "$declared" ]; then
    complain "nothing to compare"
fi
[ "$listed" = "$exported" ] || complain "version script and library differ:
$(diff <(printf '%s\n' "$listed") <(printf '%s\n' "$exported"))"
[ "$listed" = "$declared" ] || complain "version script and headers differ:
$(diff <(printf '%s\n' "$listed") <(printf '%s\n' "$declared"))"

# One version for all of them, and the soname that goes with it.
nm -D --defined-only --with-symbol-versions "$library" | grep ' [TDB] ' | grep -v '@@PERFTRACE_0.1$' &&
    complain "these symbols have no version"
readelf -d "$library" | grep -q 'SONAME.*\[libperftrace.so.0\]' || complain "another soname"
readelf -d "$library" | grep -q 'NODELETE' || complain "the library could be unloaded under a thread"
readelf -W -d "$library" | grep -q 'TEXTREL' && complain "text relocations"
readelf -W -l "$library" | grep -q 'GNU_STACK.*RWE' && complain "an executable stack"

printf '%s symbols compared\n' "$(printf '%s\n' "$listed" | wc -l)"
exit "$status"
