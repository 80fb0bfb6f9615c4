// parts.js: draws the parts of a page. SPDX-License-Identifier: MIT
'use strict';

let drawing = 0; // counts the times that all is drawn anew

// One part (a function) after the other, so that the page can be read and used from the first one
// on; all at once for paper, which does not wait. Afterwards the links to them.
function drawParts(parts, atOnce) {
    const mine = ++drawing;
    const left = [...parts];
    document.documentElement.removeAttribute('data-drawn');
    dropCharts();
    const next = () => {
        if (mine !== drawing)
            return;
        do {
            left.shift()();
        } while (atOnce && left.length > 0);
        if (left.length > 0) {
            setTimeout(next, 0);
            return;
        }
        drawContents();
        document.documentElement.setAttribute('data-drawn', '');
    };
    next();
}

// A link to each section that has something to show.
function drawContents() {
    document.getElementById('contents').replaceChildren(
        ...Array.from(document.querySelectorAll('main > section:not([hidden])'), ({ id, firstElementChild }) => (
            make('a', { href: `#${id}` }, firstElementChild.textContent))));
}

// Who made the page, and what its charts are drawn with.
function drawFoot() {
    document.getElementById('made-by').textContent = `Made by ${data.about.maker}.`;
    document.getElementById('license').textContent =
        document.getElementById('chart-license').textContent.trim();
}
