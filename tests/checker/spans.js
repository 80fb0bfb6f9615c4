// spans.js: the closed intervals of one thread in exact nanoseconds: do they nest, also for readers
// that compute with doubles of microseconds, and what covers an instant. Holds 36 bytes a span.
// SPDX-License-Identifier: MIT
'use strict';

const FIELDS = ['start', 'end', 'label', 'ts', 'dur'];

class Spans {
    constructor() {
        this.start = new Float64Array(64);
        this.end = new Float64Array(64);
        this.label = new Uint32Array(64);
        this.ts = new Float64Array(64); // as the file has them; dur NaN: it gives the end
        this.dur = new Float64Array(64);
        this.count = 0;
    }

    add(start, end, label, ts, dur) {
        if (this.count === this.start.length) {
            for (const field of FIELDS) {
                const larger = new this[field].constructor(this.count * 2);
                larger.set(this[field]);
                this[field] = larger;
            }
        }
        this.start[this.count] = start;
        this.end[this.count] = end;
        this.ts[this.count] = ts;
        this.dur[this.count] = dur === null ? NaN : dur;
        this.label[this.count++] = label;
    }

    // Sorts outer before inner, then calls onCross(outer, inner) with the indices of spans that
    // overlap without one holding the other.
    settle(onCross) {
        const order = new Uint32Array(this.count);
        let sorted = true;
        for (let i = 0; i < this.count; i++) {
            order[i] = i;
            if (i > 0 && this.before(i, i - 1) < 0)
                sorted = false;
        }
        if (!sorted) {
            order.sort((a, b) => this.before(a, b));
            for (const field of FIELDS) {
                const old = this[field];
                this[field] = new old.constructor(this.count);
                for (let i = 0; i < this.count; i++)
                    this[field][i] = old[order[i]];
            }
        }
        this.reach = new Float64Array(this.count);
        const open = [];
        for (let i = 0; i < this.count; i++) {
            this.reach[i] = i > 0 ? Math.max(this.reach[i - 1], this.end[i]) : this.end[i];
            while (open.length > 0 && this.end[open[open.length - 1]] <= this.start[i])
                open.pop();
            if (open.length > 0 && this.end[i] > this.end[open[open.length - 1]])
                onCross(open[open.length - 1], i);
            else
                open.push(i);
        }
    }

    // Of spans with the same nanoseconds the outer one may be longer by less.
    before(a, b) {
        return this.start[a] - this.start[b] || this.end[b] - this.end[a] ||
            this.ts[a] - this.ts[b] || this.dur[b] - this.dur[a] || 0;
    }

    // After settle: the first time of all as a double, 0 without spans.
    first() {
        let first = Infinity;
        for (let i = 0; i < this.count; i++)
            first = Math.min(first, this.ts[i]);
        return this.count > 0 ? first : 0;
    }

    // After settle, for spans that nest: calls onCross(one, other) for those that do not nest any
    // more when a reader subtracts base from ts and adds dur.
    readWithDoubles(base, onCross) {
        const start = (i) => this.ts[i] - base;
        const end = (i) => (Number.isNaN(this.dur[i]) ? this.end[i] / 1000 - base
                                                      : this.ts[i] - base + this.dur[i]);
        const open = [];
        for (let i = 0; i < this.count; i++) {
            while (open.length > 0 && this.end[open[open.length - 1]] <= this.start[i]) {
                const before = open.pop();
                if (end(before) > start(i))
                    onCross(before, i);
            }
            const outer = open[open.length - 1];
            if (outer !== undefined && this.end[i] > this.start[i] &&
                (start(i) < start(outer) || end(i) > end(outer)))
                onCross(i, outer);
            open.push(i);
        }
    }

    // After settle: whether some span holds the instant, its ends included.
    covers(at) {
        let low = 0;
        let high = this.count;
        while (low < high) {
            const middle = (low + high) >>> 1;
            if (this.start[middle] <= at)
                low = middle + 1;
            else
                high = middle;
        }
        return low > 0 && this.reach[low - 1] >= at;
    }
}

module.exports = { Spans };
