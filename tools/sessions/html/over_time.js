// over_time.js: throughput, queue depth and sessions in flight. SPDX-License-Identifier: MIT

const bucketTitle = (index) => {
    const { from, width } = data.overTime;
    const at = from + index * width;
    const clock = data.epoch === null ? '' : ` (${formatTime(data.epoch + at)})`;
    return `${formatSeconds(width)} from ${formatOffset(at, Math.min(width, 1))}${clock}`;
};

const overTimeOptions = (y, label) => ({
    parsing: false,
    interaction: { mode: 'x', intersect: false, axis: 'x' },
    scales: { x: timeAxis(), y },
    plugins: { tooltip: { callbacks: { title: ([item]) => bucketTitle(item.dataIndex), label } } },
});

const bucketMiddles = (values, scale) => {
    const { from, width } = data.overTime;
    return values.map((value, i) => ({ x: from + (i + 0.5) * width, y: value * scale }));
};

function drawThroughput() {
    const { width, finished } = data.overTime;
    const box = make('div');
    const sets = finished.map(({ status, counts }) => ({
        label: status === null ? 'other statuses' : formatName(data.names.status[status], 40),
        data: bucketMiddles(counts, 1 / width), counts, stack: 'all', grouped: false,
        backgroundColor: status === null ? theme.color.faint : statusColor(status),
        barPercentage: 1, categoryPercentage: 1,
    }));
    const y = Object.assign(countAxis('sessions/s'), { stacked: true });
    const options = overTimeOptions(y, (item) => {
        const count = item.dataset.counts[item.dataIndex];
        return `${item.dataset.label} ${formatNumber(count / width)}/s (${formatCount(count)})`;
    });
    options.scales.x.stacked = true;
    section('throughput').replaceChildren(
        make('h2', {}, 'Throughput'),
        note(`Sessions that ended, by status, in spans of ${formatSeconds(width)}.`),
        make('div', { class: 'controls' }, zoomOutButton()),
        legend(sets.map(({ label, backgroundColor }) => ({ label, color: backgroundColor }))),
        box);
    drawChart(box, { label: 'Sessions that ended a second, over time', height: 240, overTime: true,
                     config: { type: 'bar', data: { datasets: sets }, options } });
}

// Means and highest values of a count over time.
function drawLevel(id, title, text, { mean, most }) {
    const box = make('div');
    const line = (label, values, color, width, fill) => ({
        label, data: bucketMiddles(values, 1), borderColor: color, borderWidth: width,
        backgroundColor: fill, fill: fill !== undefined, pointRadius: 0, pointHoverRadius: 4,
        pointHoverBackgroundColor: color, stepped: 'middle',
    });
    const sets = [line('mean', mean, '#4269d0', 1.5, theme.dark ? '#4269d055' : '#4269d033'),
                  line('highest', most, theme.color.faint, 1)];
    const options = overTimeOptions(
        countAxis('sessions', 0), (item) => `${item.dataset.label} ${formatNumber(item.parsed.y)}`);
    section(id).replaceChildren(
        make('h2', {}, title),
        note(text),
        make('div', { class: 'controls' }, zoomOutButton()),
        legend(sets.map(({ label, borderColor }) => ({ label, color: borderColor }))),
        box);
    drawChart(box, { label: `${title} over time`, height: 220, overTime: true,
                     config: { type: 'line', data: { datasets: sets }, options } });
}

function drawQueue() {
    const { noPhase, noStart, queue } = data.overTime;
    const some = [
        'Sessions that are submitted and have not begun a phase.',
        ...(noPhase > 0 ? [`${formatCount(noPhase)} that never began one count up to their end.`] : []),
        ...(noStart > 0 ? [`${formatCount(noStart)} without times of their phases do not count.`] : []),
    ];
    drawLevel('queue', 'Queue depth', some.join(' '), queue);
}

function drawConcurrency() {
    const { noEnd, flight } = data.overTime;
    const open = noEnd > 0
        ? ` ${formatCount(noEnd)} without an end count up to the last time seen in their run.` : '';
    drawLevel('concurrency', 'Sessions in flight',
              `Sessions that are submitted and have not ended.${open}`, flight);
}
