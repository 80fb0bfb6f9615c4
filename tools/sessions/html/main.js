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
const draw = (atOnce) => drawParts(PARTS, atOnce);

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
    drawFoot();
    section('lifecycle').hidden = data.timeline.most === 0;
    drawContents(); // before the first chart: none of them hides its section
}

Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
drawFrame();
startTheme(draw);
drawTables('statuses', 'reasons', 'counters', 'durations');
draw(false);
