// functions.js: the table of functions of what is shown.
'use strict';

const MOST_FUNCTIONS = 200;

// Own weights, and those of all samples a function is in: once for each, however deep it recurs.
function sumFunctions(focus) {
    const rows = new Map();
    const open = new Map();
    const rowOf = (name) => {
        if (!rows.has(name))
            rows.set(name, { name, self: 0, total: 0, samples: 0 });
        return rows.get(name);
    };
    const waiting = [[focus, false]];
    while (waiting.length > 0) {
        const [node, leaving] = waiting.pop();
        if (leaving) {
            open.set(node.name, open.get(node.name) - 1);
            continue;
        }
        if (!node.thread) {
            const row = rowOf(node.name);
            row.self += node.self;
            row.samples += node.samples;
            row.total += open.get(node.name) ? 0 : node.weight;
            open.set(node.name, (open.get(node.name) || 0) + 1);
            waiting.push([node, true]);
        }
        for (const kid of node.kids)
            waiting.push([kid, false]);
    }
    return [...rows.values()].sort((a, b) => b.self - a.self || b.total - a.total);
}

function showFunctions() {
    const { focus, unit } = view;
    const all = sumFunctions(focus);
    const place = d3.select('#functions .tables');
    place.text('');
    const table = place.append('table');
    table.append('thead').append('tr').selectAll('th')
        .data(['Self %', 'Self', 'Total %', 'Total', 'Function']).enter().append('th').attr('scope', 'col')
        .text((title) => title);
    const row = table.append('tbody').selectAll('tr').data(all.slice(0, MOST_FUNCTIONS)).enter().append('tr');
    row.selectAll('td').data((f) => [shareText(f.self, focus.weight), weightText(f.self, unit),
                                     shareText(f.total, focus.weight), weightText(f.total, unit), f.name])
        .enter().append('td').text((cell) => cell);
    place.append('p').attr('class', 'note').text(`Shares are of ${focus.name}, ` +
        `${weightText(focus.weight, unit)}. ${all.length > MOST_FUNCTIONS
            ? `${MOST_FUNCTIONS} of ${all.length} functions are shown.` : ''}`);
}
