// theme.js: light and dark, and the colours of ranks, phases and statuses.
// SPDX-License-Identifier: MIT

const PALETTE = ['#4269d0', '#efb118', '#ff725c', '#3ca951', '#a463f2', '#38b2ac', '#ff8ab7',
                 '#9c6b4e', '#7aa6f5', '#8b93a0'];
const PHASE_COLORS = { generate: '#4269d0', reward: '#efb118', toolcall: '#3ca951' };
const STATUS_COLORS = { accepted: '#3ca951', rejected: '#efb118', failed: '#e5484d',
                        dropped: '#9c6b4e', pending: '#8b93a0' };
// No name gets a hue (in degrees) that the phases above have.
const HUES_TAKEN = [[28, 60], [115, 145], [212, 236]];

const theme = { dark: false, chosen: null, color: {} };

// A colour that depends on nothing but the name: the same in every report.
function colorOfName(name) {
    let hash = 0x811c9dc5; // FNV-1a of its UTF-8
    for (const byte of new TextEncoder().encode(name))
        hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
    hash = (hash ^ (hash >>> 15)) >>> 0;
    const free = 360 - HUES_TAKEN.reduce((sum, [from, to]) => sum + to - from, 0);
    let hue = hash % free;
    for (const [from, to] of HUES_TAKEN)
        hue += hue >= from ? to - from : 0;
    const [saturation, lightness] = [[62, 52], [75, 43], [48, 62]][(hash >>> 12) % 3];
    return `hsl(${hue}, ${saturation}%, ${lightness}%)`;
}

const phaseColor = (phase) => data.phaseStyle[phase].color ||
    PHASE_COLORS[data.names.phase[phase]] || colorOfName(data.names.phase[phase]);
const phaseLabel = (phase) => data.phaseStyle[phase].label || data.names.phase[phase];
const statusColor = (status) => STATUS_COLORS[data.names.status[status]] ||
    colorOfName(data.names.status[status]);

// Of the rank with this index in data.ranks.
function rankColor(index) {
    if (data.ranks[index] === null)
        return theme.color.faint;
    if (data.ranks.length <= PALETTE.length + 1)
        return PALETTE[(index - (data.ranks[0] === null ? 1 : 0)) % PALETTE.length];
    return `hsl(${Math.round((index * 137.508) % 360)}, 62%, ${[46, 56, 64][index % 3]}%)`;
}

const rankLabel = (index) => (data.ranks[index] === null ? 'no rank' : `rank ${data.ranks[index]}`);

// Diagonal lines in a colour, for what has not ended.
function hatched(color) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const ctx = tile.getContext('2d');
    ctx.globalAlpha = 0.25;
    ctx.fillStyle = color;
    ctx.fillRect(0, 0, 8, 8);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = color;
    ctx.lineWidth = 2.5;
    ctx.beginPath();
    for (const x of [-8, 0, 8]) {
        ctx.moveTo(x - 1, 9);
        ctx.lineTo(x + 9, -1);
    }
    ctx.stroke();
    return ctx.createPattern(tile, 'repeat');
}

function stored(value) {
    try { // a page from a file may have no storage
        if (value !== undefined)
            localStorage.setItem('perftrace-theme', value);
        return localStorage.getItem('perftrace-theme');
    } catch (error) {
        return null;
    }
}

function applyTheme(dark) {
    theme.dark = dark;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    const style = getComputedStyle(document.documentElement);
    for (const name of ['card', 'text', 'faint', 'line', 'grid', 'mark', 'idle', 'tip', 'tip-text'])
        theme.color[name] = style.getPropertyValue(`--${name}`).trim();
    const button = document.getElementById('theme');
    button.textContent = dark ? 'Light' : 'Dark';
    button.setAttribute('aria-label', dark ? 'Show in light colours' : 'Show in dark colours');
}

// Follows the system until the reader chooses; changed(atOnce) is called after each change. Paper is
// light.
function startTheme(changed) {
    const system = matchMedia('(prefers-color-scheme: dark)');
    theme.chosen = stored();
    const wanted = () => (theme.chosen === null ? system.matches : theme.chosen === 'dark');
    const change = (dark, atOnce) => {
        if (dark !== theme.dark) {
            applyTheme(dark);
            changed(atOnce === true);
        }
    };
    applyTheme(wanted());
    system.addEventListener('change', () => change(wanted()));
    document.getElementById('theme').addEventListener('click', () => {
        theme.chosen = theme.dark ? 'light' : 'dark';
        stored(theme.chosen);
        change(wanted());
    });
    let screen = theme.dark;
    addEventListener('beforeprint', () => { screen = theme.dark; change(false, true); });
    addEventListener('afterprint', () => change(screen));
}
