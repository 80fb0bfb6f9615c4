// invented_sessions.js: sessions of a run that never was, the same each time.
// SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const path = require('path');

// PT-34: names that break pages.
const EVIL = ['</script><b>x', '<lambda>', 'a & b', 'esc \x1b[31m', `both "'quotes'"`,
              `${'n'.repeat(299)}& behind the cut`];
const EPOCH = 1790000000;
const SECONDS = 3600;

// mulberry32: numbers from 0 to 1.
function randomFrom(seed) {
    let state = seed;
    return () => {
        state = (state + 0x6D2B79F5) | 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

// One session that is submitted at a time. Tools are called while it generates, two at once at
// times; a few sessions never end.
function session(random, id, submit, slowness) {
    const normal = () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
    const about = (seconds) => seconds * Math.exp(0.5 * normal());
    const phases = {};
    let at = submit + about(0.2);
    const span = (phase, seconds, open) => {
        (phases[phase] = phases[phase] || []).push(
            { start_ts: at, end_ts: open ? null : at + seconds });
        return seconds;
    };
    at += span('generate', about(2.5) * slowness);
    for (let calls = random() < 0.4 ? 1 + Math.floor(random() * 3) : 0; calls > 0; calls--) {
        const longest = Math.max(span('toolcall', about(0.5)),
                                 random() < 0.3 ? span('toolcall', about(0.5)) : 0);
        at += longest + 0.02;
        at += span('generate', about(1) * slowness);
    }
    at += random() < 0.3 ? span('validation', about(0.1)) : 0;
    at += random() < 0.2 ? span('rerank model', about(0.2)) : 0;
    const stuck = random() < 0.01;
    at += 0.05 + span('reward', about(0.3), stuck);
    const kind = random();
    const status = stuck ? 'pending' : kind < 0.78 ? 'accepted' : kind < 0.94 ? 'rejected'
        : kind < 0.985 ? 'failed' : 'dropped';
    const reason = { rejected: 'stale_weight', failed: 'workflow_exception' }[status];
    return { session_id: id, status, reason, submit_ts: submit,
             ...(stuck ? {} : { finalized_ts: at, total_s: at - submit }), phases };
}

// Writes `count` sessions of some ranks into a folder; with evil set, a few have names that are
// markup. The last rank is slower than the others.
function writeSessions(folder, count, ranks, evil) {
    fs.rmSync(folder, { recursive: true, force: true });
    fs.mkdirSync(folder, { recursive: true });
    for (let rank = 0; rank < ranks; rank++) {
        const random = randomFrom(rank + 1);
        const records = [];
        const mine = Math.ceil(count / ranks);
        for (let i = 0; i < mine; i++) {
            const submit = EPOCH + SECONDS * (i + random()) / mine;
            const record = { task_id: Math.floor(i / 8) * ranks + rank, rank, role: 'rollout',
                             ...session(random, i, submit, rank === ranks - 1 ? 1.4 : 1) };
            if (evil && i >= 7 && i < 7 + EVIL.length) {
                const name = EVIL[i - 7];
                Object.assign(record, { task_id: name, session_id: name, role: name, reason: name,
                                        status: 'rejected' });
                record.phases[name] = record.phases.generate;
            }
            records.push(record);
        }
        fs.writeFileSync(path.join(folder, `sessions-r${rank}.jsonl`),
                         records.map((record) => JSON.stringify(record) + '\n').join(''));
    }
}

module.exports = { EVIL, writeSessions };
