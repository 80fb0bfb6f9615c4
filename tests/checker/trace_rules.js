// trace_rules.js: the rules of the Trace Event Format that viewers hold a file to, one event at a
// time, then over threads, flows and async tracks. SPDX-License-Identifier: MIT
'use strict';
const { Spans } = require('./spans.js');

const ID_LIMIT = 2 ** 31;
const PHASES = new Set('BEXiIRCbneSTpFstfNODMPvVc()'.split(''));
const METADATA = new Set(['process_name', 'process_labels', 'process_sort_index', 'thread_name',
                          'thread_sort_index']);

const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
const isId = (v) => Number.isInteger(v) && v >= 1 && v < ID_LIMIT;

// A time in microseconds as whole nanoseconds, or NaN where the double does not say which one.
function nanoseconds(us) {
    const ns = Math.round(us * 1000);
    return Number.isSafeInteger(ns) && ns / 1000 === us && (ns + 1) / 1000 !== us ? ns : NaN;
}

// The same for a time of a scope that ends at `end`. It may be moved by a little of a nanosecond
// where it touches another one, so that readers who add doubles do not see the two cross; from a day
// on doubles are so coarse that it takes more.
function scopeNanoseconds(us, end) {
    const ns = Math.round(us * 1000);
    const moved = Math.abs(us * 1000 - ns);
    return Number.isSafeInteger(ns) && (moved < 0.25 || end > 2 ** 36) &&
        (ns + 1) / 1000 !== ns / 1000 ? ns : NaN;
}

class TraceRules {
    // options.report(text) is told of each violation; options.allowOpen accepts spans, async spans
    // and flows that start and never end.
    constructor(options) {
        this.report = options.report;
        this.allowOpen = options.allowOpen === true;
        this.phases = new Map();
        this.processes = new Map();
        this.flows = new Map();
        this.async = new Map();
        this.labels = [];
        this.labelIds = new Map();
        this.events = 0;
    }

    process(pid) {
        let process = this.processes.get(pid);
        if (process === undefined) {
            process = { name: null, sortIndex: null, events: 0, threads: new Map() };
            this.processes.set(pid, process);
        }
        return process;
    }

    thread(pid, tid) {
        const { threads } = this.process(pid);
        let thread = threads.get(tid);
        if (thread === undefined) {
            thread = { name: null, events: 0, spans: new Spans(), open: [], lastBE: -1 };
            threads.set(tid, thread);
        }
        return thread;
    }

    label(name) {
        let id = this.labelIds.get(name);
        if (id === undefined) {
            id = this.labels.push(name) - 1;
            this.labelIds.set(name, id);
        }
        return id;
    }

    event(event, where) {
        const say = (text) => this.report(`${where}: ${text}`);
        this.events++;
        if (!isObject(event)) {
            say('an event that is no object');
            return;
        }
        const { ph } = event;
        if (typeof ph !== 'string' || !PHASES.has(ph)) {
            say(`unknown ph ${JSON.stringify(ph)}`);
            return;
        }
        this.phases.set(ph, (this.phases.get(ph) || 0) + 1);
        if (typeof event.name !== 'string' && !(ph === 'E' && event.name === undefined))
            say('name is no string');
        if (event.cat !== undefined && typeof event.cat !== 'string')
            say('cat is no string');
        if (event.args !== undefined && !isObject(event.args))
            say('args is no object');
        if (!isId(event.pid)) {
            say(`pid ${JSON.stringify(event.pid)} is no integer from 1 to 2^31-1`);
            return;
        }
        if (ph === 'M') {
            this.metadata(event, say);
            return;
        }
        if (!isId(event.tid)) {
            say(`tid ${JSON.stringify(event.tid)} is no integer from 1 to 2^31-1`);
            return;
        }
        const toNs = ph === 'X' ? (us) => scopeNanoseconds(us, us + event.dur) : nanoseconds;
        const ts = typeof event.ts === 'number' ? toNs(event.ts) : NaN;
        if (!(ts >= 0)) {
            say(`ts ${JSON.stringify(event.ts)} is no time from 0 that keeps its nanoseconds`);
            return;
        }
        const thread = this.thread(event.pid, event.tid);
        this.process(event.pid).events++;
        thread.events++;
        this.timed(event, ph, ts, thread, where, say);
    }

    timed(event, ph, ts, thread, where, say) {
        switch (ph) {
        case 'X': {
            const dur = typeof event.dur === 'number' ? scopeNanoseconds(event.dur, event.ts + event.dur)
                                                     : NaN;
            if (!(dur >= 0))
                say(`dur ${JSON.stringify(event.dur)} is no duration that keeps its nanoseconds`);
            else
                thread.spans.add(ts, ts + dur, this.label(event.name), event.ts, event.dur);
            break;
        }
        case 'B':
        case 'E':
            this.beginEnd(event, ph, ts, thread, say);
            break;
        case 'i':
        case 'I':
        case 'R':
            if (event.s !== undefined && !['g', 'p', 't'].includes(event.s))
                say(`instant with scope ${JSON.stringify(event.s)}`);
            break;
        case 'C': {
            const series = isObject(event.args) ? Object.entries(event.args) : [];
            if (series.length === 0)
                say('a counter with no series');
            for (const [key, value] of series)
                if (typeof value !== 'number' || !Number.isFinite(value))
                    say(`counter series "${key}" is ${JSON.stringify(value)}, no number`);
            break;
        }
        case 's':
        case 't':
        case 'f':
            this.flow(event, ph, ts, where, say);
            break;
        case 'b':
        case 'n':
        case 'e':
        case 'S':
        case 'T':
        case 'p':
        case 'F':
            this.asyncEvent(event, ph, ts, where, say);
            break;
        default:
            break;
        }
    }

    metadata(event, say) {
        if (event.ts !== undefined)
            say('ts on metadata');
        if (!METADATA.has(event.name))
            return;
        const ofThread = event.name.startsWith('thread_');
        if (ofThread && !isId(event.tid)) {
            say(`${event.name} with tid ${JSON.stringify(event.tid)}`);
            return;
        }
        const args = isObject(event.args) ? event.args : {};
        const owner = ofThread ? this.thread(event.pid, event.tid) : this.process(event.pid);
        if (event.name.endsWith('_name')) {
            if (typeof args.name !== 'string')
                say(`${event.name} with name ${JSON.stringify(args.name)}`);
            else if (owner.name !== null && owner.name !== args.name)
                say(`a second ${event.name}: "${args.name}" after "${owner.name}"`);
            else
                owner.name = args.name;
        } else if (event.name.endsWith('_sort_index')) {
            if (!Number.isInteger(args.sort_index))
                say(`${event.name} with sort_index ${JSON.stringify(args.sort_index)}`);
            else
                owner.sortIndex = args.sort_index;
        }
    }

    beginEnd(event, ph, ts, thread, say) {
        if (ts < thread.lastBE)
            say(`${ph} goes back in time on its thread`);
        thread.lastBE = ts;
        if (ph === 'B') {
            thread.open.push({ ts, name: event.name });
            return;
        }
        const begin = thread.open.pop();
        if (begin === undefined)
            say('E with no B');
        else if (event.name !== undefined && event.name !== begin.name)
            say(`E of "${event.name}" closes B of "${begin.name}"`);
        else
            thread.spans.add(begin.ts, ts, this.label(begin.name), begin.ts / 1000, null);
    }

    idOf(event, say) {
        const id = event.id !== undefined ? event.id : event.id2;
        if (isObject(id) && event.id === undefined) {
            const [kind] = Object.keys(id);
            return `${kind}:${kind === 'local' ? event.pid : ''}:${JSON.stringify(id[kind])}`;
        }
        const good = typeof id === 'number' ? Number.isInteger(id) && id >= 0 && id < ID_LIMIT
                                            : /^0x[0-9a-fA-F]{1,16}$/.test(id);
        if (!good)
            say(`id ${JSON.stringify(id)} is neither an integer below 2^31 nor "0x.."`);
        return String(id);
    }

    flow(event, ph, ts, where, say) {
        const key = JSON.stringify([event.cat || '', event.name, this.idOf(event, say)]);
        let flow = this.flows.get(key);
        if (flow === undefined) {
            flow = [];
            this.flows.set(key, flow);
        }
        if (ph === 'f' && event.bp !== 'e')
            say('flow end without "bp": "e" binds to the next slice');
        flow.push({ ph, ts, where, pid: event.pid, tid: event.tid });
    }

    asyncEvent(event, ph, ts, where, say) {
        const old = 'STpF'.includes(ph);
        const key = JSON.stringify([old, event.cat || '', event.scope || '',
                                    this.idOf(event, say), old ? event.name : '']);
        let track = this.async.get(key);
        if (track === undefined) {
            track = [];
            this.async.set(key, track);
        }
        track.push({ ph, ts, where, name: event.name });
    }

    // Everything that needs the whole file.
    finish() {
        let threads = 0;
        for (const [pid, process] of this.processes) {
            for (const [tid, thread] of process.threads) {
                threads++;
                this.finishThread(pid, tid, thread);
            }
            if (process.events > 0 && process.name === null)
                this.report(`pid ${pid} has events and no process_name`);
        }
        for (const [key, flow] of this.flows)
            this.finishFlow(key, flow);
        for (const [key, track] of this.async)
            this.finishAsync(key, track);
        return { threads };
    }

    finishThread(pid, tid, thread) {
        const name = `pid ${pid} tid ${tid}`;
        if (thread.events > 0 && thread.name === null)
            this.report(`${name} has events and no thread_name`);
        if (!this.allowOpen)
            for (const begin of thread.open)
                this.report(`${name}: B of "${begin.name}" has no E`);
        const { spans } = thread;
        const show = (i) => `"${this.labels[spans.label[i]]}" [${spans.start[i]}, ` +
            `${spans.end[i]}] ns`;
        spans.settle((outer, inner) =>
            this.report(`${name}: ${show(inner)} crosses ${show(outer)}`));
        for (const base of new Set([0, spans.first()]))
            spans.readWithDoubles(base, (one, other) =>
                this.report(`${name}: ${show(one)} crosses ${show(other)} for a reader that adds ` +
                    `dur to ts - ${base} in doubles`));
    }

    finishFlow(key, flow) {
        const starts = flow.filter((step) => step.ph === 's');
        const ends = flow.filter((step) => step.ph === 'f');
        const at = flow[0].where;
        if (starts.length !== 1)
            this.report(`${at}: flow ${key} has ${starts.length} starts`);
        if (ends.length > 1)
            this.report(`${at}: flow ${key} has ${ends.length} ends`);
        // A session may stay open, and a task's end is no place to which an arrow leads.
        const ofSession = key.startsWith('["session","session",');
        if (ends.length === 0 && !this.allowOpen && !ofSession)
            this.report(`${at}: flow ${key} never ends`);
        for (const step of flow) {
            if (starts.length === 1 && step.ts < starts[0].ts)
                this.report(`${step.where}: flow ${key} goes on before it starts`);
            if (ends.length === 1 && step.ts > ends[0].ts)
                this.report(`${step.where}: flow ${key} goes on after it ends`);
            if (!this.thread(step.pid, step.tid).spans.covers(step.ts))
                this.report(`${step.where}: flow ${key}: '${step.ph}' is in no slice`);
        }
    }

    // Viewers take the async events of one id for a stack; of equal times the one that stands first
    // in the file comes first.
    finishAsync(key, track) {
        track.sort((a, b) => a.ts - b.ts);
        const open = [];
        for (const step of track) {
            if (step.ph === 'b' || step.ph === 'S') {
                open.push(step);
            } else if (step.ph === 'e' || step.ph === 'F') {
                let i = open.length - 1;
                while (i >= 0 && open[i].name !== step.name)
                    i--;
                if (i < 0)
                    this.report(`${step.where}: async end of ${key} with no begin`);
                else if (i < open.length - 1)
                    this.report(`${step.where}: async "${step.name}" of ${key} ends while ` +
                        `"${open[open.length - 1].name}" is open in it`);
                if (i >= 0)
                    open.splice(i, 1);
            } else if (step.ph !== 'n' && open.length === 0) {
                this.report(`${step.where}: async step of ${key} outside its span`);
            }
        }
        if (!this.allowOpen)
            for (const step of open)
                this.report(`${step.where}: async begin of ${key} with no end`);
    }
}

module.exports = { TraceRules };
