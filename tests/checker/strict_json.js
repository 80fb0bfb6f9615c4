// strict_json.js: what JSON.parse lets through and a viewer does not. SPDX-License-Identifier: MIT
'use strict';
const { isUtf8 } = require('buffer');

const QUOTE = 34;
const BACKSLASH = 92;

// Index of the quote that ends the string whose opening quote is at `open`.
function stringEnd(text, open) {
    for (let i = open + 1; i < text.length; i++) {
        const c = text.charCodeAt(i);
        if (c === BACKSLASH)
            i++;
        else if (c === QUOTE)
            return i;
    }
    return -1;
}

// Whether text (valid JSON) escapes a surrogate, a pair or a lone one: Perfetto refuses such names
// and loses the arguments behind such a value.
function hasSurrogateEscape(text) {
    for (let i = text.indexOf('\\'); i >= 0; i = text.indexOf('\\', i + 2)) {
        if (text[i + 1] === 'u' && /^[dD][89a-fA-F]/.test(text.slice(i + 2, i + 4)))
            return true;
    }
    return false;
}

// The first key that stands twice in one object of text (valid JSON), or null.
function duplicateKey(text) {
    const open = [];
    let expectKey = false;
    for (let i = 0; i < text.length; i++) {
        switch (text.charCodeAt(i)) {
        case 123: // {
            open.push(new Set());
            expectKey = true;
            break;
        case 91: // [
            open.push(null);
            expectKey = false;
            break;
        case 125: // }
        case 93: // ]
            open.pop();
            expectKey = false;
            break;
        case 44: // ,
            expectKey = open.length > 0 && open[open.length - 1] !== null;
            break;
        case QUOTE: {
            const end = stringEnd(text, i);
            if (expectKey) {
                const raw = text.slice(i, end + 1);
                const key = raw.includes('\\') ? JSON.parse(raw) : raw.slice(1, -1);
                const keys = open[open.length - 1];
                if (keys.has(key))
                    return key;
                keys.add(key);
                expectKey = false;
            }
            i = end;
            break;
        }
        default:
            break;
        }
    }
    return null;
}

// Whether every number below value is finite: JSON.parse reads 1e400 as Infinity.
function allFinite(value) {
    if (typeof value === 'number')
        return Number.isFinite(value);
    if (value !== null && typeof value === 'object')
        return Object.values(value).every(allFinite);
    return true;
}

// Parses bytes as one strict JSON value. Returns {value, problems}; value is undefined if it does
// not parse.
function parseStrict(bytes) {
    const problems = [];
    if (!isUtf8(bytes))
        problems.push('bytes that are not UTF-8');
    const text = bytes.toString('utf8');
    let value;
    try {
        value = JSON.parse(text);
    } catch (error) {
        problems.push(`not JSON: ${error.message}`);
        return { value: undefined, problems };
    }
    if (text.includes('\\u') && hasSurrogateEscape(text))
        problems.push('a surrogate written as an escape');
    const twice = duplicateKey(text);
    if (twice !== null)
        problems.push(`key "${twice}" stands twice in one object`);
    if (/[eE]\+?\d{3}/.test(text) && !allFinite(value))
        problems.push('a number too large for a double');
    return { value, problems };
}

module.exports = { parseStrict };
