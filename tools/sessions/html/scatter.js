// scatter.js: the latency of each session at the time of its end. SPDX-License-Identifier: MIT

const MANY_RANKS = 4;

const scatterShown = { steps: true, quantiles: false, log: false, hidden: new Set() };

// What a session is, as lines of text; `at` gives the columns of a row.
function sessionTitle(rank, role, task, session) {
    const name = role === '' ? '' : `[${formatName(role, 30)}] `;
    const of = task === null ? '' : `, task ${formatName(task, 40)}`;
    return `${name}${rankLabel(rank)}${of}, session ${formatName(session, 40)}`;
}

function statusText(status, reason) {
    const why = data.names.reason[reason];
    return formatName(data.names.status[status], 40) + (why === '' ? '' : `: ${formatName(why, 60)}`);
}

function endText(offset) {
    const clock = data.epoch === null ? '' : ` (${formatTime(data.epoch + offset)})`;
    return `ended at ${formatOffset(offset, 1)}${clock}`;
}

function scatterLines(points) {
    const { x, rank, phases, firstPhase } = points;
    const lines = (i) => {
        const list = [statusText(points.status[i], points.reason[i]),
                      `total ${formatSeconds(points.y[i])}`];
        for (let k = firstPhase[i]; k < firstPhase[i + 1]; k += 2) {
            list.push(`${formatName(phaseLabel(phases[k]), 40)} ` +
                (phases[k + 1] === null ? 'not ended' : formatSeconds(phases[k + 1])));
        }
        return [...list, endText(x[i])];
    };
    const title = (i) => sessionTitle(rank[i], data.names.role[points.role[i]], points.task[i],
                                      points.session[i]);
    return { title, lines };
}

function sampleText({ x, of }) {
    return x.length === of ? '' : `${formatCount(x.length)} of ${formatCount(of)} sessions are ` +
        'shown: those above p95 (all while they are few), one of each part of the picture, and an ' +
        'even share of the others. ';
}

// Two datasets a rank, one of them above p95: points of one dataset look alike, which Chart.js draws
// much faster than points with a style of their own.
function scatterDatasets(points) {
    const [low, high] = points.x.length > 4000 ? [1.5, 2.6] : [2.5, 4.5];
    const sets = data.ranks.flatMap((_, rank) => [false, true].map((above) => ({
        label: rankLabel(rank), data: [], rows: [], rank, above,
        pointStyle: above ? 'rectRot' : 'circle', pointRadius: above ? high : low,
        backgroundColor: rankColor(rank), borderColor: theme.color.card, borderWidth: 0,
        pointHoverRadius: 7, pointHoverBorderWidth: 2, pointHoverBorderColor: theme.color.text,
        hidden: scatterShown.hidden.has(rank),
    })));
    points.x.forEach((x, i) => {
        const above = points.p95 !== null && points.y[i] > points.p95;
        const set = sets[2 * points.rank[i] + (above ? 1 : 0)];
        set.data.push({ x, y: points.y[i] });
        set.rows.push(i);
    });
    return sets.filter((set) => set.data.length > 0);
}

// A key for each rank, which shows and hides both of its datasets; of many ranks all or none, too, so
// that one can be looked at alone.
function scatterLegend(sets, chartOf) {
    const ranks = [...new Set(sets.map((set) => set.rank))];
    const show = (chosen, shown) => {
        chosen.forEach((rank) => scatterShown.hidden[shown ? 'delete' : 'add'](rank));
        sets.forEach(({ rank }, i) => (
            chartOf().setDatasetVisibility(i, !scatterShown.hidden.has(rank))));
        chartOf().update('none');
    };
    const keys = legend(ranks.map((rank) => ({ label: rankLabel(rank), color: rankColor(rank),
                                               shown: !scatterShown.hidden.has(rank) })),
                        (index, shown) => show([ranks[index]], shown));
    const all = (text, shown) => make('button', { type: 'button', class: 'key', onclick: () => {
        keys.querySelectorAll('[aria-pressed]')
            .forEach((key) => key.setAttribute('aria-pressed', String(shown)));
        show(ranks, shown);
    } }, text);
    if (ranks.length > MANY_RANKS)
        keys.prepend(all('all', true), all('none', false));
    return keys;
}

function stepLines() {
    return data.histograms.lines.map(({ at, label }) => (
        { axis: 'x', value: at, color: theme.color.faint, dash: [1, 4], label }));
}

function quantileLines(axis, { p50, p95 }) {
    return [['p50', p50], ['p95', p95]].filter(([, value]) => value !== null)
        .map(([name, value]) => ({ axis, value, color: theme.color.mark, dash: [2, 3],
                                   label: `${name} ${formatSeconds(value)}` }));
}

function drawScatter() {
    const points = data.scatter;
    const place = section('latency');
    const box = make('div');
    const sets = scatterDatasets(points);
    const { title, lines } = scatterLines(points);
    const row = (item) => item.dataset.rows[item.dataIndex];
    const config = {
        type: 'scatter',
        data: { datasets: sets },
        options: {
            parsing: false,
            interaction: { mode: 'nearest', intersect: false },
            scales: {
                x: timeAxis(),
                y: Object.assign(secondsAxis('submission to end'),
                                 { type: scatterShown.log ? 'logarithmic' : 'linear',
                                   beginAtZero: !scatterShown.log }),
            },
            plugins: { tooltip: { displayColors: false, filter: (item, i) => i === 0, callbacks: {
                title: ([item]) => title(row(item)),
                label: (item) => lines(row(item)),
            } } },
        },
    };
    let chart = null;
    const redraw = () => chart.draw();
    const controls = make('div', { class: 'controls' },
        ...(data.histograms.lines.length > 0 ? [checkbox('training steps', scatterShown.steps,
            (on) => { scatterShown.steps = on; redraw(); })] : []),
        checkbox('p50 and p95', scatterShown.quantiles,
                 (on) => { scatterShown.quantiles = on; redraw(); }),
        checkbox('logarithmic', scatterShown.log, (on) => {
            scatterShown.log = on;
            chart.options.scales.y.type = on ? 'logarithmic' : 'linear';
            chart.options.scales.y.beginAtZero = !on;
            chart.update('none');
        }),
        zoomOutButton());
    place.replaceChildren(
        make('h2', {}, 'Latency'),
        note(`One point a session: when it ended, and how long after its submission. Diamonds lie ` +
             `above p95 (${formatSeconds(points.p95)}; p50 is ${formatSeconds(points.p50)}). ` +
             `${sampleText(points)}Draw a range with the pointer to look closer; a double click shows ` +
             'everything again.'),
        controls,
        scatterLegend(sets, () => chart),
        box);
    chart = drawChart(box, {
        label: `Latency of ${points.x.length} sessions over time, coloured by rank`,
        height: 420, config, overTime: true,
        lines: () => [...(scatterShown.steps ? stepLines() : []),
                      ...(scatterShown.quantiles ? quantileLines('y', points) : [])],
    });
}
