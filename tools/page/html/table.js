// table.js: the tables of the report, as the terminal shows them. SPDX-License-Identifier: MIT

const ROWS_AT_FIRST = 200;

const CELL_FORMATS = {
    text: (value) => formatName(value),
    count: formatCount,
    seconds: formatSeconds,
    share: formatShare,
    change: (value) => `${value > 0 ? '+' : ''}${formatShare(value)}`,
    number: formatNumber,
    time: formatTime,
};

function cellText(column, value) {
    if (value === null)
        return MISSING;
    if (typeof value === 'string')
        return formatName(value);
    return column.kind === 'flag' ? (value !== 0 ? column.title : '') : CELL_FORMATS[column.kind](value);
}

// Missing values come last in either order.
function compareCells(a, b, sign) {
    if (a === null || b === null)
        return (a === null) - (b === null);
    if (typeof a === 'number' && typeof b === 'number')
        return sign * (a - b);
    return sign * String(a).localeCompare(String(b), undefined, { numeric: true });
}

function tableRow(columns, row) {
    const marked = columns.some(({ kind }, i) => kind === 'flag' && row[i]);
    return make('tr', { class: marked ? 'marked' : null }, ...columns.map((column, i) => {
        const kind = column.kind === 'text' ? 'text' : column.kind === 'flag' ? 'mark' : 'number';
        const text = cellText(column, row[i]);
        return make('td', { class: kind, title: text.length > 40 ? text : null }, text);
    }));
}

function drawTable({ title, note: remark, columns, rows }) {
    const body = make('tbody');
    let shown = rows;
    let all = rows.length <= ROWS_AT_FIRST;
    const more = make('button', { type: 'button', class: 'button', onclick: () => {
        all = true;
        fill();
    } }, `Show all ${formatCount(rows.length)} rows`);
    const fill = () => {
        body.replaceChildren(...(all ? shown : shown.slice(0, ROWS_AT_FIRST))
            .map((row) => tableRow(columns, row)));
        more.hidden = all;
    };
    const heads = columns.map((column, i) => {
        const head = make('th', { scope: 'col', class: column.kind === 'text' ? null : 'number' },
            make('button', { type: 'button', onclick: () => {
                const up = head.getAttribute('aria-sort') === 'descending';
                heads.forEach((other) => other.removeAttribute('aria-sort'));
                head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
                shown = [...rows].sort((a, b) => compareCells(a[i], b[i], up ? 1 : -1));
                fill();
            } }, formatName(column.title)));
        if (column.kind === 'flag')
            head.className = '';
        return head;
    });
    fill();
    return make('div', { class: columns.length > 4 ? 'wide' : null }, make('h3', {}, title),
        ...(remark ? [note(remark)] : []),
        make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title },
            make('table', {}, make('thead', {}, make('tr', {}, ...heads)), body)),
        more);
}

function drawFacts({ title, note: remark, columns, rows: [row] }) {
    return make('div', { class: 'wide' }, make('h3', {}, title),
        make('dl', {}, ...columns.map((column, i) => make('div', {}, make('dt', {}, column.title),
                                                         make('dd', {}, cellText(column, row[i]))))),
        ...(remark ? [note(remark)] : []));
}

// Facts and the tables with these ids stand at the top, the others at the end. What a page names in
// CHARTS_ONLY is no table.
function drawTables(...ids) {
    const early = new Set(ids);
    const not = new Set(typeof CHARTS_ONLY === 'undefined' ? [] : CHARTS_ONLY);
    const [top, end] = ['summary', 'details'].map((id) => section(id).querySelector('.tables'));
    for (const table of data.tables.filter(({ id, rows }) => rows.length > 0 && !not.has(id))) {
        const place = table.facts || early.has(table.id) ? top : end;
        place.append(table.facts ? drawFacts(table) : drawTable(table));
    }
}
