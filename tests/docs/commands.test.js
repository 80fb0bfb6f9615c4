// commands.test.js: the commands of the pages about many machines do what the pages say, as they stand there. Of a
// block each line is a command of its own machine, but for functions. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { BLOCKS, inline, rest } = require('./commands.js');
const s = require('../stream/parts.js');
const { test } = s;

const BIN = process.env.PERFTRACE_TEST_BIN;
const skip = s.NATS ? false : 'no nats-server, or built without libnats';
const has = (program) => s.spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

// A folder with a traced program `train` in it, which is told of a rank by its launcher.
function folder() {
    const dir = s.folder();
    fs.symlinkSync(process.env.PERFTRACE_TEST_TRAIN, path.join(dir, 'train'));
    return dir;
}

// Starts commands by a shell in a folder; a single one takes the shell's place, so that signals come to it.
function sh(dir, text, env = {}) {
    return s.start('bash', ['-c', text], {
        PATH: `${BIN}:${path.dirname(s.NATS)}:${process.env.PATH}`, PERFTRACE_TEST_NATS_LIBRARY: s.NATS_LIBRARY, TMPDIR: dir,
        PERFTRACE_RING_DIR: dir, PERFTRACE_LOG_STDERR: '1', OMPI_ALLOW_RUN_AS_ROOT: '1',
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1', OMPI_MCA_rmaps_base_oversubscribe: '1', ...env }, { cwd: dir });
}

async function well(p, status = 0) {
    const r = await p.done;
    assert.strictEqual(r.status, status, r.stderr);
    return r;
}

const rank = (r, world, run = 'job-17') => ({ RANK: r, WORLD_SIZE: world, PERFTRACE_RUN_ID: run });

async function server(dir, command) {
    const n = sh(dir, command.replace(/ &$/, ''));
    await n.told(/Server is ready/);
}

// What a collector wrote is what the processes of a folder wrote.
function arrived(dir, count, into = 'traces/job-17') {
    const files = s.same(path.join(dir, 'perftrace-out'), path.join(dir, into), /^traces-.*\.jsonl$/);
    assert.strictEqual(files.length, count);
    files.forEach((f) => assert.strictEqual(s.account(f).lost, 0));
}

test('README: many machines', { skip: has('mpirun') ? false : 'no mpirun' }, async () => {
    const [collect, variables, job, convert] = BLOCKS['README.md:Many machines'][0];
    assert.match(job, /^mpirun .* -n 512 /);
    const dir = folder();
    const c = sh(dir, collect);
    await c.told(/listening/);
    await well(sh(dir, `${variables}\n${job.replace('-n 512', '-n 3')}`));
    await well(c);
    const [run] = fs.readdirSync(path.join(dir, 'traces'));
    arrived(dir, 3, `traces/${run}`);
    await well(sh(dir, convert));
    const { traceEvents } = JSON.parse(fs.readFileSync(path.join(dir, 'trace.json'), 'utf8'));
    assert.strictEqual(new Set(traceEvents.filter((e) => e.name === 'train.step').map((e) => e.args.rank)).size, 3);
    // Open MPI hands on what is told to be handed on.
    for (const [, name] of variables.matchAll(/(\w+)=/g))
        assert(job.includes(`-x ${name} `), name);
});

test('FORWARD: over TCP', async () => {
    const [token, collect, work] = BLOCKS['docs/FORWARD.md:Over TCP'][0];
    const dir = folder();
    fs.writeFileSync(path.join(dir, 'job.token'), 'a secret\n');
    const c = sh(dir, `${token}\nexec ${collect}`);
    await c.told(/listening/);
    await well(sh(dir, work, { ...rank(0, 2), PERFTRACE_FORWARD_WAIT_MS: '100' })); // does not know the token
    await Promise.all([0, 1].map((r) => well(sh(dir, `${token}\n${work}`, { ...rank(r, 2), PERFTRACE_DIR: 'known' }))));
    await well(c);
    s.same(path.join(dir, 'known'), path.join(dir, 'traces/job-17'), /^traces-/);
});

test('FORWARD: through NATS', { skip }, async () => {
    const [nats, work, collect] = BLOCKS['docs/FORWARD.md:Through NATS JetStream'][0];
    const dir = folder();
    await server(dir, nats);
    await Promise.all([0, 1].map((r) => well(sh(dir, work, rank(r, 2)))));
    await well(sh(dir, collect));
    arrived(dir, 2);
});

test('FORWARD: perf-trace-run, and what a job left', async () => {
    const dir = folder();
    const c = sh(dir, 'exec perf-trace-collect --listen 10.0.0.1:7400 --insecure -o collected --until-done');
    await c.told(/listening/);
    await well(sh(dir, inline('docs/FORWARD.md', /^perf-trace-run --forward/).replace('-n 8', '-n 2')));
    await well(c);
    const [run] = fs.readdirSync(path.join(dir, 'collected'));
    arrived(dir, 2, `collected/${run}`);

    const [left, follow] = BLOCKS['docs/FORWARD.md:perf-trace-forward'][0];
    await well(sh(dir, './train', { ...rank(0, 2), PERFTRACE_DIR: 'traces' }));
    const again = sh(dir, 'exec perf-trace-collect --listen 10.0.0.1:7400 --insecure -o again --until-done');
    await again.told(/listening/);
    await well(sh(dir, left));
    const f = sh(dir, `exec ${follow}`, { PERFTRACE_FORWARD: 'tcp:10.0.0.1:7400' });
    await well(sh(dir, './train', { ...rank(1, 2), PERFTRACE_DIR: 'traces' }));
    await well(again);
    assert.strictEqual(s.same(path.join(dir, 'traces'), path.join(dir, 'again'), /^traces-/).length, 2);
    await f.kill('SIGTERM');
});

test('COLLECT: from TCP until Ctrl-C, in one file, in parts', async () => {
    const [collect] = BLOCKS['docs/COLLECT.md:perf-trace-collect: the traces of many processes in one place'][0];
    const programs = { PERFTRACE_FORWARD: 'tcp:127.0.0.1:7400' };
    for (const [more, look] of [
        ['', async (dir) => arrived(dir, 4)],
        [` ${inline('docs/COLLECT.md', /^--one-file \w/)}`, async (dir) => {
            const r = await well(sh(dir, inline('docs/COLLECT.md', /^jq -s/).replace('<run>', 'job-17')));
            const lines = s.find(path.join(dir, 'perftrace-out'), /^traces/).flatMap((f) => s.account(f).lines);
            assert.strictEqual(JSON.parse(r.stdout).length, lines.length);
            // The ranks are where they are in files of their own.
            for (const line of BLOCKS['docs/COLLECT.md:One file for all ranks'][0])
                await well(sh(dir, line));
            await well(sh(dir, 'perf-trace-convert perftrace-out -o own.json'));
            const steps = (file) => JSON.parse(fs.readFileSync(path.join(dir, file), 'utf8')).traceEvents
                .filter((e) => e.ph === 'X').map((e) => `${e.args.rank} ${e.name} ${e.ts}`).sort();
            assert.deepStrictEqual(steps('trace.json'), steps('own.json'));
        }],
        [' --rotate-size 10k', async (dir) => {
            const r = await well(sh(dir, `${inline('docs/COLLECT.md', /^cat \$\(ls -v/).replace('<run>', 'job-17')} | perf-trace-convert -`));
            const whole = await well(sh(dir, 'perf-trace-convert perftrace-out/traces-r3.jsonl -o -'));
            assert(s.find(path.join(dir, 'traces'), /^traces-r3\.part\d+\.jsonl$/).length > 1);
            const events = (text) => JSON.parse(text).traceEvents;
            assert.deepStrictEqual(events(r.stdout), events(whole.stdout));
        }]]) {
        const dir = folder();
        const c = sh(dir, `exec ${collect}${more}`);
        await c.told(/listening/);
        await Promise.all([0, 1, 2, 3].map((r) =>
            well(sh(dir, r < 3 ? './train' : `${s.WORKER} 2000 2000 1`, { ...programs, ...rank(r, 4) }))));
        c.kill('SIGINT');
        await well(c);
        await look(dir);
    }
});

test('COLLECT: from a cluster of which a server is not there', { skip }, async () => {
    const [, collect] = BLOCKS['docs/COLLECT.md:perf-trace-collect: the traces of many processes in one place'][0];
    const dir = folder();
    await server(dir, 'exec nats-server -a node1 -js -sd nats');
    await well(sh(dir, './train', { PERFTRACE_FORWARD: 'nats://node2,nats://node1', ...rank(0, 1) }));
    await well(sh(dir, collect));
    arrived(dir, 1);
});

test('LIVE: the looks at a job that hangs', async () => {
    const [all, run, hang, one] = BLOCKS['docs/LIVE.md:What a job is in at this moment, and why it hangs'][0];
    const dir = folder();
    const ranks = [0, 1, 2].map((r) => sh(dir, `exec ${process.env.PERFTRACE_TEST_HANG}`,
                                           { ...rank(r, 3), PERFTRACE_DIR: 'out' }));
    const look = async (text, status) => (await well(sh(dir, text), status)).stdout;
    await s.until(async () => /0-1 +waiting/.test((await sh(dir, 'perf-trace-live --once out').done).stdout), 'all are there');
    for (const text of [all, run]) {
        const p = sh(dir, `exec ${text}`);
        await p.told(/0-1 +waiting/);
        p.kill('SIGINT');
        await well(p, 130);
    }
    assert.match(await look(hang.replace('60', '0.2'), 1), /2 +not there: running .*load_batch/);
    assert.match(await look(hang, 0), /nothing is stuck/);
    const told = JSON.parse(await look(one.replace('4711', ranks[2].child.pid), 0));
    assert.deepStrictEqual(told.processes.map((p) => p.rank), [2]);
    const alert = inline('docs/LIVE.md', /\|\| alert$/);
    assert.strictEqual(await look(alert.replace('alert', 'echo alert'), 0), 'nothing is stuck\n');
    assert.match(await look(alert.replace('300', '0.2').replace('alert', 'echo alert'), 0), /\nalert\n$/);
    for (const p of ranks)
        await p.kill();
    await well(sh(dir, 'perf-trace-recover out'));
    assert.strictEqual(await look(alert.replace('alert', 'echo alert'), 0), 'alert\n');
});

const jetstream = () => BLOCKS['docs/SCALING.md:How long the server keeps it'][0].join('\n')
    .match(/^jetstream\(\) \([^]*?^\)$/m)[0];

test('SCALING: a stream with limits, which neither rank nor collector changes', { skip }, async () => {
    const [lines] = BLOCKS['docs/SCALING.md:How long the server keeps it'];
    const text = lines.join('\n');
    const remove = text.match(/^jetstream .* STREAM\.DELETE.*$/m)[0];
    const functions = jetstream();
    const make = text.replace(remove, '');
    const ask = async (dir, script) => JSON.parse((await well(sh(dir, script))).stdout);
    const dir = folder();
    const routes = [1, 2, 3].map((i) => `nats://10.0.0.${i}:6222`).join(',');
    for (const i of [1, 2, 3]) { // which may store what the stream may take, however little room is here
        fs.writeFileSync(path.join(dir, `n${i}.conf`), `jetstream { store_dir: nats${i}, max_file_store: 200GB }\n`);
        sh(dir, `exec nats-server -c n${i}.conf -a 10.0.0.${i} --server_name n${i} --cluster_name c ` +
                `--cluster nats://10.0.0.${i}:6222 --routes ${routes}`);
    }
    let made;
    await s.until(async () => { // the servers choose who leads
        const r = await sh(dir, make).done;
        made = r.status === 0 && JSON.parse(r.stdout);
        return made && !made.error;
    }, () => `the stream is made: ${JSON.stringify(made)}`);
    const limits = ({ config: { max_age, max_bytes, discard, num_replicas, duplicate_window, storage } }) =>
        ({ max_age, max_bytes, discard, num_replicas, duplicate_window, storage });
    const wanted = { max_age: 86400e9, max_bytes: 100e9, discard: 'new', num_replicas: 3, duplicate_window: 120e9,
                     storage: 'file' };
    assert.deepStrictEqual(limits(made), wanted);
    const settings = { PERFTRACE_FORWARD: 'nats://10.0.0.2,10.0.0.1,10.0.0.3', PERFTRACE_FORWARD_WAIT_MS: '60000' };
    await well(sh(dir, './train', { ...settings, ...rank(0, 1) }));
    await well(sh(dir, `perf-trace-collect --nats ${settings.PERFTRACE_FORWARD} --run job-17 -o traces --until-done`));
    arrived(dir, 1);
    const info = `${functions}\njetstream 10.0.0.3 STREAM.INFO.perftrace_job-17`;
    assert.deepStrictEqual(limits(await ask(dir, info)), wanted);
    assert.strictEqual((await ask(dir, `${functions}\n${remove}`)).success, true);
    assert.strictEqual((await ask(dir, info)).error.code, 404);
});

test('SCALING: a server that wants a login, and none at all', { skip }, async () => {
    const dir = folder();
    // Sourced as in a terminal: the shell goes on.
    const ask = async (words, before = '') =>
        (await well(sh(dir, `${jetstream()}\n${before}\njetstream 10.0.0.1 ${words}; echo "status $?"`))).stdout;
    assert.strictEqual(await ask('INFO'), 'status 1\n');
    for (const [args, login] of [['--user rank --pass secret', inline('docs/SCALING.md', /^login='"user/)],
                                 ['--auth secret', inline('docs/SCALING.md', /^login='"auth/)]]) {
        const n = sh(dir, `exec nats-server -a 10.0.0.1 -js -sd nats ${args}`);
        await n.told(/Server is ready/);
        const long = `STREAM.CREATE.x '{"name": "x", "description": "${'x'.repeat(3000)}", "subjects": ["x.>"]}'`;
        for (let i = 0; i < 20; i++)
            for (const words of ['INFO', long])
                assert.strictEqual(await ask(words), "-ERR 'Authorization Violation'\nstatus 1\n");
        for (const words of ['INFO', long]) {
            const [answer, status] = (await ask(words, login)).trimEnd().split('\n');
            assert.strictEqual(status, 'status 0');
            assert.strictEqual(JSON.parse(answer).error, undefined, answer);
        }
        await n.kill();
    }
});

test('no command of these pages is left out', () => {
    assert.deepStrictEqual(rest(), skip ? rest() : []);
});
