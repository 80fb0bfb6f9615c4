// convert_lines.test.js: lines that make readers stumble, put first, in the middle and last in a rank
// file, cost at most themselves, and are named. Uses ../shared. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const t = require('./convert_tool.js');
const { header, footer, us } = t;

const LINES = path.join(t.SHARED, 'cases', 'lines');
const here = fs.existsSync(LINES);

// What the tool says of each: a problem's kind, or null where the line is sound (or only unusual).
const KINDS = {
    '00_good': null, '01_torn': 'damaged', '02_torn_in_string': 'damaged', '03_NaN': 'mended_NONFINITE',
    '04_Infinity': 'mended_NONFINITE', '05_-Infinity': 'mended_NONFINITE',
    '06_nan_lower': 'mended_NONFINITE', '07_BOM': 'mended_BYTE_ORDER_MARK', '08_CR_end': 'cr_line',
    '09_dup_key': 'mended_DUPLICATE_KEY', '10_int_2p53+1': null, '11_int_u64max': null,
    '12_int_2p70': null, '13_float_1e400': 'mended_HUGE_NUMBER', '14_bad_utf8_ff': 'mended_BAD_UTF8',
    '15_utf8_surrogate_EDA080': 'mended_BAD_UTF8', '16_lone_surrogate_esc': 'mended_LONE_SURROGATE',
    '17_surrogate_pair_esc': 'mended_PAIR_ESCAPE', '18_raw_ctl_01': 'mended_CONTROL_BYTE',
    '19_raw_tab': 'mended_CONTROL_BYTE', '20_NUL_byte_in_string': 'mended_CONTROL_BYTE',
    '21_NUL_block_prefix': 'mended_NUL_BLOCK', '22_esc_u0000': null, '23_whitespace_only': 'blank_line',
    '24_two_objects': 'two_records', '25_trailing_comma_obj': 'mended_TRAILING_COMMA',
    '26_trailing_garbage': 'extra_bytes', '27_leading_zero': 'mended_NUMBER_FORM',
    '28_plus_sign': 'mended_NUMBER_FORM', '29_dot5': 'mended_NUMBER_FORM',
    '30_single_quotes': 'damaged', '31_True_None': 'mended_PYTHON_WORD', '32_comment': 'extra_bytes',
    '33_nest_100': null, '34_nest_1500': 'mended_TOO_DEEP', '35_nest_100k': 'mended_TOO_DEEP',
    '37_bad_escape__x': 'mended_BAD_ESCAPE', '38_escaped_key': null, '39_array_line': 'not_object',
    '40_scalar_line': 'not_object', '41_empty_key': null, '42_ts_string': null, '43_ts_exp': null,
    '44_ts_abs_ns': 'outlier', '45_pid_string': null, '46_pid_neg': null, '47_pid_2p33': null,
    '48_tid_neg': null, '49_slash_escape': null, '50_del_7f': null, '51_u2028_raw': null };
// Lines that do not become an event; 24 becomes two.
const GONE = new Set(['01_torn', '02_torn_in_string', '23_whitespace_only', '30_single_quotes',
                      '39_array_line', '40_scalar_line', '44_ts_abs_ns']);

const GOOD = 6;
const head = t.header({ pid: 1 });
const good = Array.from({ length: GOOD }, (_, i) => t.scope(`good${i}`, 100000 + i * 10000,
                                                            101000 + i * 10000, { pid: 1, tid: 2 }));

function check(name, writer, place) {
    const nasty = fs.readFileSync(path.join(LINES, name)).toString('latin1').replace(/\n$/, '');
    const at = { first: 0, middle: GOOD / 2, last: GOOD, 'last without a newline': GOOD }[place];
    const lines = [...good.slice(0, at), nasty, ...good.slice(at)];
    if (writer === 'ours')
        lines.splice(place === 'first' ? 1 : 0, 0, head);
    const text = lines.join('\n') + (place === 'last without a newline' ? '' : '\n');
    const dir = t.files({ 'traces-r0.jsonl': Buffer.from(text, 'latin1') });
    const r = t.convert(dir);
    const what = `${name} ${place} in a file of ${writer}: ${r.stderr}`;
    assert.strictEqual(r.status, 0, what);
    const names = t.byPhase(r.events, 'X').map((e) => e.name);
    for (let i = 0; i < GOOD; i++)
        assert(names.includes(`good${i}`), what);
    const extra = GONE.has(name) ? 0 : name === '24_two_objects' ? 2 : 1;
    assert.strictEqual(names.length, GOOD + extra, what);
    const kinds = r.meta.problems.map((p) => p.kind).filter((k) => !['overlap', 'unsure_lane'].includes(k));
    assert.deepStrictEqual(kinds, KINDS[name] === null ? [] : [KINDS[name]], what);
    for (const p of r.meta.problems.filter((q) => q.kind === KINDS[name])) {
        const before = lines.slice(0, lines.indexOf(nasty));
        assert.strictEqual(p.line, before.length + 1, what);
        const offset = Buffer.from(before.map((l) => l + '\n').join(''), 'latin1').length;
        assert(p.offset >= offset && p.offset <= offset + nasty.length, what);
    }
    return r.out;
}

for (const name of here ? fs.readdirSync(LINES).sort() : []) {
    test(`line ${name} costs at most itself`, () => {
        assert(name in KINDS, 'a line that this test does not know');
        const outputs = [];
        for (const writer of ['ours', 'another writer'])
            for (const place of ['first', 'middle', 'last', 'last without a newline'])
                outputs.push(check(name, writer, place));
        assert.strictEqual(t.complaints(outputs), '');
    });
}
// Our lines in any mix. A filter that takes everything makes the tool read every line in full, so
// that what is copied after a comparison with earlier lines can be held against it.
test('lines like earlier ones come out as if each were read alone', () => {
    let state = 7;
    const random = (n) => (state = (state * 48271) % 2147483647) % n;
    const values = () => [`"s${random(9)}"`, '"\u00e9"', '"raw \u00e9"', 'true', 'null', '7', '-1.5e-7',
                          '"\\u0001"', '"a, b: {}"', `${random(1e6)}`][random(10)];
    const args = () => ['k', 'key two', 'rank', 'role', 'id'].filter(() => random(3) > 0)
        .map((key) => `"${key}": ${random(4) > 0 ? `"t${random(1e6)}"` : values()}`).join(', ');
    const lines = [header({})];
    let now = 0;
    for (let i = 0; i < 20000; i++) {
        now += 1 + random(5000);
        const name = ['a', 'load', 'a.rather.long.name.of.some.module', 'x'][random(4)];
        const start = `{"name": "${name}", "ph": `;
        const where = `"pid": 71, "tid": ${71 + random(3)}`;
        lines.push([
            `${start}"X", "ts": ${us(now)}, "dur": ${us(1 + random(4000))}, ${where}, "cat": "c", ` +
                `"args": {${args()}}}`,
            `${start}"i", "ts": ${us(now)}, ${where}, "args": {${args()}}, "s": "t"}`,
            `${start}"C", "ts": ${us(now)}, ${where}, "args": {"v": ${i}, "w": ${1 / (i + 1)}}}`,
        ][random(3)]);
    }
    const dir = t.files({ 'traces-r0.jsonl': [...lines, footer()] });
    const compared = t.convert(dir);
    const events = fs.readFileSync(compared.out, 'latin1').split('], "metadata"')[0];
    const full = t.convert(dir, ['--name', '*']);
    assert.strictEqual(fs.readFileSync(full.out, 'latin1').split('], "metadata"')[0], events);
    assert.strictEqual(compared.status, 0, compared.stderr);
    assert.strictEqual(compared.events.filter((e) => e.ph !== 'M').length, 20000);
    assert.strictEqual(t.complaints(compared.out), '');
});

if (!here)
    test('the shared lines', { skip: `${LINES} is not here` }, () => {});
