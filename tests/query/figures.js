// figures.js: what the queries of docs/QUERY.md must say, worked out from the lines without SQL.
// SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

function text(file) {
    const bytes = fs.readFileSync(file);
    return (bytes[0] === 0x1f ? zlib.gunzipSync(bytes) : bytes).toString();
}

// The lines of the files below a folder whose names fit.
function records(dir, name) {
    return fs.readdirSync(dir, { recursive: true }).filter((f) => name.test(path.basename(f)) && !/(^|\/)\./.test(f))
        .sort().flatMap((file) =>
        text(path.join(dir, file)).split('\n').filter(Boolean).map((l) => ({ ...JSON.parse(l), file, line: l })));
}

const ns = (us) => Math.round(us * 1000);

// Events of a process belong together, in however many files they are.
function load(dir, name = /^traces-.*\.jsonl/) {
    const lines = records(dir, name);
    const process = new Map();
    for (const l of lines.filter((e) => e.name === 'perftrace_header' && e.ph === 'M'))
        process.set(`${l.file} ${l.pid}`, { ...process.get(`${l.file} ${l.pid}`), ...l.args });
    const of = (l) => process.get(`${l.file} ${l.pid}`) ?? {};
    const who = (l) => ({ role: of(l).role ?? null, rank: of(l).rank ?? null });
    const threads = new Map(lines.filter((e) => e.name === 'thread_name' && e.ph === 'M')
        .map((e) => [`${e.file} ${e.pid} ${e.tid}`, e.args.name]));
    const events = lines.filter((e) => e.ph !== 'M').map((e) => ({
        ...e, ...who(e), ts: ns(e.ts), dur: e.dur === undefined ? null : ns(e.dur), step: e.args.global_step ?? null,
        thread: threads.get(`${e.file} ${e.pid} ${e.tid}`) ?? null, epoch: BigInt(of(e).epoch_ns ?? 0),
        process: `${of(e).epoch_ns ?? e.file} ${e.pid}` }));
    return { lines, events, who, of, scopes: events.filter((e) => e.ph === 'X') };
}

const sum = (list) => list.reduce((a, b) => a + b, 0);
const mean = (list) => sum(list) / list.length;

function groups(list, key) {
    const found = new Map();
    for (const e of list) {
        const k = JSON.stringify(key(e));
        found.set(k, [...(found.get(k) ?? []), e]);
    }
    return [...found.values()];
}

// numpy's percentile.
function quantile(list, q) {
    const v = [...list].sort((a, b) => a - b);
    const at = q * (v.length - 1), low = Math.floor(at);
    return v[low] + (at - low) * (v[Math.min(low + 1, v.length - 1)] - v[low]);
}

// The time that spans cover, those of several lists where all of them do.
function covered(...lists) {
    const borders = [...new Set(lists.flat().flat())].sort((a, b) => a - b);
    let total = 0;
    for (let i = 0; i + 1 < borders.length; i++)
        if (lists.every((list) => list.some(([from, to]) => from <= borders[i] && to >= borders[i + 1])))
            total += borders[i + 1] - borders[i];
    return total;
}
const span = (e) => [e.ts, e.ts + e.dur];

function account(t) {
    return groups(t.lines, (l) => [t.who(l), l.pid, t.of(l).epoch_ns]).map((g) => {
        const foot = g.find((l) => l.ph === 'M' && l.name === 'perftrace_footer')?.args;
        const events = g.filter((l) => l.ph !== 'M' && l.ph !== 'B').length;
        return { ...t.who(g[0]), pid: g[0].pid, host: t.of(g[0]).host ?? null, events, written: foot?.written ?? null,
                 dropped: foot ? sum(Object.values(foot.dropped)) : null, files: new Set(g.map((l) => l.file)).size };
    });
}

function losses(t) {
    const told = t.lines.filter((l) => l.ph === 'M' && l.name === 'perftrace_footer')
        .flatMap((l) => Object.entries(l.args.dropped).map(([cause, n]) => ({ l, cause, told: n })));
    const noticed = t.lines.filter((l) => l.ph === 'M' && l.name === 'perftrace_drop')
        .map((l) => ({ l, cause: l.args.cause, n: l.args.count, from: l.args.first_ts, to: l.args.last_ts }));
    return groups([...told, ...noticed], (e) => [e.l.file, e.l.pid, e.cause]).map((g) => {
        const n = g.filter((e) => 'n' in e);
        const least = Math.min(...n.map((e) => e.from).filter(Boolean));
        const most = Math.max(...n.map((e) => e.to).filter(Boolean));
        return { ...t.who(g[0].l), cause: g[0].cause, told: g.find((e) => 'told' in e)?.told ?? null,
                 noticed: n.length ? sum(n.map((e) => e.n)) : null,
                 threads: n.length ? new Set(n.map((e) => e.l.tid)).size : null,
                 from_s: isFinite(least) ? least / 1e6 : null, to_s: isFinite(most) ? most / 1e6 : null };
    });
}

// All scopes, the longest first.
function slowest(t) {
    const usual = new Map(groups(t.scopes, (e) => [e.role, e.name])
        .map((g) => [`${g[0].role} ${g[0].name}`, quantile(g.map((e) => e.dur), 0.5)]));
    return [...t.scopes].sort((a, b) => b.dur - a.dur || a.ts - b.ts).map((e) => ({
        role: e.role, rank: e.rank, step: e.step, name: e.name, ms: e.dur / 1e6, thread: e.thread,
        times: e.dur / usual.get(`${e.role} ${e.name}`) }));
}

function names(t) {
    return groups(t.scopes, (e) => [e.name, e.cat]).map((g) => {
        const ms = g.map((e) => e.dur / 1e6);
        return { name: g[0].name, cat: g[0].cat, n: g.length, total_s: sum(g.map((e) => e.dur)) / 1e9,
                 mean_ms: mean(ms), min_ms: Math.min(...ms), p50_ms: quantile(ms, 0.5), p99_ms: quantile(ms, 0.99),
                 max_ms: Math.max(...ms) };
    });
}

// The longest scope of each step of each rank.
function stepTimes(t) {
    return groups(t.scopes.filter((e) => e.step !== null), (e) => [e.role, e.rank, e.step]).map((g) => ({
        role: g[0].role, rank: g[0].rank, step: g[0].step, dur: Math.max(...g.map((e) => e.dur)),
        waits: sum(g.filter((e) => e.cat === 'comm' || e.cat === 'sync').map((e) => e.dur)) }));
}

function steps(t) {
    return groups(stepTimes(t), (s) => [s.role, s.step]).map((g) => {
        const by = [...g].sort((a, b) => a.dur - b.dur || a.rank - b.rank);
        const most = by[by.length - 1].dur;
        return { role: g[0].role, step: g[0].step, ranks: g.length, mean_ms: mean(g.map((s) => s.dur)) / 1e6,
                 min_ms: by[0].dur / 1e6, fastest: by[0].rank, max_ms: most / 1e6,
                 slowest: by.find((s) => s.dur === most).rank, imbalance: 1 - mean(g.map((s) => s.dur)) / most };
    });
}

function stragglers(t) {
    const all = stepTimes(t).map((s) => ({ ...s, own: s.dur - s.waits, last: false, cost: 0 }));
    for (const g of groups(all.map((s, i) => ({ ...s, i })), (s) => [s.role, s.step])) {
        const by = g.sort((a, b) => b.own - a.own || a.rank - b.rank);
        Object.assign(all[by[0].i], { last: true, cost: by.length > 1 ? by[0].own - by[1].own : 0 });
    }
    return groups(all, (s) => [s.role, s.rank]).map((g) => ({
        role: g[0].role, rank: g[0].rank, steps: g.length, own_ms: mean(g.map((s) => s.own)) / 1e6,
        waits_ms: mean(g.map((s) => s.waits)) / 1e6, last_in: g.filter((s) => s.last).length,
        cost_s: sum(g.map((s) => s.cost)) / 1e9 }));
}

function overlap(t) {
    const comm = (e) => e.cat === 'comm';
    const comp = (e) => e.cat === 'compute' && e.name !== 'train.step';
    return groups(t.scopes.filter((e) => comm(e) || comp(e)), (e) => [e.role, e.rank]).map((g) => {
        const files = groups(g, (e) => e.process);
        const total = (...kinds) => sum(files.map((f) => covered(...kinds.map((k) => f.filter(k).map(span))))) / 1e9;
        return { role: g[0].role, rank: g[0].rank, communication_s: total(comm), computation_s: total(comp),
                 both_s: total(comm, comp) };
    });
}

const threadsOf = (t) => groups(t.scopes, (e) => [e.role, e.rank, e.process, e.tid]);

function threads(t) {
    return threadsOf(t).map((g) => {
        const busy = covered(g.map(span));
        const length = Math.max(...g.map((e) => e.ts + e.dur)) - Math.min(...g.map((e) => e.ts));
        return { role: g[0].role, rank: g[0].rank, tid: g[0].tid, thread: g[0].thread, scopes: g.length,
                 busy_s: busy / 1e9, idle_s: (length - busy) / 1e9, busy_share: busy / length };
    });
}

// The 20 longest gaps: {rank, tid, ms, from}.
function gaps(t) {
    return threadsOf(t).flatMap((g) => {
        const found = [];
        let until = null;
        for (const e of [...g].sort((a, b) => a.ts - b.ts || b.dur - a.dur)) {
            if (until !== null && e.ts > until)
                found.push({ role: e.role, rank: e.rank, thread: e.thread, gap: e.ts - until, from: until,
                             before: e.name, step: e.step });
            until = Math.max(until ?? 0, e.ts + e.dur);
        }
        return found;
    }).sort((a, b) => b.gap - a.gap).slice(0, 20);
}

function series(t) {
    return t.events.filter((e) => e.ph === 'C').flatMap((e) => Object.entries(e.args).map(([key, value]) =>
        ({ role: e.role, rank: e.rank, name: e.name, series: key, value, ts: e.ts, second: Math.floor(e.ts / 1e9) })));
}

function statistics(g) {
    const v = g.filter((p) => p.value !== null);
    const values = v.map((p) => p.value);
    const last = v.reduce((a, b) => (a === null || b.ts > a.ts ? b : a), null);
    return { role: g[0].role, rank: g[0].rank, name: g[0].name, series: g[0].series, n: v.length,
             least: v.length ? Math.min(...values) : null, mean: v.length ? mean(values) : null,
             greatest: v.length ? Math.max(...values) : null, last: last?.value ?? null };
}

function counters(t) {
    return groups(series(t), (p) => [p.role, p.rank, p.name, p.series]).map(statistics);
}

function countersOverTime(t) {
    return groups(series(t), (p) => [p.role, p.rank, p.name, p.series, p.second]).map((g) => {
        const { last, ...rest } = statistics(g);
        return { ...rest, second: g[0].second };
    });
}

function unfinished(t) {
    const last = new Map(groups(t.events, (e) => e.process)
        .map((g) => [g[0].process, Math.max(...g.map((e) => e.ts + (e.dur ?? 0)))]));
    return t.events.filter((e) => e.ph === 'B').map((e) => ({
        role: e.role, rank: e.rank, thread: e.thread, name: e.name, cat: e.cat, step: e.step,
        from_s: e.ts / 1e9, open_s: (last.get(e.process) - e.ts) / 1e9 }));
}

function flows(t) {
    const pairs = t.events.filter((e) => e.ph === 's').flatMap((s) => t.events.filter((f) =>
        f.ph === 'f' && ['process', 'cat', 'name', 'id'].every((k) => f[k] === s[k]))
        .map((f) => ({ role: s.role, rank: s.rank, name: s.name, ms: (f.ts - s.ts) / 1e6 })));
    return groups(pairs, (p) => [p.role, p.rank, p.name]).map((g) => {
        const ms = g.map((p) => p.ms);
        return { role: g[0].role, rank: g[0].rank, name: g[0].name, n: g.length, p50_ms: quantile(ms, 0.5),
                 p99_ms: quantile(ms, 0.99), max_ms: Math.max(...ms) };
    });
}

// Nanoseconds since 1970 as the query prints them.
function stamp(at) {
    const text9 = String(at % 1000000000n).padStart(9, '0');
    const day = new Date(Number(at / 1000000000n) * 1000).toISOString().replace('T', ' ').slice(0, 19);
    return `${day}.${text9}`;
}

function wallClock(t) {
    return groups(t.events, (e) => [e.role, e.rank]).map((g) => {
        const [from, to] = [g.map((e) => e.epoch + BigInt(e.ts)), g.map((e) => e.epoch + BigInt(e.ts + (e.dur ?? 0)))];
        return { role: g[0].role, rank: g[0].rank, first: stamp(from.reduce((a, b) => (b < a ? b : a))),
                 last: stamp(to.reduce((a, b) => (b > a ? b : a))) };
    });
}

module.exports = { text, records, load, sum, quantile, groups, account, losses, slowest, names, steps, stragglers,
                   overlap, threads, gaps, counters, countersOverTime, unfinished, flows, wallClock };
