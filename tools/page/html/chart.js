// chart.js: what all charts share: their place in the page, how they answer the pointer and the
// keys, and the common time axis. SPDX-License-Identifier: MIT

const MANY = 1000; // points or bars of a chart, from which on they are kept as an image
const charts = [];  // those that are drawn now
const timeZoom = { min: null, max: null }; // what the charts over time show; null: everything

// An element with attributes and children; texts become text, never markup.
function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name.startsWith('on'))
            element.addEventListener(name.slice(2), value);
        else if (name === 'style')
            Object.assign(element.style, value);
        else if (value !== null && value !== undefined && value !== false)
            element.setAttribute(name, value === true ? '' : value);
    }
    element.append(...children);
    return element;
}

const section = (id) => document.getElementById(id);
const note = (text) => make('p', { class: 'note' }, text);

function checkbox(text, checked, changed) {
    const box = make('input', { type: 'checkbox', checked,
                                onchange: () => changed(box.checked) });
    return make('label', {}, box, text);
}

function choice(text, options, changed) {
    const select = make('select', { onchange: () => changed(select.value) },
        ...options.map(([value, label]) => make('option', { value }, label)));
    return make('label', {}, text, select);
}

const swatch = (background) => make('span', { class: 'swatch', style: { background } });

// The entries of a legend; with toggled(index, shown) they are buttons.
function legend(entries, toggled) {
    return make('div', { class: 'keys' }, ...entries.map(({ label, color, shown }, index) => {
        const text = make('span', {}, formatName(label, 60));
        if (toggled === undefined)
            return make('span', { class: 'key' }, swatch(color), text);
        const button = make('button', {
            type: 'button', class: 'key', 'aria-pressed': String(shown !== false),
            onclick: () => {
                const pressed = button.getAttribute('aria-pressed') !== 'true';
                button.setAttribute('aria-pressed', String(pressed));
                toggled(index, pressed);
            },
        }, swatch(color), text);
        return button;
    }));
}

// A line across a chart; places holds where the labels that stand at its top end, one entry a row.
// Returns how to write the label.
function drawLine(chart, { axis, value, color, dash, label }, places) {
    const { ctx, chartArea: area, scales } = chart;
    const at = Math.round(scales[axis].getPixelForValue(value)) + 0.5;
    const [low, high] = axis === 'x' ? [area.left, area.right] : [area.top, area.bottom];
    if (!(at >= low && at <= high + 1))
        return null;
    ctx.strokeStyle = color;
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(axis === 'x' ? at : area.left, axis === 'x' ? area.top : at);
    ctx.lineTo(axis === 'x' ? at : area.right, axis === 'x' ? area.bottom : at);
    ctx.stroke();
    const width = ctx.measureText(label).width;
    if (axis === 'y')
        return { label, color, x: area.right - width - 4, y: at - 4, width };
    const x = at + 8 + width > area.right ? at - width - 4 : at + 4;
    const row = places.findIndex((end) => x > end);
    if (row < 0)
        return null; // it would cover another one
    places[row] = x + width + 6;
    return { label, color, x, y: area.top + 11 + 13 * row, width };
}

// The lines that chart.$lines() gives as {axis, value, color, dash, label}, and the range that is
// being drawn with the pointer.
function drawOver(chart) {
    const { ctx, chartArea: area } = chart;
    const places = new Array(chart.$labelRows || 1).fill(-Infinity);
    ctx.save();
    ctx.font = `11px ${Chart.defaults.font.family}`;
    const labels = (chart.$lines ? chart.$lines() : [])
        .map((line) => drawLine(chart, line, places)).filter((label) => label !== null);
    for (const { label, color, x, y, width } of labels) {
        ctx.globalAlpha = 0.8;
        ctx.fillStyle = theme.color.card;
        ctx.fillRect(x - 2, y - 10, width + 4, 13);
        ctx.globalAlpha = 1;
        ctx.fillStyle = color;
        ctx.fillText(label, x, y);
    }
    if (chart.$drag) {
        const [from, to] = chart.$drag;
        ctx.fillStyle = theme.color.text;
        ctx.globalAlpha = 0.12;
        ctx.fillRect(Math.min(from, to), area.top, Math.abs(to - from), area.bottom - area.top);
    }
    ctx.restore();
}

// Draws the points of a chart with many once and keeps them as an image, so that an answer to the
// pointer costs an image and one point, however many there are.
const keepDrawn = {
    id: 'keepDrawn',
    afterUpdate(chart) {
        chart.$kept = null;
    },
    beforeDatasetsDraw(chart) {
        if (!chart.$kept)
            return true;
        const { ctx } = chart;
        ctx.save();
        ctx.setTransform(1, 0, 0, 1, 0, 0);
        ctx.clearRect(0, 0, chart.canvas.width, chart.canvas.height);
        ctx.drawImage(chart.$kept, 0, 0);
        ctx.restore();
        for (const { element } of chart.getActiveElements())
            element.draw(ctx, chart.chartArea);
        drawOver(chart);
        return false;
    },
    afterDatasetsDraw(chart) {
        const { width, height } = chart.canvas;
        if (chart.$many && width > 0 && height > 0) {
            chart.$kept = document.createElement('canvas');
            chart.$kept.width = width;
            chart.$kept.height = height;
            chart.$kept.getContext('2d').drawImage(chart.canvas, 0, 0);
        }
        drawOver(chart);
    },
};

// What moved last is told to those who cannot see it.
function announce(chart) {
    const { title, body } = chart.tooltip;
    document.getElementById('announce').textContent =
        [...title, ...body.flatMap((part) => part.lines)].join(', ');
}

function showPoint(chart, datasetIndex, index) {
    const active = [{ datasetIndex, index }];
    const { x, y } = chart.getDatasetMeta(datasetIndex).data[index].tooltipPosition(true);
    chart.setActiveElements(active);
    chart.tooltip.setActiveElements(active, { x, y });
    chart.draw();
    announce(chart);
}

// Left and right go along a row of points, up and down to the next row.
function movePoint(chart, along, across) {
    const rows = chart.getSortedVisibleDatasetMetas()
        .filter((meta) => meta.data.length > 0).sort((a, b) => a.index - b.index);
    if (rows.length === 0)
        return;
    const [active] = chart.getActiveElements();
    let row = active ? rows.findIndex((meta) => meta.index === active.datasetIndex) : -1;
    if (row < 0) {
        showPoint(chart, rows[0].index, 0);
        return;
    }
    row = Math.min(Math.max(row + across, 0), rows.length - 1);
    const index = Math.min(Math.max(active.index + along, 0), rows[row].data.length - 1);
    showPoint(chart, rows[row].index, index);
}

function setTimeZoom(min, max) {
    const whole = min === null || (min <= data.overTime.from && max >= data.overTime.to);
    timeZoom.min = whole ? null : Math.max(min, data.overTime.from);
    timeZoom.max = whole ? null : Math.min(max, data.overTime.to);
    for (const chart of charts.filter((c) => c.$overTime)) {
        chart.options.scales.x.min = whole ? data.overTime.from : timeZoom.min;
        chart.options.scales.x.max = whole ? data.overTime.to : timeZoom.max;
        chart.update('none');
    }
    for (const button of document.querySelectorAll('.zoom-out'))
        button.hidden = whole;
}

function zoomBy(chart, factor) {
    const { min, max } = chart.scales.x;
    const middle = (min + max) / 2;
    const half = (max - min) / 2 * factor;
    setTimeZoom(middle - half, middle + half);
}

function listenToKeys(chart) {
    chart.canvas.addEventListener('keydown', (event) => {
        const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1],
                        ArrowUp: [0, -1], Home: [-Infinity, 0], End: [Infinity, 0] };
        if (event.ctrlKey || event.altKey || event.metaKey)
            return;
        if (moves[event.key])
            movePoint(chart, ...moves[event.key]);
        else if (chart.$overTime && (event.key === '+' || event.key === '-'))
            zoomBy(chart, event.key === '+' ? 0.5 : 2);
        else if (chart.$overTime && event.key === 'Escape')
            setTimeZoom(null, null);
        else
            return;
        event.preventDefault();
    });
}

// A range that is drawn with the pointer becomes what all charts over time show.
function listenToDrag(chart) {
    const { canvas } = chart;
    const within = (event) => Math.min(Math.max(event.offsetX, chart.chartArea.left),
                                       chart.chartArea.right);
    canvas.addEventListener('pointerdown', (event) => {
        if (event.button === 0 && event.pointerType === 'mouse')
            chart.$drag = [within(event), within(event)];
    });
    canvas.addEventListener('pointermove', (event) => {
        if (chart.$drag) {
            chart.$drag[1] = within(event);
            chart.draw();
        }
    });
    addEventListener('pointerup', () => {
        if (!chart.$drag)
            return;
        const [from, to] = chart.$drag.sort((a, b) => a - b)
            .map((pixel) => chart.scales.x.getValueForPixel(pixel));
        const far = chart.$drag[1] - chart.$drag[0] > 5;
        chart.$drag = null;
        if (far)
            setTimeZoom(from, to);
        else
            chart.draw();
    }, { signal: chart.$gone.signal });
    canvas.addEventListener('dblclick', () => setTimeZoom(null, null));
}

function secondsAxis(title) {
    return {
        type: 'linear',
        offset: false,
        title: { display: title !== '', text: title, color: theme.color.faint },
        ticks: { color: theme.color.faint, maxRotation: 0, maxTicksLimit: 9, includeBounds: false,
                 callback: (value) => formatSeconds(Number(value.toPrecision(12))) },
        grid: { color: theme.color.grid, borderColor: theme.color.line, offset: false },
    };
}

// precision 0: whole numbers only.
function countAxis(title, precision) {
    return {
        type: 'linear',
        beginAtZero: true,
        title: { display: true, text: title, color: theme.color.faint },
        ticks: { color: theme.color.faint, maxTicksLimit: 6, precision, callback: formatNumber },
        grid: { color: theme.color.grid, borderColor: theme.color.line, offset: false },
    };
}

// Time since `title`, in steps that people count in.
function offsetAxis(title, min, max) {
    let step = 1;
    return {
        type: 'linear',
        offset: false,
        min,
        max,
        title: { display: true, text: title, color: theme.color.faint },
        afterBuildTicks(axis) {
            step = niceStep(axis.max - axis.min, Math.max(2, Math.floor(axis.width / 90)));
            axis.ticks = [];
            for (let i = Math.ceil(axis.min / step - 1e-9); i * step <= axis.max * (1 + 1e-12); i++)
                axis.ticks.push({ value: i * step });
        },
        ticks: { color: theme.color.faint, maxRotation: 0, autoSkip: false,
                 callback: (value) => formatOffset(value, step) },
        grid: { color: theme.color.grid, borderColor: theme.color.line, offset: false },
    };
}

const timeAxis = () => offsetAxis(data.timeTitle,
                                  timeZoom.min === null ? data.overTime.from : timeZoom.min,
                                  timeZoom.max === null ? data.overTime.to : timeZoom.max);

function zoomOutButton() {
    return make('button', { type: 'button', class: 'button zoom-out',
                            hidden: timeZoom.min === null,
                            onclick: () => setTimeZoom(null, null) }, 'Whole time');
}

// Draws a chart into `place`. label describes it to those who cannot see it; overTime: its x axis is
// the common time axis; lines: see drawOver; labelRows: rows for the labels of these.
function drawChart(place, { label, height, config, overTime, lines, labelRows }) {
    const canvas = make('canvas', { tabindex: 0, role: 'img', 'aria-label': label });
    place.replaceChildren(make('div', { class: 'chart', style: { height: `${height}px` } }, canvas));
    config.plugins = [keepDrawn];
    config.options = Object.assign({ animation: false, maintainAspectRatio: false,
                                     normalized: true }, config.options);
    config.options.plugins = Object.assign({ legend: { display: false } }, config.options.plugins);
    config.options.plugins.tooltip = Object.assign({
        backgroundColor: theme.color.tip, titleColor: theme.color['tip-text'],
        bodyColor: theme.color['tip-text'], padding: 9, boxPadding: 4, caretPadding: 6,
    }, config.options.plugins.tooltip);
    const chart = new Chart(canvas, config);
    chart.$many = config.data.datasets.reduce((sum, set) => sum + set.data.length, 0) > MANY;
    chart.$lines = lines;
    chart.$labelRows = labelRows;
    chart.$overTime = overTime === true;
    chart.$gone = new AbortController();
    listenToKeys(chart);
    if (chart.$overTime)
        listenToDrag(chart);
    charts.push(chart);
    if (lines)
        chart.draw();
    return chart;
}

function dropChart(chart) {
    chart.$gone.abort();
    charts.splice(charts.indexOf(chart), 1);
    chart.destroy();
}

function dropCharts() {
    while (charts.length > 0)
        dropChart(charts[charts.length - 1]);
}
