// spans.js: the closed intervals of one thread in exact nanoseconds: do they nest, and what covers
// an instant. Holds 20 bytes a span. SPDX-License-Identifier: MIT
'use strict';

class Spans {
    constructor() {
        this.start = new Float64Array(64);
        this.end = new Float64Array(64);
        this.label = new Uint32Array(64);
        this.count = 0;
    }

    add(start, end, label) {
        if (this.count === this.start.length) {
            for (const field of ['start', 'end', 'label']) {
                const larger = new this[field].constructor(this.count * 2);
                larger.set(this[field]);
                this[field] = larger;
            }
        }
        this.start[this.count] = start;
        this.end[this.count] = end;
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
            for (const field of ['start', 'end', 'label']) {
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

    before(a, b) {
        return this.start[a] - this.start[b] || this.end[b] - this.end[a];
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
