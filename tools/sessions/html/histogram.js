// histogram.js: how durations are spread, over the whole run and by training step.
// SPDX-License-Identifier: MIT

const stepShown = { index: 0 };

const metricLabel = ({ kind, phase }) => (
    { total: 'total', queue: 'queue', idle: 'in no phase' }[kind] || phaseLabel(phase));

function metricColor({ kind, phase }) {
    return kind === 'phase' ? phaseColor(phase) : kind === 'total' ? '#a463f2' : theme.color.faint;
}

// counts holds the bins that are not empty: number, count, number, count, ...
function histogramBars({ start, width, counts }) {
    const bars = [];
    for (let k = 0; k < counts.length; k += 2)
        bars.push({ x: start + (counts[k] + 0.5) * width, y: counts[k + 1] });
    return bars;
}

function drawHistogram(place, metric, height) {
    const { start, width, bins, n } = metric;
    const bars = histogramBars(metric);
    const name = formatName(metricLabel(metric), 60);
    const box = make('div');
    place.replaceChildren(
        make('h3', {}, name),
        note(`${formatCount(n)} sessions` +
             (metric.missing > 0 ? `, ${formatCount(metric.missing)} without it` : '') +
             (n > 0 ? `; p50 ${formatSeconds(metric.p50)}, p95 ${formatSeconds(metric.p95)}` : '')),
        box);
    const config = {
        type: 'bar',
        data: { datasets: [{ data: bars, backgroundColor: metricColor(metric), grouped: false,
                             // Bins without a session are not there to tell how wide a bin is.
                             barThickness: 1 }] },
        options: {
            parsing: false,
            interaction: { mode: 'nearest', axis: 'x', intersect: false },
            scales: {
                x: Object.assign(secondsAxis(''), { min: start, max: start + bins * width }),
                y: countAxis('sessions', 0),
            },
            plugins: { tooltip: { displayColors: false, callbacks: {
                title: ([item]) => `${formatSeconds(item.parsed.x - width / 2)} to ` +
                    `${formatSeconds(item.parsed.x + width / 2)}`,
                label: (item) => `${formatCount(item.parsed.y)} sessions ` +
                    `(${formatShare(item.parsed.y / n)})`,
            } } },
        },
    };
    config.options.onResize = (chart) => setBarWidth(chart, bins);
    const chart = drawChart(box, { label: `Distribution of ${name}`, height, config,
                                   lines: () => quantileLines('x', metric), labelRows: 2 });
    setBarWidth(chart, bins);
    return chart;
}

function setBarWidth(chart, bins) {
    const { left, right } = chart.chartArea || { left: 0, right: chart.width };
    const width = Math.max(1, (right - left) / bins - ((right - left) / bins > 4 ? 1 : 0));
    if (chart.data.datasets[0].barThickness !== width) {
        chart.data.datasets[0].barThickness = width;
        chart.update('none');
    }
}

function drawHistograms(place, metrics) {
    const cells = metrics.map((metric) => make('div', { class: metric.kind === 'total' ? 'wide' : '' }));
    place.replaceChildren(...cells);
    return metrics.map((metric, i) => (
        drawHistogram(cells[i], metric, metric.kind === 'total' ? 260 : 200)));
}

function distributionText() {
    const { overall, metricsMost } = data.histograms;
    return 'Of all sessions that have the duration recorded.' +
        (overall.length < metricsMost ? '' : ` Only the first ${metricsMost} are shown.`);
}

function stepText() {
    const { batch, every, assigned, steps, lines } = data.histograms;
    if (batch === 0)
        return 'Steps are found with -B TASKS, the tasks that a training step consumes.';
    if (steps.length === 0)
        return `No step of ${formatCount(batch)} tasks is complete.`;
    return `${formatCount(lines.length)} steps of ${formatCount(batch)} tasks; ` +
        `${formatCount(data.about.sessions - assigned)} sessions are in none. ` +
        (every > 1 ? `Shown is one step in ${every}.` : '');
}

function drawDistribution() {
    const grid = make('div', { class: 'grid' });
    section('distribution').replaceChildren(
        make('h2', {}, 'Distribution of durations'), note(distributionText()), grid);
    drawHistograms(grid, data.histograms.overall);
}

function drawStepDistribution() {
    const { steps } = data.histograms;
    const place = section('step-distribution');
    if (steps.length === 0) {
        place.replaceChildren(make('h2', {}, 'Distribution by training step'), note(stepText()));
        return;
    }
    const grid = make('div', { class: 'grid' });
    let drawn = [];
    const show = (index) => {
        stepShown.index = index;
        select.querySelector('select').value = String(index);
        before.disabled = index === 0;
        after.disabled = index === steps.length - 1;
        drawn.forEach(dropChart);
        drawn = drawHistograms(grid, steps[index].metrics);
    };
    const select = choice('', steps.map(({ title }, i) => [String(i), formatName(title, 80)]),
                          (index) => show(Number(index)));
    const button = (text, label, by) => make('button', {
        type: 'button', class: 'button', 'aria-label': label,
        onclick: () => show(stepShown.index + by),
    }, text);
    const before = button('‹', 'step before', -1);
    const after = button('›', 'step after', 1);
    place.replaceChildren(make('h2', {}, 'Distribution by training step'), note(stepText()),
                          make('div', { class: 'controls' }, before, select, after), grid);
    show(stepShown.index);
}
