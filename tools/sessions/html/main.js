// main.js: the page, from its data to what is shown. SPDX-License-Identifier: MIT

const data = JSON.parse(document.getElementById('data').textContent);
data.timeTitle = 'since the first submission';
data.scatter.firstPhase = data.scatter.phases.reduce((ends, list) => {
    ends.push(ends[ends.length - 1] + list.length);
    return ends;
}, [0]);
data.scatter.phases = data.scatter.phases.flat();

const PARTS = [drawScatter, drawThroughput, drawQueue, drawConcurrency, drawTimeline,
               drawDistribution, drawStepDistribution];
let drawing = 0; // counts the times that all is drawn anew

// One chart after the other, so that the page can be read and used from the first one on; all at
// once for paper, which does not wait.
function drawParts(atOnce) {
    const mine = ++drawing;
    const left = [...PARTS];
    document.documentElement.removeAttribute('data-drawn');
    dropCharts();
    const next = () => {
        if (mine !== drawing)
            return;
        do {
            left.shift()();
        } while (atOnce && left.length > 0);
        if (left.length > 0)
            setTimeout(next, 0);
        else
            document.documentElement.setAttribute('data-drawn', '');
    };
    next();
}

function aboutText({ sessions, of, runs, files, named }) {
    const names = named.map((name) => formatName(name, 200)).join(', ');
    const more = files > named.length ? `, and ${formatCount(files - named.length)} more` : '';
    return `${formatCount(sessions)} sessions` +
        (sessions < of ? ` (chosen from ${formatCount(of)})` : '') +
        ` of ${formatCount(data.ranks.length)} ranks` +
        (runs > 1 ? ` in ${formatCount(runs)} runs` : '') +
        (data.epoch === null ? '' : `, from ${formatTime(data.epoch)}`) + `. ${names}${more}`;
}

function drawFrame() {
    const { about } = data;
    document.title = `Sessions: ${formatName(about.named[0] || '', 100)}`;
    document.getElementById('about').textContent = aboutText(about);
    document.getElementById('made-by').textContent = `Made by ${about.maker}.`;
    document.getElementById('license').textContent =
        document.getElementById('chart-license').textContent.trim();
    section('lifecycle').hidden = data.timeline.most === 0;
    document.getElementById('contents').replaceChildren(
        ...Array.from(document.querySelectorAll('main > section:not([hidden])'), ({ id, firstElementChild }) => (
            make('a', { href: `#${id}` }, firstElementChild.textContent))));
}

Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
drawFrame();
startTheme(drawParts);
drawTables('statuses', 'reasons', 'counters', 'durations');
drawParts(false);
