// charts.js: the charts of an analysis, each from a table of the report. SPDX-License-Identifier: MIT

const COLORS = { compute: '#4269d0', overlapped: '#a463f2', exposed: '#ff725c', memory: '#3ca951' };
const KERNELS = 20;     // bars
const HEAT_COLUMNS = 240;

// The rows of a table as objects by the columns' ids; none where the report has no such table.
function rowsOf(id) {
    const table = data.tables.find((t) => t.id === id);
    return table === undefined ? [] : table.rows.map((row) => Object.fromEntries(
        table.columns.map((column, i) => [column.id, row[i]])));
}

const rankIndex = (rank) => data.ranks.indexOf(rank);

function placeIn(id, ...children) {
    const place = make('div');
    section(id).replaceChildren(section(id).firstElementChild, ...children, place);
    return place;
}

// A part without data is not shown.
function drawOrHide(id, rows, draw) {
    section(id).hidden = rows.length === 0;
    if (rows.length > 0)
        draw(rows);
}

function shareAxis(title) {
    return { ...countAxis(title), max: 1, ticks: { color: theme.color.faint, callback: formatShare } };
}

const tooltipOf = (label) => ({ callbacks: { label } });

function linesByRank(rows, point) {
    return data.ranks.map((rank, index) => ({
        label: rankLabel(index),
        data: rows.filter((row) => row.rank === rank).map(point),
        borderColor: rankColor(index), backgroundColor: rankColor(index),
        borderWidth: 1.5, pointRadius: 0, pointHitRadius: 6, tension: 0,
    }));
}

function toggledLegend(datasets, chartOf) {
    return legend(datasets.map((set) => ({ label: set.label, color: set.borderColor })), (index, shown) => {
        chartOf().setDatasetVisibility(index, shown);
        chartOf().update('none');
    });
}

function drawUtilisation() {
    drawOrHide('utilisation', rowsOf('utilisation'), (rows) => {
        const datasets = linesByRank(rows, (row) => ({ x: row.from_s + row.length_s / 2, y: row.busy }));
        let chart;
        const place = placeIn('utilisation',
            note('Share of each piece of time in which a device does any work, one line a rank.'),
            make('div', { class: 'controls' }, zoomOutButton()), toggledLegend(datasets, () => chart));
        chart = drawChart(place, {
            label: `Utilisation over time of ${data.ranks.length} ranks`, height: 280, overTime: true,
            config: { type: 'line', data: { datasets }, options: {
                parsing: false, scales: { x: timeAxis(), y: shareAxis('busy') },
                plugins: { tooltip: tooltipOf(({ dataset, parsed }) => (
                    `${dataset.label}: ${formatShare(parsed.y)} at ${formatSeconds(parsed.x)}`)) } } },
        });
    });
}

// Bars of several parts, one a rank.
function rankBars(id, text, rows, parts) {
    const datasets = parts.map(({ label, color, value }) => ({
        label, backgroundColor: color, data: rows.map((row) => Math.max(value(row), 0)) }));
    const place = placeIn(id, note(text), legend(parts));
    const axis = { ...countAxis('rank', 0), stacked: true, type: 'category', beginAtZero: undefined };
    axis.ticks = { color: theme.color.faint };
    drawChart(place, {
        label: `${section(id).firstElementChild.textContent} of ${rows.length} ranks`,
        height: Math.max(90, 44 + 26 * rows.length),
        config: { type: 'bar', data: { labels: rows.map((row) => String(row.rank)), datasets }, options: {
            indexAxis: 'y', scales: { x: { ...secondsAxis(''), stacked: true, min: 0 }, y: axis },
            plugins: { tooltip: tooltipOf(({ dataset, parsed }) => (
                `${dataset.label}: ${formatSeconds(parsed.x)}`)) } } },
    });
}

function drawBreakdown() {
    const recorded = rowsOf('breakdown').filter((row) => row.busy_s !== null);
    drawOrHide('breakdown', recorded, (rows) => rankBars(
        'breakdown', 'Every moment once: what is computed under communication stands as overlapped.', rows, [
            { label: 'compute alone', color: COLORS.compute, value: (r) => r.compute_s - r.overlap_s },
            { label: 'compute and communication', color: COLORS.overlapped, value: (r) => r.overlap_s },
            { label: 'communication alone', color: COLORS.exposed, value: (r) => r.exposed_s },
            { label: 'copies alone', color: COLORS.memory,
              value: (r) => r.busy_s - r.compute_s - r.exposed_s },
            { label: 'idle', color: theme.color.idle, value: (r) => r.idle_s }]));
}

function drawOverlap() {
    const communicating = rowsOf('breakdown').filter((row) => row.communication_s > 0);
    drawOrHide('overlap', communicating, (rows) => rankBars(
        'overlap', 'Communication while something is computed costs nothing; alone it does.', rows, [
            { label: 'overlapped', color: COLORS.overlapped, value: (r) => r.overlap_s },
            { label: 'alone', color: COLORS.exposed, value: (r) => r.exposed_s }]));
}

function drawKernels() {
    drawOrHide('kernels', rowsOf('kernels').slice(0, KERNELS), (rows) => {
        const place = placeIn('kernels', note('By the sum of their times, over all ranks.'));
        const axis = { ...countAxis('', 0), type: 'category', beginAtZero: undefined };
        axis.ticks = { color: theme.color.faint, callback: (i) => formatName(rows[i].name, 48) };
        drawChart(place, {
            label: `The ${rows.length} kernels with the most time`, height: 44 + 24 * rows.length,
            config: { type: 'bar', data: {
                labels: rows.map((row) => formatName(row.name, 200)),
                datasets: [{ label: 'total', backgroundColor: COLORS.compute,
                             data: rows.map((row) => row.total_s) }] }, options: {
                indexAxis: 'y', scales: { x: { ...secondsAxis(''), min: 0 }, y: axis },
                plugins: { tooltip: { callbacks: {
                    title: ([{ dataIndex }]) => formatName(rows[dataIndex].name, 120),
                    label: ({ dataIndex }) => {
                        const row = rows[dataIndex];
                        return `${formatSeconds(row.total_s)}, ${formatShare(row.share)} of all kernels, ` +
                            `${formatCount(row.count)} times ${formatSeconds(row.mean_s)}`;
                    } } } } } },
        });
    });
}

function drawSteps() {
    drawOrHide('steps', rowsOf('steps'), (rows) => {
        const datasets = linesByRank(rows, (row) => ({ x: row.step, y: row.duration_s }));
        datasets.forEach((set) => { set.pointRadius = 2.5; });
        let chart;
        const place = placeIn('steps', note('Duration of each step as the host marks it, one line a rank.'),
                              toggledLegend(datasets, () => chart));
        const numbers = { ...countAxis('step', 0), beginAtZero: false };
        const seconds = secondsAxis('duration');
        chart = drawChart(place, {
            label: `Durations of ${rows.length} steps`, height: 260,
            config: { type: 'line', data: { datasets }, options: {
                parsing: false, scales: { x: numbers, y: { ...seconds, beginAtZero: true } },
                plugins: { tooltip: tooltipOf(({ dataset, parsed }) => (
                    `${dataset.label}, step ${parsed.x}: ${formatSeconds(parsed.y)}`)) } } },
        });
    });
}

// ---- the heat map: ranks down, steps (or pieces of time) across ----

// Cells {rank, column, value, text}; value from -1 (fast, idle) over 0 to 1.
function heatOfSteps() {
    const mean = new Map(rowsOf('step_ranks').map((row) => [row.step, row.mean_s]));
    const cells = rowsOf('steps').filter((row) => mean.get(row.step) > 0).map((row) => {
        const off = row.duration_s / mean.get(row.step) - 1;
        return { rank: row.rank, column: row.step, value: Math.max(-1, Math.min(1, off / 0.2)),
                 text: `rank ${row.rank}, step ${row.step}: ${formatSeconds(row.duration_s)}, ` +
                     `${off > 0 ? '+' : ''}${formatShare(off)} of the mean` };
    });
    return { cells, remark: 'Each step of a rank against the mean of that step over the ranks: ' +
        'orange is slower, blue faster; full colour from 20 % on.' };
}

function heatOfTime() {
    const cells = rowsOf('utilisation').map((row, i) => ({
        rank: row.rank, column: i % 120, value: 1 - 2 * row.busy,
        text: `rank ${row.rank} at ${formatSeconds(row.from_s)}: ${formatShare(row.busy)} busy` }));
    return { cells, remark: 'Each piece of time of a rank: blue is busy, orange idle.' };
}

function heatColor(value) {
    const [r, g, b] = value > 0 ? [239, 123, 24] : [66, 105, 208];
    return `rgba(${r}, ${g}, ${b}, ${(0.06 + 0.94 * Math.abs(value)).toFixed(3)})`;
}

function drawImbalance() {
    const ofSteps = heatOfSteps();
    const { cells, remark } = ofSteps.cells.length > 0 ? ofSteps : heatOfTime();
    drawOrHide('imbalance', cells, () => {
        const columns = [...new Set(cells.map((cell) => cell.column))].sort((a, b) => a - b);
        const shown = columns.slice(0, HEAT_COLUMNS);
        const at = new Map(cells.map((cell) => [`${cell.rank}/${cell.column}`, cell]));
        const rows = data.ranks.map((rank) => make('tr', {}, make('th', { scope: 'row' }, `rank ${rank}`),
            ...shown.map((column) => {
                const cell = at.get(`${rank}/${column}`);
                return make('td', cell === undefined ? {} : {
                    title: cell.text, style: { background: heatColor(cell.value) } });
            })));
        const more = columns.length > shown.length
            ? [note(`The first ${shown.length} of ${columns.length} are shown.`)] : [];
        placeIn('imbalance', note(remark), ...more,
                make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Imbalance' },
                     make('table', { class: 'heat' }, make('tbody', {}, ...rows))));
    });
}
