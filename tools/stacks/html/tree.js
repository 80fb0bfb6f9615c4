// tree.js: the data as a tree for each thread, and what is said of weights.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);

// Control characters would not be seen.
const visible = (name) => name.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (c) => (c.charCodeAt(0) < 256 ? `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`
                                  : `\\u${c.charCodeAt(0).toString(16)}`)) || '(no name)';

function weightText(weight, unit) {
    if (unit === 'seconds')
        return weight >= 0.01 || weight === 0 ? `${weight.toFixed(2)} s` : `${(weight * 1000).toPrecision(3)} ms`;
    const number = Number.isInteger(weight) ? weight.toLocaleString('en-US') : weight.toPrecision(6);
    return unit === 'bytes' ? `${number} B` : number;
}

const shareText = (weight, base) => `${(base > 0 ? Math.min(100, 100 * weight / base) : 0).toFixed(1)} %`;

// A node has a name, its own weight and samples, those of all below it, and children. It is a function,
// or a thread.
function makeNode(name, self, samples, thread = false) {
    return { name, self, samples, weight: self, all: samples, kids: [], up: null, thread };
}

// The tree of a thread. A parent comes before its children.
function treeOf(thread) {
    const root = makeNode(visible(thread.name), thread.self, thread.samples_without_frames, true);
    const nodes = [root];
    for (let i = 0; i < thread.name_of.length; i++) {
        const node = makeNode(visible(data.names[thread.name_of[i]]), thread.self_of[i], thread.samples_of[i]);
        node.up = nodes[thread.parent_of[i]];
        node.up.kids.push(node);
        nodes.push(node);
    }
    for (let i = nodes.length - 1; i > 0; i--) {
        nodes[i].up.weight += nodes[i].weight;
        nodes[i].up.all += nodes[i].all;
    }
    // The first frame of collapsed stacks is their thread.
    const [first] = root.kids;
    if (root.kids.length === 1 && root.all === first.all && first.name === root.name) {
        first.up = null;
        return first;
    }
    return root;
}

const trees = data.threads.map(treeOf);
const units = [...new Set(data.threads.map((thread) => thread.unit))];

// All threads side by side, where their weights are of one unit.
function wholeTree() {
    const root = makeNode('all threads', 0, 0, true);
    for (const tree of trees) {
        root.kids.push(tree);
        root.weight += tree.weight;
        root.all += tree.all;
        tree.up = root;
    }
    return root;
}
const whole = trees.length > 1 && units.length === 1 ? wholeTree() : null;
