// main.js: the page, from its data to what is shown. SPDX-License-Identifier: MIT

const data = JSON.parse(document.getElementById('data').textContent);
data.ranks = [...new Set(rowsOf('ranks').map((row) => row.rank))];
data.timeTitle = 'since the first event';
{
    const pieces = rowsOf('utilisation');
    data.overTime = { from: Math.min(...pieces.map((row) => row.from_s)),
                      to: Math.max(...pieces.map((row) => row.from_s + row.length_s)) };
}
// What is drawn as a chart is no table, too.
const CHARTS_ONLY = ['utilisation', 'counters_over_time'];

const PARTS = [drawUtilisation, drawBreakdown, drawOverlap, drawKernels, drawSteps, drawImbalance];
const draw = (atOnce) => drawParts(PARTS, atOnce);

function drawFrame() {
    const { about } = data;
    const names = about.named.map((name) => formatName(name, 200)).join(', ');
    const more = about.files > about.named.length
        ? `, and ${formatCount(about.files - about.named.length)} more` : '';
    document.title = `Analysis: ${formatName(about.named[0] || '', 100)}`;
    document.getElementById('about').textContent =
        `${formatCount(data.ranks.length)} rank${data.ranks.length === 1 ? '' : 's'}. ${names}${more}`;
    drawFoot();
    if (about.missing_ranks !== null) {
        const banner = document.getElementById('banner');
        const all = about.chosen ? 'those that were asked for' : about.world_size;
        banner.textContent = `Missing: rank ${about.missing_ranks} of ${all}. ` +
            'What is said of all ranks is of those that are there.';
        banner.hidden = false;
    }
}

Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
drawFrame();
startTheme(draw);
drawTables('findings', 'ranks', 'breakdown', 'idle');
draw(false);
