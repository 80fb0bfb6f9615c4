// timeline.js: what each session did and when. SPDX-License-Identifier: MIT

const ROWS_A_PAGE = 40;
const IDLE_FROM = 1e-6; // shorter gaps are not shown
const LANES_MOST = 4;   // rows that spans of one session at the same time share

const SHORT = 0.04;     // of the time that a page shows: sessions that are too short to be read

const timelineShown = { rank: 'all', order: 'first', page: 0, aligned: null };

// Spreads spans that overlap over lanes: {lane, together.of} of each span (sorted by start), where `of` is
// how many lanes those need that overlap, directly or through others.
function lanesOf(spans) {
    let ends = [];
    let together = { of: 0 };
    return spans.map(({ start, end }) => {
        if (ends.every((last) => last <= start + IDLE_FROM)) {
            ends = [];
            together = { of: 0 };
        }
        let lane = ends.findIndex((last) => last <= start + IDLE_FROM);
        if (lane < 0)
            lane = ends.length;
        ends[lane] = end;
        together.of = ends.length;
        return { lane, together };
    });
}

// The gaps between spans (sorted by start) from `from` to `to`.
function gapsOf(spans, from, to) {
    const gaps = [];
    let done = from;
    for (const { start, end } of spans) {
        if (start - done > IDLE_FROM)
            gaps.push({ start: done, end: Math.min(start, to) });
        done = Math.max(done, end);
    }
    if (to - done > IDLE_FROM)
        gaps.push({ start: done, end: to });
    return gaps;
}

// A row of data.timeline.rows as an object.
function timelineRow([rank, role, task, session, status, reason, submit, end, last, flat]) {
    const until = end === null ? last : end;
    const spans = [];
    for (let k = 0; flat !== null && k < flat.length; k += 3) {
        const open = flat[k + 2] === null;
        // Where no begin is recorded, it is after what has ended.
        const start = flat[k + 1] === null ? Math.max(submit, ...spans.filter((span) => !span.open)
            .map((span) => span.end)) : flat[k + 1];
        spans.push({ phase: flat[k], start, end: open ? Math.max(until, start) : flat[k + 2], open });
    }
    spans.sort((a, b) => a.start - b.start || a.end - b.end);
    return { rank, role: data.names.role[role], task, session, status, reason, submit, until, spans,
             ended: end !== null, open: end === null || spans.some((span) => span.open),
             gaps: flat === null ? [{ start: submit, end: until }] : gapsOf(spans, submit, until),
             timed: flat !== null };
}

const TIMELINE_ORDERS = {
    first: { label: 'first to end', keep: (row) => row.ended,
             less: (a, b) => a.until - b.until },
    slowest: { label: 'slowest', keep: (row) => row.ended,
               less: (a, b) => (b.until - b.submit) - (a.until - a.submit) },
    unfinished: { label: 'not finished', keep: (row) => row.open,
                  less: (a, b) => (b.until - b.submit) - (a.until - a.submit) },
};

// The rows that are to be shown; the first to end in the order of submission.
function timelineChosen(rows) {
    const { rank, order } = timelineShown;
    const { keep, less } = TIMELINE_ORDERS[order];
    const most = rank === 'all' ? data.timeline.most : data.timeline.mostOfRank || Infinity;
    const chosen = rows.filter((row) => keep(row) && (rank === 'all' || row.rank === Number(rank)))
        .sort(less).slice(0, most);
    return order === 'first' ? chosen.sort((a, b) => a.submit - b.submit) : chosen;
}

// Unless the reader has said so: sessions stand at their time in the run where they can be read there.
function timelineAligned(rows) {
    if (timelineShown.aligned !== null)
        return timelineShown.aligned;
    const span = Math.max(...rows.map((row) => row.until)) - Math.min(...rows.map((row) => row.submit));
    const mean = rows.reduce((sum, row) => sum + row.until - row.submit, 0) / rows.length;
    return mean < SHORT * span;
}

// One dataset a phase and number of lanes (which sets how thick its bars are), and one for idle time.
function timelineDatasets(rows, height, aligned) {
    const sets = new Map();
    const bar = (key, phase, lanes, item) => {
        if (!sets.has(key)) {
            const color = phase === null ? theme.color.idle : phaseColor(phase);
            sets.set(key, { phase, data: [], items: [], backgroundColor: [], color,
                            stack: 'all', barThickness: Math.max(2, height / lanes - 1),
                            minBarLength: phase === null ? 0 : 1, borderSkipped: false });
        }
        const set = sets.get(key);
        set.data.push({ x: item.x, y: item.y });
        set.items.push(item);
        set.backgroundColor.push(item.span.open ? hatched(set.color) : set.color);
    };
    rows.forEach((row, y) => {
        const zero = aligned ? row.submit : 0;
        const x = ({ start, end }) => [start - zero, Math.max(end, start) - zero];
        for (const span of row.gaps)
            bar('idle', null, 3, { x: x(span), y, row, span });
        lanesOf(row.spans).forEach(({ lane, together }, i) => {
            const span = row.spans[i];
            const of = Math.min(LANES_MOST, together.of);
            bar(`${of} ${span.phase}`, span.phase, of,
                { x: x(span), y: y + ((Math.min(lane, of - 1) + 0.5) / of - 0.5) * 0.8, row, span });
        });
    });
    return [...sets.values()];
}

function timelineTooltip(item) {
    const { row, span } = item.dataset.items[item.dataIndex];
    const { phase } = item.dataset;
    const name = phase !== null ? formatName(phaseLabel(phase), 40)
        : row.timed ? 'in no phase' : 'times of its phases are not recorded';
    const ended = span.open ? ', not ended' : '';
    return [`${name}: ${formatSeconds(span.end - span.start)}${ended}`,
            `from ${formatSeconds(span.start - row.submit)} after submission`,
            `${statusText(row.status, row.reason)}, total ` +
                `${formatSeconds(row.until - row.submit)}${row.ended ? '' : ' so far'}`];
}

function timelineLabel(row) {
    const role = row.role === '' ? '' : `[${formatName(row.role, 12)}] `;
    const rank = data.ranks[row.rank] === null ? '-' : data.ranks[row.rank];
    const task = row.task === null ? '-' : formatName(row.task, 14);
    return `${role}r${rank}-t${task}-s${formatName(row.session, 14)}`;
}

function timelineConfig(rows, aligned) {
    const until = rows.map((row) => row.until - (aligned ? row.submit : 0));
    const min = aligned ? 0 : Math.min(...rows.map((row) => row.submit));
    const span = Math.max(1e-6, Math.max(...until) - min);
    return {
        type: 'bar',
        data: { datasets: timelineDatasets(rows, 16, aligned) },
        options: {
            indexAxis: 'y',
            interaction: { mode: 'point', intersect: true },
            scales: {
                x: Object.assign(offsetAxis(aligned ? 'since submission' : data.timeTitle, min,
                                            min + span * 1.01), { stacked: false }),
                y: { type: 'linear', stacked: true, reverse: true, min: -0.6, max: rows.length - 0.4,
                     grid: { display: false, borderColor: theme.color.line },
                     afterBuildTicks(axis) {
                         axis.ticks = rows.map((_, value) => ({ value }));
                     },
                     ticks: { color: theme.color.faint, autoSkip: false, font: { size: 11 },
                              callback: (value) => timelineLabel(rows[value]) } },
            },
            plugins: { tooltip: { filter: (item, i) => i === 0, callbacks: {
                title: ([item]) => {
                    const { row } = item.dataset.items[item.dataIndex];
                    return sessionTitle(row.rank, row.role, row.task, row.session);
                },
                label: timelineTooltip,
                labelColor: (item) => ({ backgroundColor: item.dataset.color, borderWidth: 0,
                                         borderColor: item.dataset.color }),
            } } },
        },
    };
}

function timelineLegend(rows) {
    const phases = [...new Set(rows.flatMap((row) => row.spans.map((span) => span.phase)))]
        .sort((a, b) => a - b);
    const keys = legend([...phases.map((phase) => (
        { label: phaseLabel(phase), color: phaseColor(phase) })),
    { label: 'in no phase', color: theme.color.idle }]);
    const lines = `repeating-linear-gradient(135deg, ${theme.color.faint} 0 2px, transparent 2px 5px)`;
    keys.append(make('span', { class: 'key' }, swatch(lines), make('span', {}, 'not ended')));
    return keys;
}

function timelineControls(rows, changed) {
    const set = (values) => { Object.assign(timelineShown, values); changed(); };
    const orders = Object.entries(TIMELINE_ORDERS)
        .filter(([, order]) => rows.some(order.keep)).map(([key, { label }]) => [key, label]);
    const ranks = [['all', 'all ranks'], ...data.ranks.map((_, i) => [String(i), rankLabel(i)])
        .filter(([i]) => rows.some((row) => row.rank === Number(i)))];
    const box = make('span');
    const align = checkbox('from submission', false, (aligned) => set({ aligned }));
    const node = make('div', { class: 'controls' },
        choice('show', ranks, (rank) => set({ rank, page: 0 })),
        choice('', orders, (order) => set({ order, page: 0, aligned: null })), align, box);
    node.querySelectorAll('select')[0].value = timelineShown.rank;
    node.querySelectorAll('select')[1].value = timelineShown.order;
    return { node, box, set, align: align.firstChild };
}

function pager(box, count, set) {
    const pages = Math.ceil(count / ROWS_A_PAGE);
    const { page } = timelineShown;
    const first = page * ROWS_A_PAGE;
    const button = (text, to, label) => make('button', {
        type: 'button', class: 'button', 'aria-label': label, disabled: to < 0 || to >= pages,
        onclick: () => set({ page: to }),
    }, text);
    box.replaceChildren(button('‹', page - 1, 'earlier rows'),
                        ` ${first + 1} to ${Math.min(first + ROWS_A_PAGE, count)} of ${count} `,
                        button('›', page + 1, 'later rows'));
}

function timelineText() {
    const { most, mostOfRank, of, cut, spansMost } = data.timeline;
    const some = Math.max(of.first, of.unfinished) > most;
    return 'What each session did. ' + (some ? `Held here are the first ${formatCount(most)} ` +
        `of each order over all ranks, and ${formatCount(mostOfRank)} of each rank; ` +
        `${formatCount(of.first)} sessions ended, ${formatCount(of.unfinished)} are not finished. `
        : '') + (cut > 0 ? `Of ${formatCount(cut)} sessions only ${spansMost} spans are shown.` : '');
}

function drawTimeline() {
    if (data.timeline.most === 0)
        return;
    const rows = data.timeline.rows.map(timelineRow);
    if (!rows.some(TIMELINE_ORDERS[timelineShown.order].keep))
        timelineShown.order = 'unfinished';
    const place = section('lifecycle');
    const keys = make('div');
    const box = make('div');
    let chart = null;
    let control = null;
    const redraw = () => {
        const chosen = timelineChosen(rows);
        const shown = chosen.slice(timelineShown.page * ROWS_A_PAGE,
                                   (timelineShown.page + 1) * ROWS_A_PAGE);
        if (chart !== null)
            dropChart(chart);
        chart = null;
        if (shown.length === 0) {
            control.box.replaceChildren();
            keys.replaceChildren();
            box.replaceChildren(note('There are no such sessions.'));
            return;
        }
        pager(control.box, chosen.length, control.set);
        keys.replaceChildren(timelineLegend(shown));
        const aligned = timelineAligned(shown);
        control.align.checked = aligned;
        chart = drawChart(box, { label: `Phases of ${shown.length} sessions`,
                                 height: shown.length * 20 + 60,
                                 config: timelineConfig(shown, aligned) });
    };
    control = timelineControls(rows, redraw);
    place.replaceChildren(make('h2', {}, 'Lifecycle'), note(timelineText()), control.node, keys,
                          box);
    redraw();
}
