// sessions_lines.test.js: lines that make readers stumble, put first, in the middle and last in a
// sessions file, cost at most themselves, and are named. Uses ../shared. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const t = require('./sessions_tool.js');

const LINES = path.join(t.SHARED, 'cases', 'lines');
const here = fs.existsSync(LINES);

// The lines are trace events, whole or damaged, so none of them is a session; what is said of each
// besides that.
const KINDS = {
    '00_good': [], '01_torn': ['damaged'], '02_torn_in_string': ['damaged'], '03_NaN': [],
    '04_Infinity': [], '05_-Infinity': [], '06_nan_lower': [], '07_BOM': [], '08_CR_end': ['cr_line'],
    '09_dup_key': [], '10_int_2p53+1': [], '11_int_u64max': [], '12_int_2p70': [],
    '13_float_1e400': [], '14_bad_utf8_ff': [], '15_utf8_surrogate_EDA080': [],
    '16_lone_surrogate_esc': [], '17_surrogate_pair_esc': [], '18_raw_ctl_01': [], '19_raw_tab': [],
    '20_NUL_byte_in_string': [], '21_NUL_block_prefix': [], '22_esc_u0000': [],
    '23_whitespace_only': ['blank_line'], '24_two_objects': [], '25_trailing_comma_obj': [],
    '26_trailing_garbage': ['extra_bytes'], '27_leading_zero': [], '28_plus_sign': [],
    '29_dot5': [], '30_single_quotes': ['damaged'], '31_True_None': [],
    '32_comment': ['extra_bytes'], '33_nest_100': [], '34_nest_1500': [], '35_nest_100k': [],
    '37_bad_escape__x': [], '38_escaped_key': [], '39_array_line': ['not_object'],
    '40_scalar_line': ['not_object'], '41_empty_key': [], '42_ts_string': [], '43_ts_exp': [],
    '44_ts_abs_ns': [], '45_pid_string': [], '46_pid_neg': [], '47_pid_2p33': [], '48_tid_neg': [],
    '49_slash_escape': [], '50_del_7f': [], '51_u2028_raw': [] };
// No value of any kind is in these.
const EMPTY = new Set(['01_torn', '02_torn_in_string', '23_whitespace_only', '30_single_quotes',
                       '39_array_line', '40_scalar_line']);

const GOOD = 6;
const good = Array.from({ length: GOOD }, (_, i) => t.record({
    task_id: i >> 1, session_id: i, finalized_ts: 1760000001 + i,
    phases: { generate: [{ start_ts: 1760000000.25, end_ts: 1760000000.75 + i }] } }));

function check(name, place) {
    const nasty = fs.readFileSync(path.join(LINES, name)).toString('latin1').replace(/\n$/, '');
    const at = { first: 0, middle: GOOD / 2, last: GOOD, 'last without a newline': GOOD }[place];
    const lines = [...good.slice(0, at), nasty, ...good.slice(at)];
    const text = lines.join('\n') + (place === 'last without a newline' ? '' : '\n');
    const r = t.report([t.files({ 'sessions-r0.jsonl': Buffer.from(text, 'latin1') })]);
    const what = `${name} ${place}: ${r.stderr}`;
    assert.strictEqual(r.status, 0, what);
    assert.strictEqual(r.summary.sessions, GOOD, what);
    assert.strictEqual(r.durations[0].sum, 21, what);
    const found = t.problems(r);
    assert.strictEqual(found.trace_event || 0, EMPTY.has(name) ? 0 : name === '24_two_objects' ? 2 : 1,
                       what);
    for (const kind of KINDS[name])
        assert.strictEqual(found[kind], 1, what);
    for (const kind of Object.keys(found))
        assert(kind === 'trace_event' || KINDS[name].includes(kind), `${kind} in ${what}`);
    for (const p of r.problems) {
        const before = lines.slice(0, at);
        assert.strictEqual(p.line, at + 1, what);
        const offset = Buffer.from(before.map((l) => l + '\n').join(''), 'latin1').length;
        assert(p.offset >= offset && p.offset <= offset + nasty.length, what);
    }
}

for (const name of here ? fs.readdirSync(LINES).sort() : []) {
    test(`line ${name} costs at most itself`, () => {
        assert(name in KINDS, 'a line that this test does not know');
        for (const place of ['first', 'middle', 'last', 'last without a newline'])
            check(name, place);
    });
}
if (!here)
    test('the shared lines', { skip: `${LINES} is not here` }, () => {});
