# table.awk: the table out of rows.tsv and what the programs printed. SPDX-License-Identifier: MIT
#
# awk -v json=FILE -f table.awk rows.tsv results. Lines of results: see bench_util.h, and
#     SKIP <tab> figure <tab> reason
function quoted(s) {
    gsub(/\\/, "\\\\", s)
    gsub(/"/, "\\\"", s)
    return "\"" s "\""
}

function sort_values(n, i, j, v) {
    for (i = 2; i <= n; i++) {
        v = value[i]
        for (j = i - 1; j >= 1 && value[j] > v; j--) {
            value[j + 1] = value[j]
        }
        value[j + 1] = v
    }
}

function number(v) {
    return sprintf(v >= 100 || v <= -100 ? "%.0f" : v >= 10 || v <= -10 ? "%.1f" : "%.2f", v)
}

function is_met(v, op, bar) {
    return op == "<=" ? v <= bar : op == "<" ? v < bar : v >= bar
}

function unit_text(u) {
    return u == "x" ? "" : " " u
}

BEGIN {
    FS = "\t"
}

FNR == NR {
    if ($0 !~ /^#/ && NF == 6) {
        order[++rows] = $1
        text[$1] = $3
        op[$1] = $4
        bar[$1] = $5
        unit[$1] = $6
        known[$1] = 1
    }
    next
}

$1 == "RESULT" {
    results[$2] = $0
    if (!known[$2] && !seen[$2]++) {
        extras[++nextras] = $2
    }
}

$1 == "DETAIL" {
    details[$2] = details[$2] (details[$2] == "" ? "" : "; ") $3
    if (!known[$2] && !seen[$2]++) {
        extras[++nextras] = $2
    }
}

$1 == "SKIP" {
    skips[$2] = $3
}

# Fills median, low, high from a RESULT line.
function summarise(line, n, i) {
    n = split(line, field, "\t") - 2
    for (i = 1; i <= n; i++) {
        value[i] = field[i + 2] + 0
    }
    sort_values(n)
    median = n % 2 ? value[(n + 1) / 2] : (value[n / 2] + value[n / 2 + 1]) / 2
    low = value[1]
    high = value[n]
}

function record(id, met) {
    if (json != "") {
        printf "%s  {\"figure\": %s, \"median\": %s, \"min\": %s, \"max\": %s", comma, quoted(id),
            median, low, high > json
        if (met != "") {
            printf ", \"comparison\": \"%s\", \"bar\": %s, \"unit\": \"%s\", \"met\": %s", op[id],
                bar[id], unit[id], met == "yes" ? "true" : "false" > json
        }
        printf ", \"detail\": %s}", quoted(details[id]) > json
        comma = ",\n"
    }
}

END {
    if (json != "") {
        printf "[\n" > json
    }
    print "| figure | bar | measured (min to max) | met | in this run |"
    print "|---|---|---|---|---|"
    for (r = 1; r <= rows; r++) {
        id = order[r]
        want = op[id] " " bar[id] unit_text(unit[id])
        if (id in results) {
            summarise(results[id])
            met = is_met(median, op[id], bar[id] + 0) ? "yes" : "**no**"
            printf "| %s | %s | %s%s (%s to %s) | %s | %s |\n", text[id], want, number(median),
                unit_text(unit[id]), number(low), number(high), met, details[id]
            record(id, met)
        } else if (id in skips) {
            printf "| %s | %s | skipped | - | %s |\n", text[id], want, skips[id]
        }
    }
    if (nextras) {
        print ""
        print "Beside the table, from the same run:"
        print ""
        print "| figure | measured (min to max) | in this run |"
        print "|---|---|---|"
        for (e = 1; e <= nextras; e++) {
            id = extras[e]
            if (id in results) {
                summarise(results[id])
                printf "| %s | %s (%s to %s) | %s |\n", id, number(median), number(low),
                    number(high), details[id]
                record(id, "")
            } else {
                printf "| %s | - | %s |\n", id, details[id]
            }
        }
    }
    if (json != "") {
        print "\n]" > json
    }
}
