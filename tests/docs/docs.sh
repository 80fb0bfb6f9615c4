#!/usr/bin/env bash
# docs.sh PART SOURCE WORK CC: compares the documents with the sources. SPDX-License-Identifier: MIT
#
# manual     the pages of docs/man: complete, linked to, clean
# examples   programs shown in README.md and in the pages compile
# files      links between documents, and names of files in them, lead somewhere
# threading  functions that docs/THREADING.md pairs are where it says
# problems   what a tool can say of its input is explained
# shellcheck disable=SC2016 # backquotes are what is looked for
set -u
part=$1 source=$2 work=$3 cc=$4
failed=0 count=0

# check OK MESSAGE: OK is 0 where all is well.
check() {
    count=$((count + 1))
    if [ "$1" -ne 0 ]; then
        printf 'FAILED: %s\n' "$2"
        failed=$((failed + 1))
    fi
}

mkdir -p "$work"
cd "$source" || exit 1

# ---- what a program may use ---------------------------------------------------------------------

public_functions() {
    cat include/perftrace/*.h | tr '\n' ' ' |
        grep -oE 'PERFTRACE_API [^;()]*\bperftrace_[a-z0-9_]+\(' |
        grep -oE 'perftrace_[a-z0-9_]+\($' | tr -d '(' | grep -v '^perftrace_i_' | sort -u
}

# Macros that stand in a program as a statement or an argument.
public_macros() {
    grep -ohE '^# *define PERFTRACE_[A-Z0-9_]+\(' include/perftrace/macros.h \
        include/perftrace/session.h include/perftrace/timer.h |
        grep -oE 'PERFTRACE_[A-Z0-9_]+' | grep -v '^PERFTRACE_I_' | sort -u
}

# Constants: plain macros, and what the lists expand to.
public_constants() {
    local headers=(include/perftrace/perftrace.h include/perftrace/config.h
        include/perftrace/status.h include/perftrace/session.h include/perftrace/profiler.h)
    cat "${headers[@]}" | grep -oE '^ *# *define PERFTRACE_[A-Z0-9_]+|^ +PERFTRACE_[A-Z_]+ = ' |
        grep -oE 'PERFTRACE_[A-Z0-9_]+' | grep -vE '_H$|^PERFTRACE_(I_|API$)'
    expand PERFTRACE_DROP_LIST include/perftrace/perftrace.h | sed 's/^/PERFTRACE_DROP_/'
    expand PERFTRACE_STATUS_LIST include/perftrace/status.h | sed 's/^/PERFTRACE_/'
}

# expand LIST FILE: the first arguments of a list of X(...).
expand() {
    awk -v list="define $1" 'index($0, list) { on = 1; next }
        on && match($0, /X\([A-Za-z0-9_]+/) { print substr($0, RSTART + 2, RLENGTH - 2) }
        on && !/\\$/ { on = 0 }' "$2"
}

# The pages that are written; the others send to one of them.
pages=(docs/man/perftrace.3 docs/man/perftrace_session.3 docs/man/perftrace_bindings.3
    docs/man/perftrace_profiler.3 docs/man/perftrace_control.3 docs/man/perftrace_timer.3
    docs/man/perftrace.7)

# home_of NAME: the page that describes a function or macro.
home_of() {
    case $1 in
    perftrace_bound_*) echo perftrace_bindings.3 ;;
    perftrace_schedule_* | perftrace_profiler_* | PERFTRACE_PROFILER_*) echo perftrace_profiler.3 ;;
    perftrace_trace_basename | perftrace_trace_describe | perftrace_trace_create | perftrace_trace_relocate) echo perftrace_profiler.3 ;;
    perftrace_hold | perftrace_control_*) echo perftrace_control.3 ;;
    perftrace_timer_* | perftrace_timers_* | PERFTRACE_TIMER*) echo perftrace_timer.3 ;;
    *_session_* | *_SESSION_* | *_task_* | *_context_*) echo perftrace_session.3 ;;
    *) echo perftrace.3 ;;
    esac
}

# says WORD PAGE: whether a page contains a word.
says() {
    grep -qw -- "$1" "$work/${2##*/}.text"
}

# ---- parts --------------------------------------------------------------------------------------

manual() {
    local page name home target version said lint=none
    # As a reader sees it: no escapes, no requests.
    for page in "${pages[@]}"; do
        sed -e 's/\\-/-/g' -e 's/\\&//g' "$page" >"$work/${page##*/}.text"
    done
    diff <(public_functions) <(grep -oE '\bperftrace_[a-z0-9_]+;' src/libperftrace.map |
        tr -d ';' | grep -v '^perftrace_i_' | sort) >&2
    check $? 'the headers declare what src/libperftrace.map exports'
    for name in $(public_functions) $(public_macros); do
        home=$(home_of "$name")
        says "$name" "$home"
        check $? "$home does not describe $name"
        test -f "docs/man/$name.3"
        check $? "docs/man/$name.3 is missing; it should say: .so man3/$home"
    done
    for name in $(public_constants); do
        says "$name" perftrace.3 || says "$name" perftrace_session.3 ||
            says "$name" perftrace_profiler.3
        check $? "no page of section 3 names $name"
    done
    for name in $(grep -oE '"PERFTRACE_[A-Z_]+"' src/config/config_table.h | tr -d '"' |
        grep -vE '_$'); do
        says "$name" perftrace.7
        check $? "perftrace.7 does not describe the variable $name"
    done
    for page in docs/man/*.3; do
        [[ " ${pages[*]} " != *" $page "* ]] || continue
        name=${page##*/}
        target=$(cat "$page")
        test "$target" = ".so man3/$(home_of "${name%.3}")"
        check $? "$page holds: $target"
        { public_functions && public_macros; } | grep -qx "${name%.3}"
        check $? "$page is the page of nothing"
    done
    version=$(sed -nE 's/^#define PERFTRACE_VERSION +"(.*)"/\1/p' include/perftrace/perftrace.h)
    for page in "${pages[@]}"; do
        grep -qE "^\.TH PERFTRACE(_SESSION|_BINDINGS|_PROFILER|_CONTROL|_TIMER)? [37] [0-9-]+ \"perftrace $version\"" "$page"
        check $? "$page is not of version $version"
        if command -v mandoc >/dev/null; then
            lint=mandoc
            said=$(mandoc -T lint "$page" 2>&1)
            check $? "mandoc: $said"
        fi
        if command -v groff >/dev/null && [ -d /usr/share/groff/current/font/devutf8 ]; then
            [ $lint != none ] || lint=groff
            said=$(groff -man -ww -Tutf8 "$page" 2>&1 >"$work/out")
            test -z "$said" && test -s "$work/out"
            check $? "groff: $said"
        fi
    done
    [ $lint != none ] || printf 'neither mandoc nor groff is here: pages were not formatted\n'
}

# Splits the programs of a document into $work/PREFIX-N.c: README.md's ```c blocks, a page's .EX
# blocks that include the header.
split_programs() {
    case $1 in
    *.md) awk -v out="$work/$2-" '/^```c$/ { on = 1; file = out (++n) ".c"; printf "" >file; next }
        /^```$/ { on = 0 } on { print >file }' "$1" ;;
    *) sed -e 's/\\-/-/g' -e 's/\\&//g' -e 's/\\e/\\/g' "$1" |
        awk -v out="$work/$2-" '/^\.EE/ { on = 0 } on { print >file }
            /^\.EX/ { begin = 1; next }
            begin { begin = 0
                    if (/^#include <perftrace/) { on = 1; file = out (++n) ".c"; print >file } }' ;;
    esac
}

examples() {
    local document program said prefix programs
    rm -f "$work"/*.c
    printf 'void forward(void);\nvoid backward(void);\nvoid allreduce(void);\nvoid work(void);\n%s\n' \
        'double loss(void);' >"$work/stubs.h"
    for document in README.md "${pages[@]}"; do
        prefix=${document##*/}
        split_programs "$document" "$prefix"
        programs=("$work/$prefix"-*.c)
        test -e "${programs[0]}"
        check $? "$document shows no program"
        for program in "$work/$prefix"-*.c; do
            [ -e "$program" ] || continue
            said=$("$cc" -std=c11 -pedantic -Wall -Wextra -Werror -D_GNU_SOURCE -I include \
                -include "$work/stubs.h" -c "$program" -o "$work/program.o" 2>&1)
            check $? "a program of $document does not compile: $said"
        done
    done
}

documents() {
    find . \( -path './build*' -o -path ./.git -o -name node_modules \) -prune -o -name '*.md' \
        -print | sed 's|^\./||' | sort
}

# find_named NAME FOLDER: whether a name of a file means one, seen from a document's folder. Names
# without a folder are unique in the tree.
find_named() {
    local base
    for base in . "$2" src tools include tests; do
        if [ -e "$base/$1" ]; then
            return 0
        fi
    done
    case $1 in
    */*) return 1 ;;
    *) find src tools include tests examples docs -name "$1" -print -quit | grep -q . ;;
    esac
}

# has_anchor DOCUMENT ANCHOR: whether it has a heading of that name, as GitHub makes names of headings.
has_anchor() {
    sed -nE '/^```/,/^```/!s/^#+ +//p' "$1" | tr '[:upper:] ' '[:lower:]-' | sed 's/[^a-z0-9_-]//g' | grep -qx -- "$2"
}

files() {
    local document folder target name
    while IFS= read -r document; do
        folder=$(dirname "$document")
        while IFS= read -r target; do
            case $target in
            '' | http://* | https://* | mailto:*) continue ;;
            esac
            test -e "$folder/$target"
            check $? "$document: the link to $target leads nowhere"
        done < <(grep -oE '\]\([^) ]+\)' "$document" | sed -E 's/^\]\(//; s/\)$//; s/#.*//')
        while IFS='#' read -r target name; do
            has_anchor "${target:+$folder/}${target:-$document}" "$name"
            check $? "$document: the link to $target#$name leads to no heading"
        done < <(grep -oE '\]\([^) :]*#[^) ]+\)' "$document" | sed -E 's/^\]\(//; s/\)$//')
        while IFS= read -r name; do
            find_named "$name" "$folder"
            check $? "$document: there is no $name"
        done < <(grep -oE '`[A-Za-z0-9_./-]+\.(c|h|cpp|sh|js|cmake|map|tsv|awk|py|md)`' "$document" |
            tr -d '`' | grep -v NOUN | sort -u)
    done < <(documents)
}

# defines FILE NAME: whether a file defines the function: its name begins a parameter list and no
# semicolon ends it.
defines() {
    awk -v name="$2" '{ text = text $0 " " }
        END { while (match(text, "[^A-Za-z0-9_.>]" name "\\([^(){};]*(\\([^()]*\\)[^(){};]*)*\\) *[^;]")) {
                  tail = substr(text, RSTART + RLENGTH - 1, 1)
                  if (tail == "{") { exit 0 }
                  text = substr(text, RSTART + RLENGTH - 1)
              }
              exit 1 }' "$1"
}

threading() {
    local cell word path name pending=() rows=0
    # Cells 1 and 3 of the table of pairs, one a line: `name`, `name` (file.c).
    while IFS= read -r cell; do
        rows=$((rows + 1))
        pending=()
        while IFS= read -r word; do
            case $word in
            \`*) pending+=("${word//\`/}") ;;
            *)
                path=$(find src include -name "${word//[()]/}")
                test -n "$path"
                check $? "docs/THREADING.md: there is no ${word//[()]/}"
                for name in "${pending[@]}"; do
                    [ -n "$path" ] && defines "$path" "$name"
                    check $? "docs/THREADING.md: $name is not in ${word//[()]/}"
                done
                pending=()
                ;;
            esac
        done < <(grep -oE '`[a-z_0-9]+`|\([a-z_]+\.[ch]\)' <<<"$cell")
        test "${#pending[@]}" -eq 0
        check $? "docs/THREADING.md: no file is named for ${pending[*]-}"
    done < <(awk -F '|' '/^## / { on = /Pairs/ } on && /^\|/ && NF >= 5 && !/---/ && ++n > 1 {
                 print $2; print $4 }' docs/THREADING.md)
    test "$rows" -ge 20
    check $? 'docs/THREADING.md: the table of pairs was not found'
    # Elsewhere: every function of the library that is named exists.
    while IFS= read -r name; do
        grep -rqE "\b$name\(" include src
        check $? "documents name the function $name, which does not exist"
    done < <(grep -ohE '`perftrace_[a-z0-9_]+`' docs/*.md docs/formats/*.md src/README.md |
        tr -d '`' | grep -vE '_t$|_noun_verb$|^perftrace_(header|footer|clock|drop|reference)$' | sort -u)
}

# explained LIST DOCUMENT LEAST: the kinds of a list, LEAST of them or more, are named in a table of the
# document by their identifiers, which are third arguments.
explained() {
    local kind before=$count
    while IFS= read -r kind; do
        grep -q "^|.*\`$kind\`" "$2"
        check $? "$2: the problem $kind is not named"
    done < <(tr -d '\n\134' <"$1" |
        grep -oE 'X\([A-Z0-9_]+, [A-Z]+, +"[a-z0-9_]+"' | grep -oE '"[a-z0-9_]+"' | tr -d '"')
    test $((count - before)) -ge "$3"
    check $? "$1: the list was not found"
}

problems() {
    explained tools/sessions/session_problem.h docs/SESSIONS.md 20
    explained tools/profile/profile_problem.h docs/STACKS.md 15
}

case $part in
manual | examples | files | threading | problems) "$part" ;;
*)
    printf 'unknown part %s\n' "$part" >&2
    exit 2
    ;;
esac
printf '%d of %d checks passed\n' $((count - failed)) "$count"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
