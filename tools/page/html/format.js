// format.js: numbers, times and names as people read them. SPDX-License-Identifier: MIT
'use strict';

const MISSING = '–';

// 1,234,567
function formatCount(n) {
    return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
}

// Three figures, without exponent where that is readable.
function formatNumber(value) {
    if (value === null || !Number.isFinite(value))
        return MISSING;
    const size = Math.abs(value);
    if (size >= 1e15 || (size > 0 && size < 1e-4))
        return value.toExponential(2);
    if (size >= 1000)
        return (value < 0 ? '-' : '') + formatCount(size);
    return String(Number(value.toPrecision(4)));
}

function formatShare(value) {
    return value === null ? MISSING : `${(value * 100).toFixed(1)} %`;
}

// Seconds as a duration: 12.3 µs, 4.56 ms, 7.89 s, 12 min 5 s, 3 h 4 min.
function formatSeconds(value) {
    if (value === null || !Number.isFinite(value))
        return MISSING;
    const sign = value < 0 ? '-' : '';
    const s = Math.abs(value);
    const of = (x, unit) => `${sign}${Number(x.toPrecision(3))} ${unit}`;
    if (s === 0)
        return '0 s';
    if (s < 0.9995e-6)
        return of(s * 1e9, 'ns');
    if (s < 0.9995e-3)
        return of(s * 1e6, 'µs');
    if (s < 0.9995)
        return of(s * 1e3, 'ms');
    if (s < 599.5)
        return of(s, 's');
    const whole = Math.round(s);
    if (whole < 36000)
        return `${sign}${Math.floor(whole / 60)} min ${whole % 60} s`;
    const minutes = Math.round(s / 60);
    return `${sign}${formatCount(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

// A label of a time axis whose labels are `step` seconds apart: 0.25 s, 12 s, 3:05, 2:03:00.
function formatOffset(value, step) {
    if (step < 1) {
        const scaled = step < 1e-3 ? [1e6, 'µs'] : step < 0.1 ? [1e3, 'ms'] : [1, 's'];
        return `${Number((value * scaled[0]).toPrecision(12))} ${scaled[1]}`;
    }
    const sign = value < 0 ? '-' : '';
    const s = Math.round(Math.abs(value));
    const pad = (n) => String(n).padStart(2, '0');
    if (step < 60 && s < 60 && value >= 0)
        return `${s} s`;
    if (s < 3600)
        return `${sign}${Math.floor(s / 60)}:${pad(s % 60)}`;
    return `${sign}${Math.floor(s / 3600)}:${pad(Math.floor(s / 60) % 60)}:${pad(s % 60)}`;
}

const NICE_SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600,
                      43200, 86400];

// A distance of labels that people count in, so that at most `most` of them stand in `span` s.
function niceStep(span, most) {
    const least = span / most;
    if (!(least > 0))
        return 1;
    if (least > 0.5) {
        const step = NICE_SECONDS.find((nice) => nice >= least);
        return step !== undefined ? step : Math.ceil(least / 86400) * 86400;
    }
    const unit = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((nice) => nice * unit).find((nice) => nice >= least * (1 - 1e-9));
}

// Seconds since the epoch: 2026-11-30 04:35:14.123 UTC.
function formatTime(seconds) {
    const date = new Date(seconds * 1000);
    return Number.isNaN(date.getTime())
        ? MISSING : date.toISOString().replace('T', ' ').replace('Z', ' UTC');
}

// A name in which nothing changes the direction or the lines of the text around it; at most `most`
// characters.
function formatName(name, most) {
    const shown = Array.from(String(name), (c) => (
        /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(c)
            ? `\\u${c.codePointAt(0).toString(16).padStart(4, '0')}` : c)).join('');
    const letters = Array.from(shown);
    return most !== undefined && letters.length > most
        ? `${letters.slice(0, most - 1).join('')}…` : shown;
}
