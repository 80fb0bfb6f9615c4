// flame.js: the flame graph: a row of boxes for each depth.
'use strict';

const ROW = 18;
const LETTER = 7.3;      // width of a letter of the font
const NARROWEST = 0.6;   // pixels; narrower boxes are left out
const MOST_ROWS = 400;   // deeper ones are shown when a box above them is clicked

// What is shown: the tree, the box that is as wide as the graph, what is looked for.
const view = { root: null, unit: 'none', focus: null, search: '' };

// The same function has the same colour in every graph: warm ones, as flame graphs have.
function colourOf(name) {
    let hash = 7;
    for (let i = 0; i < name.length; i++)
        hash = (hash * 31 + name.charCodeAt(i)) | 0;
    return d3.hsl(10 + Math.abs(hash % 45), 0.75, 0.62 + Math.abs((hash >> 8) % 12) / 100).toString();
}

// Where each box lies, in weights: the children of one beside each other, the heaviest first. (D3's own
// partition recurs, which deep stacks forbid, and gives a node no weight of its own.)
function layOut(root) {
    Object.assign(root, { x: 0, dx: root.weight });
    const waiting = [root];
    while (waiting.length > 0) {
        const node = waiting.pop();
        let { x } = node;
        node.kids.sort((a, b) => b.weight - a.weight);
        for (const kid of node.kids) {
            Object.assign(kid, { x, dx: kid.weight });
            x += kid.weight;
            waiting.push(kid);
        }
    }
}

const isFound = (node) => node !== whole && view.search !== '' && node.name.toLowerCase().includes(view.search);

// The boxes to draw: the callers of the focus over the whole width, and what is below it.
function boxes(width) {
    const { focus } = view;
    const scale = d3.scale.linear().domain([focus.x, focus.x + (focus.dx || 1)]).range([0, width]);
    const above = [];
    for (let node = focus === view.root ? null : focus.up; node !== null; node = node === view.root ? null : node.up)
        above.unshift({ node, x: 0, width, above: true });
    const list = above.map((box, row) => ({ ...box, row }));
    const waiting = [[focus, above.length]];
    let deeper = false;
    while (waiting.length > 0) {
        const [node, row] = waiting.pop();
        const box = { node, row, ...(node === focus ? { x: 0, width }
            : { x: scale(node.x), width: scale(node.x + node.dx) - scale(node.x) }) };
        if (node !== focus && !(box.width >= NARROWEST))
            continue;
        if (row >= MOST_ROWS + above.length) {
            deeper = true;
            continue;
        }
        list.push(box);
        for (const kid of node.kids)
            waiting.push([kid, row + 1]);
    }
    return { list, deeper };
}

function detailOf(node) {
    const { unit, root, focus } = view;
    const parts = [`${weightText(node.weight, unit)} (${shareText(node.weight, root.weight)} of ${root.name}` +
                   `${focus === root ? '' : `, ${shareText(node.weight, focus.weight)} of ${focus.name}`})`];
    parts.push(`self ${weightText(node.self, unit)}`, `${node.all.toLocaleString('en-US')} samples`);
    return `${node.name}: ${parts.join(', ')}`;
}

function showDetail(node) {
    document.getElementById('detail').textContent = detailOf(node);
}

function zoomTo(node) {
    view.focus = node;
    draw();
    showDetail(node);
    showFunctions();
}

const fitting = (box) => {
    const letters = Math.floor((box.width - 6) / LETTER);
    const { name } = box.node;
    return letters < 2 ? '' : name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
};

function draw() {
    const place = document.getElementById('flame');
    const width = Math.max(300, place.clientWidth - 2);
    const { list, deeper } = boxes(width);
    const rows = d3.max(list, (box) => box.row) + 1;
    place.textContent = '';
    const svg = d3.select(place).append('svg').attr('width', width).attr('height', rows * ROW)
        .attr('role', 'img').attr('aria-label', `Flame graph of ${view.root.name}`);
    const box = svg.selectAll('g').data(list).enter().append('g')
        .attr('transform', (b) => `translate(${b.x},${b.row * ROW})`)
        .attr('tabindex', 0)
        .attr('class', (b) => `${isFound(b.node) ? 'found ' : ''}${b.above ? 'above' : ''}`)
        .on('click', (b) => zoomTo(b.node))
        .on('keydown', (b) => {
            if (d3.event.key === 'Enter')
                zoomTo(b.node);
        })
        .on('mouseenter', (b) => showDetail(b.node))
        .on('focus', (b) => showDetail(b.node));
    box.append('rect').attr('width', (b) => Math.max(b.width, NARROWEST)).attr('height', ROW - 1)
        .attr('rx', 1).style('fill', (b) => (isFound(b.node) ? null : colourOf(b.node.name)));
    box.append('title').text((b) => detailOf(b.node));
    box.filter((b) => b.width > 20).append('text').attr('x', 3).attr('y', ROW - 6).text(fitting);
    document.getElementById('hint').hidden = false;
    d3.select('#flame').selectAll('.deeper').remove();
    if (deeper)
        d3.select('#flame').append('p').attr('class', 'note deeper').text('There are deeper ones below: click a box near the end.');
    showFound();
}

// Of all that is shown, how much is in functions that are found; each sample counts once.
function showFound() {
    const waiting = [view.focus];
    let weight = 0;
    while (view.search !== '' && waiting.length > 0) {
        const node = waiting.pop();
        if (isFound(node))
            weight += node.weight;
        else
            waiting.push(...node.kids);
    }
    document.getElementById('found').textContent = view.search === '' ? ''
        : `found: ${weightText(weight, view.unit)}, ${shareText(weight, view.focus.weight)} of ${view.focus.name}`;
}

function showTree(root, unit) {
    layOut(root);
    view.root = root;
    view.unit = unit;
    zoomTo(root);
}
